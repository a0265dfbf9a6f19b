import Headway

import class Foundation.Thread

/// Makes ten items, and hands those that it has made to its delegate; fewer when it was cancelled meanwhile.
final class ICFCustomOperation: Operation, @unchecked Sendable {  // Only the weak reference changes, by the runtime.
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

    // What is there is shown, also after a cancellation.
    OperationQueue.main.addOperation { [delegate, newItems] in
      MainActor.assumeIsolated { delegate?.updateTable(with: newItems) }
    }
  }
}
