import Synchronization

/// A task for each function, in no group, as each has that is to have a value of its own and its creator's task-local
/// values: the least that a `TaskOperation` can cost.
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
