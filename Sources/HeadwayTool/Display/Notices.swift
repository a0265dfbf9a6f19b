#if SQLite
import Synchronization

/// Says what is no error: on standard error, or under the bars once they are shown.
final class Notices: Sendable {
  private let isSilent: Bool
  // Protected by its lock.
  private let display = Mutex<ImportDisplay?>(nil)

  init(isSilent: Bool) { self.isSilent = isSilent }

  /// From now on, what is said is shown there.
  func begin(on display: ImportDisplay) { self.display.withLock { $0 = display } }

  func say(_ text: String) {
    guard !isSilent else { return }
    if let display = display.withLock({ $0 }) { display.show(note: text) } else { ToolExit.say(text) }
  }
}
#endif
