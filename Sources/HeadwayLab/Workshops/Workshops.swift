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
    private let folder: String

    /// Creates the workshops; nothing is made before somebody asks.
    ///
    /// - Parameters:
    ///   - journal: Where they report.
    ///   - feed: The folder of a feed to import; nil for a generated one.
    init(journal: Journal, feed: String?) {
      let name = "headway-lab-\(ProcessInfo.processInfo.processIdentifier)-\(journal.epoch)"
      folder = FileManager.default.temporaryDirectory.appendingPathComponent(name).path
      importing = ImportWorkshop(journal, folder: folder, feed: feed)
      lines = LinesWorkshop(journal, folder: folder)
      requests = RequestsWorkshop(journal, folder: folder)
      drawing = DrawingWorkshop(journal)
    }

    /// Cancels everything, and starts nothing any more.
    func stop() {
      importing.turn.close()
      lines.turn.close()
      requests.stop()
    }

    /// Removes the files, after ``stop()``, once nothing writes them any more.
    ///
    /// What can't be cancelled, as the opening of a file by a system that hangs, is waited for half a second.
    func finish() async {
      for _ in 0..<50 where importing.turn.isTaken || lines.turn.isTaken || requests.isRunning {
        // A task that was cancelled would not sleep.
        await Task.detached { try? await Task.sleep(for: .milliseconds(10)) }.value
      }
      try? FileManager.default.removeItem(atPath: folder)
    }

    func addRoutes(to router: Router<BasicRequestContext>) {
      importing.addRoutes(to: router)
      lines.addRoutes(to: router)
      requests.addRoutes(to: router)
      drawing.addRoutes(to: router)
    }
  }

  /// How far a workshop is.
  enum Phase: String, Encodable {
    case generating, running, finished, cancelled, failed
  }
#endif
