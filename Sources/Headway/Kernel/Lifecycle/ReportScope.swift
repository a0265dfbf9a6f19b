import Synchronization

/// A call that reports an event: of a handler of failures or images, or of a queue's observers.
///
/// Asynchronous waits include such calls. However, if a task was created in such a call, its waits do not include that
/// call until it returns, because the call may block until the task has waited.
package final class ReportScope: Sendable {
  @TaskLocal private static var current: ReportScope?

  private let queue: ObjectIdentifier?
  private let operation: ObjectIdentifier?
  /// The call that encloses this one.
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

  /// Whether the calling task's waits for `queue` include reports and observers.
  ///
  /// They do not inside a call that reports something in that queue, or inside an operation, because such a call can
  /// wait for either.
  static func isAwaited(of queue: OperationQueue) -> Bool { !isInside(queue) && !ThreadContext.isInsideOperation }

  /// Whether the caller is inside a call that reports the end of `operation`.
  static func isInside(_ operation: Operation) -> Bool {
    let identifier = ObjectIdentifier(operation)
    return innermost { $0.operation == identifier } != nil
  }
}

/// A report of the end of an operation.
///
/// Asynchronous waits for the operation and its queue include it.
package final class EndReport: Sendable {
  private let operation: Operation
  private let queue: OperationQueue?

  fileprivate init(_ operation: Operation, _ queue: OperationQueue?) {
    (self.operation, self.queue) = (operation, queue)
  }

  /// Calls `body`, which calls handlers.
  package func run(_ body: () -> Void) { ReportScope.run(for: queue, operation, body) }

  /// Ends the report: it has returned, or is skipped.
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
  /// Called in ``main()``, or after the operation has finished. If the operation has finished, only waits for the
  /// operation include the report.
  package final func beginReport() -> EndReport {
    let queue = queue
    let report = EndReport(self, queue)
    queue?.update { $0.reports.append(self, ObjectIdentifier(report)) }
    countReport()
    return report
  }

  /// Counts a report of the end that follows.
  ///
  /// ``endReport()`` is called when it has returned.
  final func countReport() {
    links.withLock { $0.detailsCreatedIfNeeded.pointee.rareDetailsCreatedIfNeeded.reportCount += 1 }
  }

  /// Notes that a report of the end has returned.
  final func endReport() {
    let waiters = links.withLock { links -> [Waiter] in
      guard let details = links.details, let rareDetails = details.pointee.rareDetails else { return [] }
      rareDetails.reportCount -= 1
      guard rareDetails.reportCount == 0, state.current.isNotified else { return [] }
      return details.pointee.waiters.take(reaching: .reported)
    }
    for waiter in waiters { waiter.wake() }
  }
}

extension OperationQueue {
  /// Notes that a report of an operation's end has returned.
  final func endReport(_ report: ObjectIdentifier) {
    let operation = update { $0.reports.remove(report) }
    withExtendedLifetime(operation) {}  // Released after the lock.
  }
}
