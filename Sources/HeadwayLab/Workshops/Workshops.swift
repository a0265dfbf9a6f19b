#if Lab
  import Foundation
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

    /// Cancels everything, and removes the files.
    func stop() {
      importing.cancel()
      lines.cancel()
      requests.cancelAll()
      try? FileManager.default.removeItem(atPath: folder)
    }

    func addRoutes(to router: Router<BasicRequestContext>) {
      importing.addRoutes(to: router)
      lines.addRoutes(to: router)
      requests.addRoutes(to: router)
      drawing.addRoutes(to: router)
    }
  }

  /// Lets one thing at a time run.
  final class Turn: Sendable {
    // Protected by its lock.
    private let isTaken = Mutex(false)

    /// Takes the turn, if nobody has it.
    func take() -> Bool {
      isTaken.withLock { isTaken in
        defer { isTaken = true }
        return !isTaken
      }
    }

    /// Gives it back.
    func giveBack() { isTaken.withLock { $0 = false } }
  }

  /// How far a workshop is.
  enum Phase: String, Encodable {
    case generating, running, finished, cancelled, failed
  }
#endif
