#if SQLite
import Foundation
import HeadwayFiles

/// Lines at the bottom of a terminal that are redrawn in place.
struct Screen {
  private var height = 0

  mutating func show(_ lines: [String], on terminal: Terminal) {
    // Moves up to the first line of the last picture and clears everything from there.
    var text = height > 0 ? "\u{1B}[\(height)A\r\u{1B}[J" : ""
    let room = max(1, terminal.rows - 1)
    let shown = lines.suffix(room)
    for line in shown { text += line.replacingControls().prefix(terminal.columns) + "\n" }
    height = shown.count
    StandardStream.error.write(text)
  }
}
#endif
