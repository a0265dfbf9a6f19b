import Dispatch
import Synchronization

/// Submits the tasks to a concurrent dispatch queue and also creates the items of each task concurrently.
final class ICFDispatchQueueConcurrentViewController: TechniqueController {
  private let screen: Screen

  init(_ screen: Screen) { self.screen = screen }

  func viewDidAppear() {
    let workQueue = DispatchQueue.global(qos: .userInitiated)
    for iteration in screen.iterations {
      workQueue.async { self.performLongRunningTask(forIteration: iteration) }
    }
  }

  private func performLongRunningTask(forIteration iteration: Int) {
    screen.began(iteration)
    // The sample incorrectly changes an array from several threads at the same time, without a lock.
    let newItems = Mutex<[String]>([])
    // `dispatch_apply`: it returns when all iterations have.
    DispatchQueue.concurrentPerform(iterations: screen.itemCount) { index in
      if screen.isCancelled(iteration) { return }
      screen.makeItem()
      newItems.withLock { $0.append("Item \(iteration)-\(index + 1)") }
      screen.added(iteration, index + 1)
    }
    let items = newItems.withLock { $0 }
    DispatchQueue.main.async { [screen] in screen.updateTableData(iteration, items) }
    screen.ended(iteration, isCancelled: screen.isCancelled(iteration))
  }
}
