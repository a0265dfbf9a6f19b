public import Headway

/// An error of a store, or of Headway itself.
public struct JobError: RetryableError, Sendable, CustomStringConvertible {
  /// The kind of error.
  public let code: Code
  /// A description of the problem, and how to solve it.
  public let context: String
  /// The error that caused this error.
  public let underlyingError: (any Error)?

  /// Creates an error.
  ///
  /// - Parameters:
  ///   - code: The kind of error.
  ///   - context: A description of the problem, and how to solve it.
  ///   - underlyingError: The error that caused this error.
  public init(_ code: Code, _ context: String, underlyingError: (any Error)? = nil) {
    self.code = code
    self.context = context
    self.underlyingError = underlyingError
  }

  /// A description of the problem, and how to solve it.
  public var description: String { context }

  /// Whether another attempt might succeed.
  ///
  /// False if the error depends only on the job's code and values, for example because a value is too large. A job that
  /// throws such an error fails and is not retried, so its effects are not repeated.
  public var isRetryable: Bool { !Self.permanentCodes.contains(code) }

  private static let permanentCodes: Set<Code> = [
    .payloadTooLarge, .nameTooLong, .unencodablePayload, .refusedValue, .unknownJob, .usedOperation,
    .wrongResultCount, .duplicateCheckpoint, .waitInCheckpoint, .transactionEnded, .dependencyCycle, .alreadyFinished,
    .wouldDeadlock, .undecodableSignal,
  ]
}

extension JobError {
  /// The kinds of errors.
  ///
  /// Later versions might add kinds, so a `switch` over codes needs a `default`.
  public struct Code: Hashable, Sendable, CustomStringConvertible {
    private let name: String

    private init(_ name: String) { self.name = name }

    /// A readable name.
    public var description: String { name }

    /// A payload, a result, or the value of a checkpoint is larger than the store accepts.
    ///
    /// Nothing was stored.
    public static let payloadTooLarge = Code("payload too large")
    /// A name or key is longer than a store can index.
    ///
    /// Nothing was stored.
    public static let nameTooLong = Code("name too long")
    /// A job can't be encoded.
    ///
    /// Nothing was stored.
    public static let unencodablePayload = Code("unencodable payload")
    /// A store rejects a value, for example because the encoding of its database lacks a character, or because a name
    /// is reserved.
    ///
    /// Nothing was stored.
    public static let refusedValue = Code("refused value")
    /// A stored payload or result can't be decoded.
    public static let undecodablePayload = Code("undecodable payload")
    /// The value of a signal is not of the type that the job waits for.
    ///
    /// The wait has received the signal, so it has this error in each attempt.
    public static let undecodableSignal = Code("undecodable signal")
    /// The store has no job with this number, or it was deleted.
    public static let unknownJob = Code("unknown job")
    /// An ``OperationJob`` returned an operation that is in a queue or has run.
    public static let usedOperation = Code("used operation")
    /// ``ChunkJob/perform(_:)`` returned more or fewer results than there are jobs.
    public static let wrongResultCount = Code("wrong result count")
    /// The attempt no longer runs the job, which might run elsewhere.
    ///
    /// Nothing was written.
    public static let leaseLost = Code("lease lost")
    /// An attempt has used the name of a checkpoint twice.
    public static let duplicateCheckpoint = Code("duplicate checkpoint")
    /// The code of a step, inside a checkpoint, waits for a signal or sleeps.
    public static let waitInCheckpoint = Code("wait in checkpoint")
    /// The store has no room.
    ///
    /// Nothing was written.
    public static let storeFull = Code("store full")
    /// The store can't be opened, or can't be used for jobs.
    public static let unusableStore = Code("unusable store")
    /// A newer version of Headway has changed the schema of the store.
    public static let newerSchema = Code("newer schema")
    /// The store failed, for example because of an I/O error.
    public static let storeFailed = Code("store failed")
    /// The connection to the store was lost during a commit, so the outcome of the change is unknown.
    ///
    /// Check before you repeat the request.
    public static let outcomeUnknown = Code("outcome unknown")
    /// A queue has reached its pending limit.
    ///
    /// Nothing was stored.
    public static let queueFull = Code("queue full")
    /// A job has as many signals as it can keep, so it receives no further signals.
    ///
    /// Nothing was stored.
    public static let tooManySignals = Code("too many signals")
    /// Code that a job ran in a transaction of the store has exceeded its time limit.
    ///
    /// Nothing was written.
    public static let timeLimitExceeded = Code("time limit exceeded")
    /// Code that a job ran in a transaction of the store has executed `COMMIT` or `ROLLBACK`.
    ///
    /// Nothing was written. To commit, return from the code. To undo its writes, throw an error.
    public static let transactionEnded = Code("transaction ended")
    /// A part of a stored job can't be read.
    ///
    /// The description contains the ID of the job.
    public static let damagedJob = Code("damaged job")
    /// Another job holds the job's key.
    public static let keyHeld = Code("key held")
    /// The store has no schedule with this name.
    public static let unknownSchedule = Code("unknown schedule")
    /// Jobs wait for each other in a cycle, or a cycle could arise.
    ///
    /// Nothing was stored.
    public static let dependencyCycle = Code("dependency cycle")
    /// A job that had to succeed first failed or was cancelled.
    public static let dependencyFailed = Code("dependency failed")
    /// The job has no result yet, because it has not ended.
    public static let unfinishedJob = Code("unfinished job")
    /// The job has already ended by a call of `finish(within:_:)`.
    ///
    /// Nothing was written.
    public static let alreadyFinished = Code("already finished")
    /// The code of a job waits for another job that can't begin before the waiting job has ended.
    public static let wouldDeadlock = Code("would deadlock")
  }
}

/// The failure or cancellation of a job, for a caller that waits for its value.
public struct JobFailure: Error, Hashable, Sendable, CustomStringConvertible {
  /// The job.
  public let id: JobID
  /// The state: failed or cancelled.
  public let state: JobState
  /// The reason.
  public let reason: JobEndReason
  /// The error of the last attempt that failed.
  public let lastError: JobErrorRecord?

  /// Creates a failure.
  ///
  /// - Parameters:
  ///   - id: The ID of the job.
  ///   - state: The final state of the job.
  ///   - reason: Why the job has ended.
  ///   - lastError: The error of the last attempt that failed.
  public init(id: JobID, state: JobState, reason: JobEndReason, lastError: JobErrorRecord?) {
    self.id = id
    self.state = state
    self.reason = reason
    self.lastError = lastError
  }

  /// A readable sentence.
  public var description: String {
    let error = lastError.map { ", after the error: \($0.text)" } ?? ""
    return "Job \(id) \(state == .cancelled ? "was cancelled" : "failed") (\(reason))\(error)"
  }
}
