import Headway

/// Makes each operation depend on the previous one: the queue is concurrent, and the dependencies determine the order.
final class ICFOperationQueueSerialViewController: TechniqueController {
  private let screen: Screen
  private let processingQueue = OperationQueue(name: "serial")
  private let operations: [Operation]

  init(_ screen: Screen) {
    self.screen = screen
    let tasks = LongRunningTasks(screen)
    var operationsToAdd: [Operation] = []
    var previousOperation: Operation?
    for iteration in screen.iterations {
      let operation = InvocationOperation(
        target: tasks, method: LongRunningTasks.performLongRunningTask, argument: iteration)
      operation.name = "\(iteration)"
      if let previousOperation { operation.addDependency(previousOperation) }
      operationsToAdd.append(operation)
      previousOperation = operation
    }
    operations = operationsToAdd
  }

  var processing: (queue: OperationQueue, operations: [Operation])? { (processingQueue, operations) }

  func viewDidAppear() {
    // Operations start as soon as they are added, so all dependencies are set before.
    processingQueue.addOperations(operations, waitUntilFinished: false)
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
      // `performSelectorOnMainThread:withObject:waitUntilDone:YES`
      let update = BlockOperation { [screen, newItems] in screen.updateTableData(iteration, newItems) }
      OperationQueue.main.addOperations([update], waitUntilFinished: true)
    }
  }
}
