/// The history of a job: errors, changes of its state, and log lines of its attempts.
public struct JobHistory: Hashable, Codable, Sendable {
  /// The last errors, oldest first; at most ``maxErrorCount``.
  public private(set) var errors: [JobErrorRecord] = []
  /// The last changes and log lines, oldest first; at most ``maxTransitionCount``.
  public private(set) var transitions: [JobTransition] = []

  /// The maximum number of errors that are kept.
  public static let maxErrorCount = 10
  /// The maximum number of changes and log lines that are kept.
  public static let maxTransitionCount = 50

  /// Creates an empty history.
  @_spi(JobStore) public init() {}

  /// Adds an error and drops the oldest error if there are too many.
  ///
  /// - Parameter error: The error of an attempt.
  @_spi(JobStore) public mutating func append(_ error: JobErrorRecord) {
    errors.append(error)
    if errors.count > Self.maxErrorCount { errors.removeFirst() }
  }

  /// Adds a change or a log line and drops the oldest entry if there are too many.
  ///
  /// - Parameter transition: The change or log line to add.
  @_spi(JobStore) public mutating func append(_ transition: JobTransition) {
    transitions.append(transition)
    if transitions.count > Self.maxTransitionCount { transitions.removeFirst() }
  }

  /// The beginning of the note for a job that is run again on request.
  static let retryNote = "retried manually after: "

  /// Whether the end of the attempt that was claimed at a time is one of the changes.
  ///
  /// The last attempt of a job is not: its end is part of the job's record.
  ///
  /// - Parameter startTime: When the attempt was claimed.
  /// - Returns: True if a change has this start.
  @_spi(JobStore) public func hasEnd(ofAttemptFrom startTime: StoreTime) -> Bool {
    transitions.contains { $0.startTime == startTime }
  }

  /// Returns whether the job was run again on request at a time or later.
  func hasRetry(since time: StoreTime) -> Bool {
    transitions.contains { $0.time >= time && $0.state == .waiting && $0.note?.hasPrefix(Self.retryNote) == true }
  }

  /// The stored form; nil for an empty history.
  @_spi(JobStore) public var stored: [UInt8]? { self == JobHistory() ? nil : StoredForm.encode(self) }

  /// Creates a history from its stored form.
  ///
  /// - Parameter stored: The stored form; nil for an empty history.
  /// - Throws: `DecodingError` if the bytes are not valid.
  @_spi(JobStore) public init(stored: [UInt8]?) throws {
    self = try stored.map { try StoredForm.decode(Self.self, $0) } ?? Self()
  }
}

/// An error of an attempt.
public struct JobErrorRecord: Hashable, Codable, Sendable {
  /// The number of the attempt, from 1.
  public var attempt: Int
  /// When the attempt ended.
  public var time: StoreTime
  /// The name of the error's type.
  public var type: String
  /// The description of the error, at most ``maxTextLength`` bytes.
  public var text: String

  /// The maximum length of ``text``, in bytes of UTF-8.
  public static let maxTextLength = 8 * 1_024

  /// Creates a record.
  ///
  /// - Parameters:
  ///   - attempt: The number of the attempt, from 1.
  ///   - time: When the attempt ended.
  ///   - type: The name of the error's type. It is shortened to 512 bytes.
  ///   - text: The description of the error. It is shortened to ``maxTextLength`` bytes.
  @_spi(JobStore) public init(attempt: Int, time: StoreTime, type: String, text: String) {
    self.attempt = attempt
    self.time = time
    self.type = type.shortened(to: NameLength.name)
    self.text = text.shortened(to: Self.maxTextLength)
  }
}

/// A change of a job's state, or a log line of an attempt.
public struct JobTransition: Hashable, Codable, Sendable {
  /// The time of the change.
  public var time: StoreTime
  /// The new state; running for a log line.
  public var state: JobState
  /// The worker of the attempt, if there was one.
  public var worker: WorkerID?
  /// The reason of the change, or the log line.
  public var note: String?
  /// The number of the attempt that ended with the change, from 1; nil if no attempt ended, or if it is not counted.
  public var attempt: Int?
  /// When the attempt that ended with the change was claimed; nil if no attempt ended.
  public var startTime: StoreTime?

  /// Creates a change.
  ///
  /// - Parameters:
  ///   - time: The time of the change.
  ///   - state: The new state; running for a log line.
  ///   - worker: The worker of the attempt.
  ///   - note: The reason of the change, or the log line. It is shortened to ``JobErrorRecord/maxTextLength`` bytes.
  ///   - attempt: The number of the attempt that ended, from 1; nil if no attempt ended, or if it is not counted.
  ///   - startTime: When the attempt that ended was claimed.
  @_spi(JobStore) public init(
    time: StoreTime, state: JobState, worker: WorkerID? = nil, note: String? = nil, attempt: Int? = nil,
    startTime: StoreTime? = nil
  ) {
    self.time = time
    self.state = state
    self.worker = worker
    self.note = note?.shortened(to: JobErrorRecord.maxTextLength)
    (self.attempt, self.startTime) = (attempt, startTime)
  }
}

extension String {
  /// Returns the longest prefix of whole characters that has at most a number of bytes in UTF-8.
  func shortened(to length: Int) -> String {
    guard utf8.count > length else { return self }
    var end = utf8.index(startIndex, offsetBy: length)
    while end.samePosition(in: unicodeScalars) == nil { end = utf8.index(before: end) }
    let prefix = String(unicodeScalars[..<end])
    // If the next scalar continues the last character, the character is not whole. The rest of the text is not looked
    // at, because a character can be as long as the text.
    let isWhole = (prefix + String(unicodeScalars[end])).count > prefix.count
    return isWhole || prefix.count == 1 ? prefix : String(prefix.dropLast())
  }
}
