import Headway

/// Receives the items that operations have created.
protocol ICFCustomOperationDelegate: AnyObject, Sendable {
  /// Called on the thread of the operation.
  func updateTable(with moreData: [String], of iteration: Int)
}

/// A task as a custom operation, which checks before each item whether it was cancelled.
final class ICFCustomOperation: Operation, @unchecked Sendable {  // Only the weak reference changes, in the runtime.
  private weak let delegate: (any ICFCustomOperationDelegate)?
  private let iteration: Int
  private let screen: Screen

  init(iteration: Int, delegate: any ICFCustomOperationDelegate, screen: Screen) {
    self.iteration = iteration
    self.delegate = delegate
    self.screen = screen
  }

  override func main() {
    screen.began(iteration)
    var newItems: [String] = []
    for number in 1...screen.itemCount {
      if isCancelled { break }
      newItems.append("Item \(iteration)-\(number)")
      screen.makeItem()
      screen.added(iteration, number)
    }
    // The existing items are shown, even after a cancellation.
    delegate?.updateTable(with: newItems, of: iteration)
  }
}
