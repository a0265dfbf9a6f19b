import Dispatch
import Synchronization

extension OperationQueue {
  /// For how long a queue must have stood still before it is looked at, in milliseconds; then twice as long each time.
  private static let firstLook = 50
  private static let longestPause = 5_000

  /// If somebody listens to events and the queue stands still, has it looked at a little later.
  ///
  /// A queue that waits for another's operations stands still often, and goes on soon; so nothing is looked at while
  /// there is progress.
  final func lookForStallIfIdle() {
    let isDue = books.withLock { books in
      guard books.observation.listeners > 0 else { return false }
      guard books.admission.isIdle else {
        books.observation.hasToldStall = false
        return false
      }
      guard !books.observation.isLookingForStall, !books.observation.hasToldStall else { return false }
      books.observation.isLookingForStall = true
      return true
    }
    if isDue { lookForStall(after: Self.firstLook) }
  }

  private func lookForStall(after milliseconds: Int) {
    DispatchQueue.global(qos: .utility).asyncAfter(deadline: .now() + .milliseconds(milliseconds)) { [weak self] in
      guard let self, self.lookForStall() else { return }
      self.lookForStall(after: min(milliseconds * 2, Self.longestPause))
    }
  }

  /// Tells of a stall, if there is one.
  ///
  /// - Returns: Whether to look again later: the queue stands still, and waits for something that may happen.
  private func lookForStall() -> Bool {
    let held = books.withLock { books -> [Operation]? in
      guard books.observation.listeners > 0, books.admission.isIdle else { return nil }
      return books.admission.operations
    }
    var graph = WaitGraph()
    let isStalled = held?.allSatisfy { graph.isStuck($0) } == true
    let (looksAgain, observers) = books.withLock { books -> (Bool, ObserverList?) in
      guard held != nil, books.admission.isIdle else {
        books.observation.isLookingForStall = false
        return (false, nil)
      }
      guard isStalled, let cycle = graph.cycle else { return (true, nil) }
      books.observation.isLookingForStall = false
      books.observation.hasToldStall = true
      books.record { .stalled(cycle: cycle) }
      return (false, books.observers)
    }
    observers?.tell(of: self)
    return looksAgain
  }

  /// The operations of this queue that must finish before this one can start.
  final func obstacles(of operation: Operation) -> [Operation] {
    look { $0.admission.obstacles(of: operation) }
  }
}
