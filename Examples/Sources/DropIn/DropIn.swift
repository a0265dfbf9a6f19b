// The background work of a tram app: fetch the departures of a few stops, parse them, save them.

#if HEADWAY
import HeadwayFoundation
#else
import Foundation
#endif

final class App: Sendable {
  let timetable = Timetable()

  func printNotes(_ title: String, sorted: Bool = false) {
    let notes = timetable.takeNotes()
    print("\(title)\n  " + (sorted ? notes.sorted() : notes).joined(separator: "\n  "))
  }

  /// Fetches, parses, and saves the departures of every stop.
  ///
  /// Each of the three operations depends on the previous one.
  func refresh() {
    let queue = NamingQueue()
    queue.name = "refresh"
    queue.maxConcurrentOperationCount = 4
    let completed = DispatchGroup()
    for stop in Service.answers.keys.sorted() {
      let fetch = FetchOperation(stop: stop)
      let parse = ParseOperation()
      let save = SaveOperation(stop: stop, timetable: timetable)
      parse.addDependency(fetch)
      save.addDependency(parse)
      completed.enter()
      save.completionBlock = { completed.leave() }
      for operation in [save, parse, fetch] { queue.addOperation(operation) }
    }
    queue.waitUntilAllOperationsAreFinished()
    completed.wait()
    printNotes("refresh (\(queue.addedCount) operations, \(queue.operationCount) left)", sorted: true)
    for stop in Service.answers.keys.sorted() { print("  \(stop): \(timetable.board(for: stop))") }
  }

  /// Boards on the screen have the highest priority, and boards that may never be shown the lowest.
  func drawBoards() {
    let queue = OperationQueue()
    queue.name = "boards"
    queue.maxConcurrentOperationCount = 1
    queue.isSuspended = true
    let stops: [(String, Operation.QueuePriority)] = [
      ("Museum", .low), ("Market", .normal), ("Airport", .veryLow), ("Harbour", .veryHigh), ("Depot", .normal),
    ]
    for (stop, priority) in stops {
      let operation = BlockOperation { [timetable] in
        timetable.note("\(stop) in queue \(OperationQueue.current?.name ?? "?")")
      }
      operation.name = stop
      operation.queuePriority = priority
      queue.addOperation(operation)
    }
    print("to draw: \(queue.operations.map { $0.name ?? "?" }.joined(separator: ", ")), in all \(queue.operationCount)")
    queue.operations.first { $0.name == "Airport" }?.queuePriority = .high
    queue.operations.first { $0.name == "Depot" }?.cancel()
    queue.isSuspended = false
    queue.waitUntilAllOperationsAreFinished()
    printNotes("drawn")
  }

  /// The user leaves the page: work that has not begun is not needed, and the end is still reported.
  func leavePage() {
    let queue = OperationQueue()
    queue.qualityOfService = .userInitiated
    queue.isSuspended = true
    let fetch = FetchOperation(stop: "Harbour")
    let save = SaveOperation(stop: "Harbour", timetable: timetable)
    let report = BlockOperation { [timetable] in
      timetable.note("fetch: \(fetch.isFinished) \(fetch.isCancelled), save: \(save.isFinished) \(save.isCancelled)")
    }
    let completed = DispatchGroup()
    completed.enter()
    fetch.completionBlock = { completed.leave() }
    completed.enter()
    fetch.addCompletionBlock { completed.leave() }
    save.addDependency(fetch)
    for operation in [fetch, save] { report.addDependency(operation) }
    queue.addOperations([fetch, save], waitUntilFinished: false)
    queue.cancelAllOperations()
    queue.addOperation(report)
    queue.isSuspended = false
    report.waitUntilFinished()
    completed.wait()
    printNotes("left the page (finished, cancelled)")
  }

  /// Stops are imported concurrently.
  ///
  /// The count waits for the imports before it, and the imports after it wait for the count.
  func importStops() {
    let queue = OperationQueue()
    queue.maxConcurrentOperationCount = 2
    let running = Gauge()
    let imports = (1...6).map { number in
      BlockOperation { [timetable] in
        running.enter()
        timetable.save([Departure(time: "09:0\(number)", line: "9")], for: "stop \(number)")
        running.leave()
      }
    }
    queue.addOperations(imports, waitUntilFinished: false)
    queue.addBarrierBlock { [timetable] in timetable.note("departures after the first import: \(timetable.count)") }
    let second = (7...9).map { number in
      BlockOperation { [timetable] in timetable.save([], for: "stop \(number - 6)") }
    }
    queue.addOperations(second, waitUntilFinished: true)
    queue.waitUntilAllOperationsAreFinished()
    timetable.note("departures after the second: \(timetable.count)")
    timetable.note("never more than two at once: \(running.highest <= 2)")
    timetable.note("all finished: \((imports + second).allSatisfy(\.isFinished))")
    printNotes("import")
  }

  /// Deletes old files, in any order.
  func tidyUp() {
    let queue = OperationQueue()
    queue.maxConcurrentOperationCount = 1
    queue.progress.totalUnitCount = 2
    let boards = BlockOperation { [timetable] in timetable.note("old boards deleted") }
    let downloads = BlockOperation { [timetable] in timetable.note("old downloads deleted") }
    downloads.addExecutionBlock { [timetable] in timetable.note("broken downloads deleted") }
    for operation in [boards, downloads] {
      operation.qualityOfService = .background
      queue.addOperation(operation)
    }
    queue.waitUntilAllOperationsAreFinished()
    let progress = queue.progress
    timetable.note("progress: \(progress.completedUnitCount) of \(progress.totalUnitCount)")
    printNotes("tidied up", sorted: true)
  }

  /// Notifies the observers of a new timetable on a queue.
  func announce() {
    let queue = OperationQueue()
    queue.name = "listeners"
    let published = Notification.Name("TimetablePublished")
    let heard = DispatchGroup()
    heard.enter()
    let observer = NotificationCenter.default.addObserver(forName: published, object: nil, queue: queue) {
      [timetable] notification in
      timetable.note("\(notification.name.rawValue) in queue \(OperationQueue.current?.name ?? "?")")
      heard.leave()
    }
    NotificationCenter.default.post(name: published, object: nil)
    heard.wait()
    NotificationCenter.default.removeObserver(observer)
    printNotes("announced")
  }
}

@main enum TramApp {
  static func main() {
    let background = OperationQueue()
    background.qualityOfService = .background
    background.addOperation {
      let app = App()
      app.refresh()
      app.drawBoards()
      app.leavePage()
      app.importStops()
      app.tidyUp()
      app.announce()
      OperationQueue.main.addOperation {
        print("done, in the main queue: \(OperationQueue.current === OperationQueue.main)")
        exit(EXIT_SUCCESS)
      }
    }
    dispatchMain()
  }
}
