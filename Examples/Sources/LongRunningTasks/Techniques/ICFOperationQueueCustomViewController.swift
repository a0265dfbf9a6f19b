import Headway
import Synchronization

/// Runs custom operations, each after the previous one, and receives the items that they have created.
final class ICFOperationQueueCustomViewController: TechniqueController, ICFCustomOperationDelegate {
  private let screen: Screen
  private let processingQueue = OperationQueue(name: "custom")
  // Written only by the initializer, which needs `self` for the delegate.
  private let made = Mutex<[Operation]>([])

  init(_ screen: Screen) {
    self.screen = screen
    var operationsToAdd: [Operation] = []
    var previousOperation: Operation?
    for iteration in screen.iterations {
      let operation = ICFCustomOperation(iteration: iteration, delegate: self, screen: screen)
      operation.name = "\(iteration)"
      if let previousOperation { operation.addDependency(previousOperation) }
      operationsToAdd.append(operation)
      previousOperation = operation
    }
    made.withLock { [operationsToAdd] in $0 = operationsToAdd }
  }

  var processing: (queue: OperationQueue, operations: [Operation])? { (processingQueue, made.withLock { $0 }) }

  func viewDidAppear() {
    processingQueue.addOperations(made.withLock { $0 }, waitUntilFinished: false)
  }

  func updateTable(with moreData: [String], of iteration: Int) {
    // `performSelectorOnMainThread:withObject:waitUntilDone:YES`
    let update = BlockOperation { [screen] in screen.updateTableData(iteration, moreData) }
    OperationQueue.main.addOperations([update], waitUntilFinished: true)
  }
}
