import Headway

/// An operation that ends soon after it is cancelled: it checks before it begins, and in each iteration of its loop.
final class OQCancellableOperation: Operation, @unchecked Sendable {  // All added properties are constant.
  let data: String
  let didLoop: @Sendable (OQCancellableOperation, Int) -> Void

  /// Creates an operation that calls `didLoop` after each iteration of its loop.
  init(data: String, didLoop: @escaping @Sendable (OQCancellableOperation, Int) -> Void = { _, _ in }) {
    self.data = data
    self.didLoop = didLoop
    super.init()
  }

  override func main() {
    if isCancelled { return }

    print("Start executing main with data: \(data)")

    for loop in 1...3 {
      if isCancelled { return }
      print("Loop \(loop)")
      didLoop(self, loop)
    }

    print("Finish executing main")
  }
}
