#if SQLite
import Synchronization

/// Shows messages that are not errors: on standard error, or under the bars when they are shown.
final class Notices: Sendable {
  let isSilent: Bool
  // Protected by its lock.
  private let display = Mutex<ImportDisplay?>(nil)

  init(isSilent: Bool) { self.isSilent = isSilent }

  /// Shows all further messages on this display.
  func begin(on display: ImportDisplay) { self.display.withLock { $0 = display } }

  func say(_ text: String) {
    guard !isSilent else { return }
    if let display = display.withLock({ $0 }) { display.show(note: text) } else { ToolExit.say(text) }
  }
}
#endif
