import Headway

/// Makes each operation wait for the one before it: the queue is concurrent, the dependencies make the order.
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
        target: tasks, method: LongRunningTasks.performLongRunningTask, object: iteration)
      operation.name = "\(iteration)"
      if let previousOperation { operation.addDependency(previousOperation) }
      operationsToAdd.append(operation)
      previousOperation = operation
    }
    operations = operationsToAdd
  }

  var processing: (queue: OperationQueue, operations: [Operation])? { (processingQueue, operations) }

  func viewDidAppear() {
    // Operations start as soon as they are added: so all dependencies are there before.
    processingQueue.addOperations(operations, waitUntilFinished: false)
  }

  /// What the operations call: the object that has the method.
  private final class LongRunningTasks: Sendable {
    private let screen: Screen

    init(_ screen: Screen) { self.screen = screen }

    func performLongRunningTask(forIteration iteration: Int) {
      screen.began(iteration)
      var newItems: [String] = []
      for number in 1...screen.itemCount {
        // The sample's method does not look, so that only tasks that wait are cancelled there.
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
