#if Lab
import Foundation
import Headway
import Hummingbird
import Synchronization

/// The add-on modules at work: one page each.
///
/// Their files are in a folder that is removed at the end.
final class Workshops: Sendable {
  let importing: ImportWorkshop
  let lines: LinesWorkshop
  let requests: RequestsWorkshop
  let drawing: DrawingWorkshop
  let race: RaceWorkshop
  let sleepers: SleepersWorkshop
  let board: BoardWorkshop
  private let folder: String

  /// Creates the workshops.
  ///
  /// No files are created before they are needed.
  ///
  /// - Parameters:
  ///   - journal: The journal that receives their events.
  ///   - feed: The folder of a feed to import. Nil for a generated feed.
  ///   - work: A closure that does the work of an item. The operations of the pages have several items.
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

  /// Cancels everything and prevents new runs.
  func stop() {
    importing.turn.close()
    lines.turn.close()
    requests.stop()
    race.close()
    sleepers.close()
    board.close()
  }

  /// Removes the files, after ``stop()``, when no code writes them any longer.
  ///
  /// Activities that can't be cancelled, such as opening a file on a system that hangs, are waited for up to half a
  /// second.
  func finish() async {
    for _ in 0..<50 where isRunning {
      // A cancelled task would not sleep.
      await Task.detached { try? await Task.sleep(for: .milliseconds(10)) }.value
    }
    try? FileManager.default.removeItem(atPath: folder)
  }

  /// Whether a workshop runs something, except drawing, which has no end.
  var isRunning: Bool {
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

/// The state of a workshop.
enum Phase: String, Encodable {
  case generating, running, finished, cancelled, failed
}
#endif
