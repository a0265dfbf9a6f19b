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
      importing.stop()
      lines.stop()
      requests.stop()
    }

    /// Removes the files, after ``stop()``, once nothing writes them any more.
    ///
    /// What can't be cancelled, as the opening of a file by a system that hangs, is waited for half a second.
    func finish() async {
      for _ in 0..<50 where importing.isRunning || lines.isRunning || requests.isRunning {
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

  /// Lets one thing at a time run, which may be cancelled from its first moment to its last.
  final class Turn: Sendable {
    private struct State {
      var isTaken = false
      var isCancelled = false
      var isClosed = false
    }

    // Protected by its lock.
    private let state = Mutex(State())

    /// Takes the turn, if it is free.
    func take() -> Bool {
      state.withLock { state in
        guard !state.isTaken, !state.isClosed else { return false }
        (state.isTaken, state.isCancelled) = (true, false)
        return true
      }
    }

    /// Gives it back.
    func giveBack() { state.withLock { $0.isTaken = false } }

    /// Whether it is taken.
    var isTaken: Bool { state.withLock { $0.isTaken } }

    /// Cancels what has the turn.
    func cancel() { state.withLock { $0.isCancelled = true } }

    /// Whether what has the turn was cancelled.
    var isCancelled: Bool { state.withLock { $0.isCancelled } }

    /// Cancels what has the turn, and gives it to nothing any more.
    func close() { state.withLock { ($0.isCancelled, $0.isClosed) = (true, true) } }

    /// Adds operations to a queue, whose operations are cancelled after each call of ``cancel()``.
    func add(_ operations: [Headway.Operation], to queue: Headway.OperationQueue) {
      queue.addOperations(operations, waitUntilFinished: false)
      // A cancellation that came before may not have found them in the queue.
      if isCancelled { operations.forEach { $0.cancel() } }
    }
  }

  /// How far a workshop is.
  enum Phase: String, Encodable {
    case generating, running, finished, cancelled, failed
  }
#endif
