import Headway

import class Foundation.Thread

/// Creates ten items and passes them to its delegate.
///
/// If it is cancelled, it passes the items that it has created so far.
final class ICFCustomOperation: Operation, @unchecked Sendable {  // Only the weak reference changes, in the runtime.
  let iteration: Int
  private weak let delegate: (any ICFCustomOperationDelegate)?
  private let didAdd: @Sendable (Int) -> Void

  /// Creates an operation that calls `didAdd` after each item, on its own thread.
  init(
    iteration: Int, delegate: any ICFCustomOperationDelegate, didAdd: @escaping @Sendable (Int) -> Void = { _ in }
  ) {
    self.iteration = iteration
    self.delegate = delegate
    self.didAdd = didAdd
    super.init()
  }

  override func main() {
    var newItems: [String] = []

    for number in 1...10 {
      if isCancelled { break }

      newItems.append("Item \(iteration)-\(number)")
      Thread.sleep(forTimeInterval: 0.001)  // The long work.
      didAdd(number)
    }

    // The existing items are shown, even after a cancellation.
    OperationQueue.main.addOperation { [delegate, newItems] in
      MainActor.assumeIsolated { delegate?.updateTable(with: newItems) }
    }
  }
}
