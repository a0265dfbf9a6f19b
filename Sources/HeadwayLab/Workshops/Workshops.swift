#if Lab
import Foundation
import Headway
import Hummingbird
import Synchronization

/// The add-on modules at work: a page each, whose files are in a folder that is removed at the end.
final class Workshops: Sendable {
  let importing: ImportWorkshop
  let lines: LinesWorkshop
  let requests: RequestsWorkshop
  let drawing: DrawingWorkshop
  let race: RaceWorkshop
  let sleepers: SleepersWorkshop
  let board: BoardWorkshop
  private let folder: String

  /// Creates the workshops; nothing is made before somebody asks.
  ///
  /// - Parameters:
  ///   - journal: Where they report.
  ///   - feed: The folder of a feed to import; nil for a generated one.
  ///   - work: The work of an item, of which the operations of the pages have several.
  init(journal: Journal, feed: String?, work: @escaping @Sendable () -> Void) {
    let name = "headway-lab-\(ProcessInfo.processInfo.processIdentifier)-\(journal.epoch)"
    folder = FileManager.default.temporaryDirectory.appendingPathComponent(name).path
    importing = ImportWorkshop(journal, folder: folder, feed: feed)
    lines = LinesWorkshop(journal, folder: folder)
    requests = RequestsWorkshop(journal, folder: folder)
    drawing = DrawingWorkshop(journal)
    race = RaceWorkshop(journal, work: work)
    sleepers = SleepersWorkshop(journal, work: work)
    board = BoardWorkshop(journal, work: work)
  }

  /// Cancels everything, and starts nothing any more.
  func stop() {
    importing.turn.close()
    lines.turn.close()
    requests.stop()
    race.close()
    sleepers.close()
    board.close()
  }

  /// Removes the files, after ``stop()``, once nothing writes them any more.
  ///
  /// What can't be cancelled, as the opening of a file by a system that hangs, is waited for half a second.
  func finish() async {
    for _ in 0..<50 where isRunning {
      // A task that was cancelled would not sleep.
      await Task.detached { try? await Task.sleep(for: .milliseconds(10)) }.value
    }
    try? FileManager.default.removeItem(atPath: folder)
  }

  private var isRunning: Bool {
    importing.turn.isTaken || lines.turn.isTaken || requests.isRunning || race.isRunning || sleepers.isRunning
      || board.isRunning
  }

  func addRoutes(to router: Router<BasicRequestContext>) {
    importing.addRoutes(to: router)
    lines.addRoutes(to: router)
    requests.addRoutes(to: router)
    drawing.addRoutes(to: router)
    race.addRoutes(to: router)
    sleepers.addRoutes(to: router)
    board.addRoutes(to: router)
  }
}

/// How far a workshop is.
enum Phase: String, Encodable {
  case generating, running, finished, cancelled, failed
}
#endif
