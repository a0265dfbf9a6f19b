import Headway

/// Adds one operation per task to a queue that runs as many at the same time as its limit allows, with completion
/// blocks.
final class ICFOperationQueueConcurrentViewController: TechniqueController {
  private let screen: Screen
  private let processingQueue = OperationQueue(name: "concurrent")
  private let operations: [Operation]

  init(_ screen: Screen) {
    self.screen = screen
    let tasks = LongRunningTasks(screen)
    operations = screen.iterations.map { iteration in
      let operation = InvocationOperation(
        target: tasks, method: LongRunningTasks.performLongRunningTask, argument: iteration)
      operation.name = "\(iteration)"
      operation.completionBlock = { screen.completed(iteration) }
      return operation
    }
  }

  var processing: (queue: OperationQueue, operations: [Operation])? { (processingQueue, operations) }

  func viewDidAppear() {
    for operation in operations {
      processingQueue.addOperation(operation)
    }
  }

  /// The object whose method the operations call.
  private final class LongRunningTasks: Sendable {
    private let screen: Screen

    init(_ screen: Screen) { self.screen = screen }

    func performLongRunningTask(forIteration iteration: Int) {
      screen.began(iteration)
      var newItems: [String] = []
      for number in 1...screen.itemCount {
        // The sample's method does not check this, so there only waiting tasks are cancelled.
        if screen.isCancelled(iteration) { break }
        newItems.append("Item \(iteration)-\(number)")
        screen.makeItem()
        screen.added(iteration, number)
      }
      // `performSelectorOnMainThread:withObject:waitUntilDone:NO`
      OperationQueue.main.addOperation { [screen, newItems] in screen.updateTableData(iteration, newItems) }
    }
  }
}
