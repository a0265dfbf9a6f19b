import Synchronization

/// A call that reports an end: of a handler of failures or images, or of the observers of a queue.
///
/// Asynchronous waits include such calls. But the wait of a task that was created in one does not include it before it
/// returns: the call may block until the task has waited.
package final class ReportScope: Sendable {
  @TaskLocal private static var current: ReportScope?

  private let queue: ObjectIdentifier?
  private let operation: ObjectIdentifier?
  /// The call in which this one is made.
  private let outer: ReportScope?
  private let over = Atomic(false)

  private init(_ queue: OperationQueue?, _ operation: Operation?, in outer: ReportScope?) {
    self.queue = queue.map { ObjectIdentifier($0) }
    self.operation = operation.map { ObjectIdentifier($0) }
    self.outer = outer
  }

  private var isOver: Bool { over.load(ordering: .acquiring) }

  private static func innermost(where condition: (ReportScope) -> Bool) -> ReportScope? {
    var position = current
    while let scope = position, scope.isOver || !condition(scope) { position = scope.outer }
    return position
  }

  /// Calls `body`, which reports something that has happened in a queue, or the end of an operation.
  static func run(for queue: OperationQueue?, _ operation: Operation? = nil, _ body: () -> Void) {
    let scope = ReportScope(queue, operation, in: innermost { _ in true })
    $current.withValue(scope, operation: body)
    scope.over.store(true, ordering: .releasing)
  }

  /// Whether the caller is inside a call that reports something in `queue`.
  static func isInside(_ queue: OperationQueue) -> Bool {
    let identifier = ObjectIdentifier(queue)
    return innermost { $0.queue == identifier } != nil
  }

  /// Whether the calling task's waits for `queue` include reports and observers: not inside a call that reports
  /// something in that queue, nor inside an operation, since such a call may wait for either.
  static func isAwaited(of queue: OperationQueue) -> Bool { !isInside(queue) && !ThreadContext.isInsideOperation }

  /// Whether the caller is inside a call that reports the end of `operation`.
  static func isInside(_ operation: Operation) -> Bool {
    let identifier = ObjectIdentifier(operation)
    return innermost { $0.operation == identifier } != nil
  }
}

/// A report of the end of an operation that asynchronous waits for the operation and its queue include.
package final class EndReport: Sendable {
  private let operation: Operation
  private let queue: OperationQueue?

  fileprivate init(_ operation: Operation, _ queue: OperationQueue?) {
    (self.operation, self.queue) = (operation, queue)
  }

  /// Calls `body`, which calls handlers.
  package func run(_ body: () -> Void) { ReportScope.run(for: queue, operation, body) }

  /// The report has returned, or is not made.
  ///
  /// Called once, with no lock held.
  package func end() {
    operation.endReport()
    queue?.endReport(ObjectIdentifier(self))
  }
}

extension Operation {
  /// Makes asynchronous waits for the operation, and for its queue, include a report of its end.
  ///
  /// Called in ``main()``; or after the end, and then only waits for the operation include the report.
  package final func beginReport() -> EndReport {
    let queue = queue
    let report = EndReport(self, queue)
    queue?.update { $0.reports.append(self, ObjectIdentifier(report)) }
    countReport()
    return report
  }

  /// A report of the end follows; ``endReport()`` is called when it has returned.
  final func countReport() { links.withLock { $0.detailsCreatedIfNeeded.rareDetailsCreatedIfNeeded.reportCount += 1 } }

  /// A report of the end has returned.
  final func endReport() {
    let waiters = links.withLock { links -> [Waiter] in
      guard let details = links.details, let rareDetails = details.rareDetails else { return [] }
      rareDetails.reportCount -= 1
      return rareDetails.reportCount == 0 && state.current.isNotified ? details.waiters.take(reaching: .reported) : []
    }
    for waiter in waiters { waiter.wake() }
  }
}

extension OperationQueue {
  /// A report of an end has returned.
  final func endReport(_ report: ObjectIdentifier) {
    let operation = update { $0.reports.remove(report) }
    withExtendedLifetime(operation) {}  // Released after the lock.
  }

  /// Notifies the observers of what waits in their list, or leaves it to the thread that does so already.
  final func notify(_ observers: ObserverList) { ReportScope.run(for: self) { observers.notify(of: self) } }
}
