import Synchronization

/// One task per function, in no group.
///
/// Every task that needs its own value and its creator's task-local values is like this, so this is the minimum cost of
/// a `TaskOperation`.
struct DetachedTaskRival: FunctionRival {
  let name = "detached-tasks"

  func run(count: Int, suspending: Bool, body: @escaping Body) {
    let (done, left) = (Semaphore(), Remaining(count))
    for _ in 0..<count {
      Task.detached {
        if suspending { await Task.yield() }
        body()
        if left.isLast() { done.signal() }
      }
    }
    done.wait()
  }

  private final class Remaining: Sendable {
    private let count: Atomic<Int>

    init(_ count: Int) { self.count = Atomic(count) }

    func isLast() -> Bool { count.subtract(1, ordering: .acquiringAndReleasing).newValue == 0 }
  }
}
