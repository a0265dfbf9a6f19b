import Dispatch
import Synchronization

/// Submits the tasks to a serial dispatch queue: first in, first out, with less to manage than dependencies.
final class ICFDispatchQueueSerialViewController: TechniqueController {
  private let screen: Screen
  private let workQueue = DispatchQueue(label: "com.icf.serialqueue")
  // Protected by its lock. A dispatch queue counts its suspensions and must not be released while it is suspended.
  private let isSuspended = Mutex(false)

  init(_ screen: Screen) { self.screen = screen }

  deinit { setSuspended(false) }

  func viewDidAppear() {
    for iteration in screen.iterations {
      workQueue.async { self.performLongRunningTask(forIteration: iteration) }
    }
  }

  func setSuspended(_ isSuspended: Bool) {
    self.isSuspended.withLock { current in
      guard current != isSuspended else { return }
      current = isSuspended
      if isSuspended { workQueue.suspend() } else { workQueue.resume() }
    }
  }

  private func performLongRunningTask(forIteration iteration: Int) {
    let isStarted = !screen.isCancelled(iteration)
    if isStarted { screen.began(iteration) }
    var newItems: [String] = []
    for number in 1...screen.itemCount {
      // A waiting block can't be removed from a queue: a cancelled block runs, and does nothing.
      if screen.isCancelled(iteration) { break }
      newItems.append("Item \(iteration)-\(number)")
      screen.makeItem()
      screen.added(iteration, number)
    }
    DispatchQueue.main.async { [screen, newItems] in screen.updateTableData(iteration, newItems) }
    screen.ended(iteration, isCancelled: screen.isCancelled(iteration))
  }
}
