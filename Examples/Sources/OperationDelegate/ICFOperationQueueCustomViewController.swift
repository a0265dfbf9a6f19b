import Headway

/// Shows a section for each operation, as soon as the operation has ended.
@MainActor
final class ICFOperationQueueCustomViewController: ICFCustomOperationDelegate {
  private let processingQueue = OperationQueue()
  private var displayItems: [[String]] = [["Item Initial-1", "Item Initial-2", "Item Initial-3"]]

  /// Begins with five operations, one after another.
  ///
  /// Two of them are cancelled: the third while it runs, and the fifth before it has started.
  func viewDidAppear() {
    var operations: [ICFCustomOperation] = []
    for iteration in 1...5 {
      let operation = ICFCustomOperation(iteration: iteration, delegate: self) { [processingQueue] number in
        guard iteration == 3, number == 4 else { return }
        // The queue contains the operations that have not finished, in insertion order.
        for case let operation as ICFCustomOperation in processingQueue.operations
        where operation.iteration == 3 || operation.iteration == 5 {
          operation.cancel()
        }
      }
      if let previous = operations.last { operation.addDependency(previous) }
      operations.append(operation)
    }
    processingQueue.addOperations(operations, waitUntilFinished: false)
  }

  /// Suspends until all operations have ended and the main queue has processed their updates.
  func processingEnded() async throws {
    try await processingQueue.untilAllOperationsAreFinished()
    try await OperationQueue.main.untilAllOperationsAreFinished()
  }

  func updateTable(with moreData: [String]) {
    displayItems.append(moreData)
    print("Section \(displayItems.count): \(moreData.count) rows, \(moreData.first ?? "") to \(moreData.last ?? "")")
  }
}
