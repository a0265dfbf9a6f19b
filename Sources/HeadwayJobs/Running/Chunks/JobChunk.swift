/// How many jobs of a ``ChunkJob`` run together.
public struct JobChunk: Hashable, Sendable {
  /// The maximum number of jobs, from 1 to ``JobCommand/maxChangedCount``.
  public var count: Int
  /// How long the worker waits for further jobs after it has found a job; not negative.
  ///
  /// If more jobs wait than one call can run, further calls follow without a pause.
  public var wait: Duration

  /// Creates a size.
  ///
  /// - Parameters:
  ///   - count: The maximum number of jobs, from 1 to ``JobCommand/maxChangedCount``.
  ///   - wait: How long the worker waits for further jobs; zero by default.
  public init(count: Int, wait: Duration = .zero) {
    self.count = count
    self.wait = wait
  }
}
