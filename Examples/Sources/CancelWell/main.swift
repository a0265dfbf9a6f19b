import Headway

/// Adds numbers until it is done or cancelled.
///
/// It reads `isCancelled` in its loop, as every operation should.
final class Sum: Operation, @unchecked Sendable {  // `total` is read after the operation has finished.
  let limit: Int
  let halfway: @Sendable (Sum) -> Void
  private(set) var total = 0

  init(to limit: Int, halfway: @escaping @Sendable (Sum) -> Void = { _ in }) {
    self.limit = limit
    self.halfway = halfway
  }

  override func main() {
    progress.totalUnitCount = Int64(limit)
    for number in 1...limit {
      if isCancelled { return }
      total += number
      progress.completedUnitCount = Int64(number)
      if number == limit / 2 { halfway(self) }
    }
  }
}

let queue = OperationQueue()
let whole = Sum(to: 1_000)
let half = Sum(to: 1_000) { $0.cancel() }
let never = Sum(to: 1_000)
queue.isSuspended = true
queue.addOperations([whole, half, never], waitUntilFinished: false)
never.cancel()  // Leaves the suspended queue without waiting for it.
never.waitUntilFinished()
queue.isSuspended = false
queue.waitUntilAllOperationsAreFinished()

for operation in [whole, half, never] {
  print(operation.total, operation.progress.fractionCompleted, operation)
}
