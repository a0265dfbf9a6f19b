/// A job that is passed to ``ChunkJob/perform(_:)``, with its attempt.
public struct ChunkEntry<Type: ChunkJob>: Sendable {
  /// The job.
  public let job: Type
  /// The attempt of the job.
  ///
  /// Use it to store intermediate results, for example.
  public let context: JobContext

  init(_ job: Type, _ context: JobContext) {
    self.job = job
    self.context = context
  }
}
