import FoundationEssentials
import Headway

/// A job that is not stored yet.
@_spi(JobStore) public struct NewJob: Hashable, Codable, Sendable {
  /// The queue that the job waits in.
  public var queue: String
  /// The kind of the job.
  public var kind: JobKind
  /// The version of the payload.
  public var version: Int
  /// The encoded job.
  public var payload: JobPayload
  /// The priority; the raw value of a `QueuePriority`.
  public var priority: Int
  /// How long the job waits before it is ready for the first time, by the store's clock.
  public var delay: Duration?
  /// The earliest time when the job runs; nil if there is a delay.
  public var startTime: StoreTime?
  /// The time when the job is cancelled if it has not started.
  public var deadline: StoreTime?
  /// The other options.
  public var settings: JobSettings
  /// The jobs that the job waits for.
  ///
  /// They are not encoded, because they apply to one batch. The jobs of a schedule wait for no others.
  public var dependencies: [JobDependency] = []

  private enum CodingKeys: String, CodingKey {
    case queue, kind, version, payload, priority, delay, startTime, deadline, settings
  }

  /// Creates a job from its parts.
  ///
  /// - Parameters:
  ///   - kind: The kind of the job.
  ///   - version: The version of the payload.
  ///   - payload: The job in its encoded form.
  ///   - options: All options of the job. The options of a job's type are not added.
  /// - Precondition: The kind is not empty, no duration in the options is negative, and limits are positive.
  public init(kind: JobKind, version: Int = 1, payload: JobPayload, options: JobOptions = []) {
    options.requireValid(for: kind)
    self.kind = kind
    self.version = version
    self.payload = payload
    queue = options.queue ?? JobOptions.defaultQueue
    priority = (options.priority ?? .normal).rawValue
    delay = options.delay
    startTime = options.startDate.map { StoreTime($0) }
    deadline = options.deadline.map { StoreTime($0) }
    settings = JobSettings(options)
    dependencies = options.after
  }

  /// Encodes a job.
  ///
  /// - Parameters:
  ///   - job: The job to encode.
  ///   - options: Options of the job. They take precedence over the options of the type.
  /// - Throws: ``JobError`` with the code ``JobError/Code/unencodablePayload``.
  /// - Precondition: The kind is not empty, no duration in the options is negative, and limits are positive.
  public init<Type: Job>(_ job: Type, options: JobOptions) throws {
    let payload: JobPayload
    do {
      payload = try JobPayload(encoding: job)
    } catch {
      throw JobError(
        .unencodablePayload, "A job of the kind \(Type.kind) can't be encoded: \(error)", underlyingError: error)
    }
    self.init(
      kind: Type.kind, version: Type.version, payload: payload, options: options.merged(over: Type.options))
  }
}

/// The answer of a store to a new job.
@_spi(JobStore) public struct Enqueued: Hashable, Sendable {
  /// The new job, or the job that holds its key.
  public var id: JobID
  /// Whether the job is new.
  ///
  /// If not, another job holds the key.
  public var isNew: Bool

  /// Creates an answer.
  ///
  /// - Parameters:
  ///   - id: The new job, or the job that holds its key.
  ///   - isNew: Whether the job is new.
  public init(id: JobID, isNew: Bool) {
    self.id = id
    self.isNew = isNew
  }
}
