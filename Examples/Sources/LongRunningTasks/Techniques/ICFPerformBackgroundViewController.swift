import Dispatch
import Foundation

/// Creates a thread for each task: `performSelectorInBackground:withObject:` in the sample.
///
/// This needs the least code, and nothing limits the number of threads. The order of the rows is unspecified.
final class ICFPerformBackgroundViewController: TechniqueController {
  private let screen: Screen

  init(_ screen: Screen) { self.screen = screen }

  func viewDidAppear() {
    for iteration in screen.iterations {
      Thread.detachNewThread { self.performLongRunningTask(forIteration: iteration) }
    }
  }

  private func performLongRunningTask(forIteration iteration: Int) {
    screen.began(iteration)
    var newItems: [String] = []
    for number in 1...screen.itemCount {
      // A thread can't be cancelled from outside: the program keeps this flag itself.
      if screen.isCancelled(iteration) { break }
      newItems.append("Item \(iteration)-\(number)")
      screen.makeItem()
      screen.added(iteration, number)
    }
    // `performSelectorOnMainThread:withObject:waitUntilDone:NO`
    DispatchQueue.main.async { [screen, newItems] in screen.updateTableData(iteration, newItems) }
    screen.ended(iteration, isCancelled: screen.isCancelled(iteration))
  }
}
