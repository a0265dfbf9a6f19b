/// The rows for the signals and waits of a job, which are checkpoints with reserved names.
///
/// Therefore, the rows are deleted with the checkpoints of the job, and a job that is run again keeps them. See
/// `Docs/decisions/0053-signals.md`.
@_spi(JobStore) public enum StoredSignals {
  /// The beginning of the reserved names.
  public static let prefix = "headway/"
  /// The name of the checkpoint with the numbers of signals.
  public static let counts = prefix + "signals"

  /// Returns the name of the checkpoint with the value of a signal.
  ///
  /// - Parameters:
  ///   - signal: The name of the signal.
  ///   - number: The number of the signal among those with its name, from 1.
  /// - Returns: The reserved name of a checkpoint.
  public static func value(of signal: String, _ number: Int) -> String { "\(prefix)signal \(number) \(signal)" }

  /// Returns the name of the checkpoint with the outcome of a wait.
  ///
  /// - Parameters:
  ///   - wait: What the job waits for.
  ///   - number: The number of the wait among the equal waits of the job, from 1.
  /// - Returns: The reserved name of a checkpoint.
  public static func outcome(of wait: JobWait, _ number: Int) -> String { "\(prefix)wait \(number) \(wait.stored)" }
}

/// How many signals a job has received, and how many its waits have consumed, by name.
package struct SignalCounts: Codable, Sendable {
  package struct Count: Codable, Sendable {
    package var received = 0
    package var taken = 0
  }

  private var counts: [String: Count] = [:]

  package init() {}

  package init(stored: JobPayload?) throws {
    self = try stored.map { try StoredForm.decode(Self.self, $0.bytes) } ?? Self()
  }

  package var stored: JobPayload { JobPayload(bytes: StoredForm.encode(self)) }

  /// The number of signals that no wait has consumed.
  package var pendingCount: Int { counts.values.reduce(0) { $0 + $1.received - $1.taken } }

  package func hasPending(_ name: String) -> Bool { counts[name].map { $0.received > $0.taken } ?? false }

  /// Counts a new signal.
  ///
  /// - Returns: The name of the checkpoint with the value of the signal; nil if there are too many.
  package mutating func receive(_ name: String) -> String? {
    guard pendingCount < JobSignal.maxPendingCount else { return nil }
    counts[name, default: Count()].received += 1
    return row(of: name, \.received)
  }

  /// Consumes the oldest signal with a name.
  ///
  /// - Returns: The name of the checkpoint with the value of the signal; nil if there is none.
  package mutating func take(_ name: String) -> String? {
    guard hasPending(name) else { return nil }
    counts[name]?.taken += 1
    return row(of: name, \.taken)
  }

  /// Returns the name of a row, with the spelling of the first signal.
  ///
  /// Equal strings can have different bytes, such as an é of one or two scalars, and databases compare the bytes.
  private func row(of name: String, _ number: KeyPath<Count, Int>) -> String? {
    counts.index(forKey: name).map { StoredSignals.value(of: counts[$0].key, counts[$0].value[keyPath: number]) }
  }
}

/// The state of a wait, which a later attempt finds.
package struct WaitRecord: Codable, Sendable {
  /// The time limit, measured from the time when the code of the job first reached the wait.
  package var until: StoreTime
  /// Whether the wait has ended.
  package var isOver = false
  /// The name of the checkpoint with the value of the signal that the wait received; nil if it received none.
  package var signal: String?

  package init(until: StoreTime) { self.until = until }

  package init(stored: JobPayload) throws { self = try StoredForm.decode(Self.self, stored.bytes) }

  package var stored: JobPayload { JobPayload(bytes: StoredForm.encode(self)) }
}
