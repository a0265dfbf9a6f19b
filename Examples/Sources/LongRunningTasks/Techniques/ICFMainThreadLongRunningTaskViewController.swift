/// Runs the tasks where it is called: on the main thread, which does not respond until the last task has ended.
final class ICFMainThreadLongRunningTaskViewController: TechniqueController {
  private let screen: Screen

  init(_ screen: Screen) { self.screen = screen }

  func viewDidAppear() {
    for iteration in screen.iterations {
      performLongRunningTask(forIteration: iteration)
    }
  }

  private func performLongRunningTask(forIteration iteration: Int) {
    screen.began(iteration)
    var newItems: [String] = []
    for number in 1...screen.itemCount {
      // The sample has no way to stop. On the main thread, no button could be pressed anyway.
      if screen.isCancelled(iteration) { break }
      newItems.append("Item \(iteration)-\(number)")
      screen.makeItem()
      screen.added(iteration, number)
    }
    screen.updateTableData(iteration, newItems)
    screen.ended(iteration, isCancelled: screen.isCancelled(iteration))
  }
}
