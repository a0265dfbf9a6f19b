#if PostgreSQL
@_spi(JobStore) import HeadwayJobs
import Synchronization

/// Gathers the hints for other processes and determines when to send them.
///
/// `NOTIFY` takes a server-wide lock when its transaction commits. Therefore, hints are sent in separate transactions,
/// at most ten per second per process.
final class HintGate: Sendable {
  private struct State {
    var hints = JobHints()
    var hasHints = false
    var next = ContinuousClock.now
  }

  private let state = Mutex(State())
  private let sender = UInt64.random(in: 0 ... .max)

  static let interval = Duration.milliseconds(100)
  /// The server accepts less than 8,000 bytes.
  private static let maxLength = 7_000
  private static let maxFinishedCount = 500
  private static let separator: Character = "\u{1F}"

  func add(_ hints: JobHints) {
    state.withLock { state in
      var hints = hints
      // Observers find further ones when they read the store.
      if state.hints.finished.count >= Self.maxFinishedCount { hints.finished = [] }
      state.hints.formUnion(hints)
      state.hasHints = true
    }
  }

  /// When the next message can be sent; nil if there is none.
  var next: ContinuousClock.Instant? { state.withLock { $0.hasHints ? $0.next : nil } }

  /// Returns the text to send now; nil if there is none.
  func take() -> String? {
    let now = ContinuousClock.now
    let hints = state.withLock { state -> JobHints? in
      guard state.hasHints, state.next <= now else { return nil }
      state.next = now + Self.interval
      state.hasHints = false
      defer { state.hints = JobHints() }
      return state.hints
    }
    return hints.flatMap(encode)
  }

  private func encode(_ hints: JobHints) -> String? {
    hints.message(separator: Self.separator, maxLength: Self.maxLength, maxFinishedCount: Self.maxFinishedCount)
      .map { "\(sender)\(Self.separator)\($0)" }
  }

  /// Decodes a message; nil if this object has sent it.
  func decode(_ message: String) -> JobHints? {
    let sender = message.prefix { $0 != Self.separator }
    guard sender != "\(self.sender)" else { return nil }
    return JobHints(message: message.dropFirst(sender.count), separator: Self.separator)
  }
}
#endif
