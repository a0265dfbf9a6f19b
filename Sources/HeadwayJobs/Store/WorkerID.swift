/// The identity of a running worker, which its store creates.
///
/// Each worker has a new identity whenever it starts. A store never reuses one.
public struct WorkerID: RawRepresentable, Hashable, Comparable, Codable, Sendable, CustomStringConvertible {
  /// The number.
  public let rawValue: Int64

  /// Creates an identity from its number.
  ///
  /// - Parameter rawValue: The number that the store has assigned to the worker.
  public init(rawValue: Int64) { self.rawValue = rawValue }

  /// The number in decimal notation.
  public var description: String { String(rawValue) }

  /// Compares two numbers.
  ///
  /// - Parameters:
  ///   - left: The identity on the left side of the operator.
  ///   - right: Another identity.
  /// - Returns: Whether the first worker registered before the second.
  public static func < (left: WorkerID, right: WorkerID) -> Bool { left.rawValue < right.rawValue }
}

/// The identity of an attempt.
///
/// Each write of the attempt contains the fence, so the attempt can't change a job that runs elsewhere.
@_spi(JobStore) public struct JobFence: Hashable, Sendable {
  /// The job.
  public var id: JobID
  /// The number of the attempt.
  public var attempt: Int
  /// The number of times that the job was claimed or abandoned.
  public var epoch: Int
  /// The worker that has claimed the job.
  public var owner: WorkerID

  /// Creates a fence.
  ///
  /// - Parameters:
  ///   - id: The ID of the job.
  ///   - attempt: The number of the attempt.
  ///   - epoch: The number of times that the job was claimed or abandoned.
  ///   - owner: The worker that has claimed the job.
  public init(id: JobID, attempt: Int, epoch: Int, owner: WorkerID) {
    self.id = id
    self.attempt = attempt
    self.epoch = epoch
    self.owner = owner
  }
}
