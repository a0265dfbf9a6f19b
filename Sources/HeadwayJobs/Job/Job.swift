/// Work that survives the process: a value that is stored, and a function that does the work.
///
/// ```swift
/// struct Resize: Job {
///   static let kind: JobKind = "resize"
///   var path: String
///   func perform(in context: JobContext) async throws -> Int { path.utf8.count }
/// }
/// ```
///
/// The stored properties form the payload. They are encoded as JSON when you enqueue the job. The worker that runs the
/// job decodes them, possibly in another process, or after a crash or an update.
///
/// A job runs *at least once*: if the process crashes while the job runs, it runs again. Write ``perform(in:)`` so that
/// a second run does no harm, or pass ``JobContext/idempotencyKey`` to the service that you call.
public protocol Job: Codable, Sendable {
  /// The type of the value that ``perform(in:)`` returns.
  ///
  /// If the type conforms to `Encodable`, the value is stored with the job, and you can read it from the job's
  /// ``JobHandle`` in any process.
  associatedtype Output: Sendable

  /// The stored name of the type. It must differ from the kinds of the other types of a worker.
  static var kind: JobKind { get }

  /// Former kinds of the type; empty by default. Stored jobs of these kinds are also run.
  static var aliases: [JobKind] { get }

  /// The version of the payload; 1 by default.
  ///
  /// Increase it when older programs can no longer decode the payload. A worker runs jobs of its own version and older
  /// ones. Jobs of newer versions wait for a newer worker.
  static var version: Int { get }

  /// The options of all jobs of the type; empty by default.
  ///
  /// ```swift
  /// struct Mail: Job {
  ///   static let kind: JobKind = "mail"
  ///   static let options: JobOptions = [.queue("mail"), .retry(.exponential(maxAttemptCount: 5))]
  ///   func perform(in context: JobContext) async throws {}
  /// }
  /// ```
  ///
  /// Options that you pass when you enqueue a job take precedence. The property is read each time.
  static var options: JobOptions { get }

  /// The middleware of all jobs of the type; empty by default.
  ///
  /// It runs around each attempt, inside the middleware of the worker. The first element is the outermost. The property
  /// is read when a worker is created.
  static var middleware: [any JobMiddleware] { get }

  /// Creates a job from the payload of an older version.
  ///
  /// The default implementation decodes the payload like one of the current version.
  ///
  /// - Parameters:
  ///   - payload: The payload, as the older version has encoded it.
  ///   - version: The version of the type that encoded it.
  /// - Throws: Any error. The attempt then fails with ``JobError/Code/undecodablePayload``.
  init(migrating payload: JobPayload, from version: Int) throws

  /// Runs the job.
  ///
  /// The function runs in an operation of the queue that the worker uses for the job's queue. If the function throws an
  /// error, the job is run again later, according to ``JobOption/retry(_:)``. For any other outcome, throw a
  /// ``JobOutcome``. When the job is cancelled or the attempt exceeds its time limit, the task of the function is
  /// cancelled.
  ///
  /// - Parameter context: The current attempt. For example, use it to store intermediate results.
  /// - Returns: The result of the job.
  /// - Throws: Any error, a ``JobOutcome``, or `CancellationError`.
  func perform(in context: JobContext) async throws -> Output
}

extension Job {
  /// No former kinds.
  public static var aliases: [JobKind] { [] }

  /// The first version.
  public static var version: Int { 1 }

  /// No options, so the general defaults apply.
  public static var options: JobOptions { [] }

  /// No middleware.
  public static var middleware: [any JobMiddleware] { [] }

  /// Decodes the payload like a payload of the current version.
  ///
  /// - Parameters:
  ///   - payload: The payload, as the older version has encoded it.
  ///   - version: The version of the type that encoded it.
  /// - Throws: `DecodingError` if the payload does not match.
  public init(migrating payload: JobPayload, from version: Int) throws { self = try payload.decode(Self.self) }
}
