#if PostgreSQL
@_spi(JobStore) import HeadwayJobs
import Synchronization

/// Gathers the hints for other processes, and determines when to send them.
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
    var (text, isEmpty) = ("\(sender)", true)
    func add(_ part: String) {
      guard text.utf8.count + part.utf8.count < Self.maxLength else { return }
      text.append(Self.separator)
      text += part
      isEmpty = false
    }
    for queue in hints.claimableQueues.sorted() { add("q\(queue)") }
    for queue in hints.queuesWithRoom.sorted() { add("r\(queue)") }
    if hints.hasScheduled { add("s") }
    if hints.hasCancellation { add("c") }
    for id in hints.finished { add("f\(id.rawValue)") }
    return isEmpty ? nil : text
  }

  /// Decodes a message; nil if this object has sent it.
  ///
  /// Parts that are not valid have no effect.
  func decode(_ message: String) -> JobHints? {
    let parts = message.split(separator: Self.separator, omittingEmptySubsequences: false)
    guard parts.first.map(String.init) != "\(sender)" else { return nil }
    var hints = JobHints()
    for part in parts.dropFirst() {
      let text = String(part.dropFirst())
      switch part.first {
      case "q": hints.claimableQueues.insert(text)
      case "r": hints.queuesWithRoom.insert(text)
      case "s": hints.hasScheduled = true
      case "c": hints.hasCancellation = true
      case "f": if let id = Int64(text) { hints.finished.append(JobID(rawValue: id)) }
      default: break
      }
    }
    return hints
  }
}
#endif
