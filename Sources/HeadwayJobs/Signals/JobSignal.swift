/// A named value that is sent to a job, for example because a payment has arrived or a person has approved.
///
/// ```swift
/// let signal = try JobSignal("paid", 12)
/// let count = try await jobs.signal(JobFilter(tag: "order 7"), signal)
/// ```
///
/// The job receives the value when its code calls ``JobContext/waitForSignal(_:as:timeLimit:)`` with the same name.
public struct JobSignal: Hashable, Sendable, CustomStringConvertible {
  /// The name, at most 512 bytes of UTF-8.
  public var name: String
  /// The encoded value.
  public var value: JobPayload

  /// The maximum number of signals, with any names, that a job has received and no wait has consumed.
  ///
  /// A job that has this many signals receives no further signals.
  public static let maxPendingCount = 100

  /// Creates a signal from its parts.
  public init(name: String, value: JobPayload) { (self.name, self.value) = (name, value) }

  /// Encodes a signal.
  ///
  /// - Parameters:
  ///   - name: The name, up to 512 bytes of UTF-8.
  ///   - value: The value; `true` by default, for signals that need no value.
  /// - Throws: ``JobError`` with the code ``JobError/Code/unencodablePayload``.
  public init(_ name: String, _ value: some Encodable = true) throws {
    do {
      self.init(name: name, value: try JobPayload(encoding: value))
    } catch {
      throw JobError(
        .unencodablePayload, "The value of a signal “\(name)” can't be encoded: \(error)", underlyingError: error)
    }
  }

  /// The name, and the size of the value.
  public var description: String { "signal “\(name)” with \(Readable.count(value.bytes.count, "byte"))" }
}

extension JobError {
  /// The error for a job that can't receive further signals.
  init(signalsOf id: JobID) {
    self.init(
      .tooManySignals,
      "Job \(id) has \(JobSignal.maxPendingCount) signals that no wait has consumed, so it receives no further "
        + "signals. Send fewer signals to the job, or several values in one signal.")
  }
}
