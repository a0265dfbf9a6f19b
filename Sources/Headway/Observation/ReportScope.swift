import Synchronization

/// A call by which users are told of an end: that of a handler of failures or images, or of the observers of a queue.
///
/// Asynchronous waits include such calls. But a task that is made in one, and waits in it, does not wait for that call,
/// which may wait for the task.
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

  /// Calls `body`, which tells users of something that has happened in a queue, or of the end of an operation.
  static func run(for queue: OperationQueue?, _ operation: Operation? = nil, _ body: () -> Void) {
    let scope = ReportScope(queue, operation, in: innermost { _ in true })
    $current.withValue(scope, operation: body)
    scope.over.store(true, ordering: .releasing)
  }

  /// Whether the caller is inside a call that tells of something in `queue`.
  static func isInside(_ queue: OperationQueue) -> Bool {
    let identifier = ObjectIdentifier(queue)
    return innermost { $0.queue == identifier } != nil
  }

  /// Whether the caller is inside a call that tells of the end of `operation`.
  static func isInside(_ operation: Operation) -> Bool {
    let identifier = ObjectIdentifier(operation)
    return innermost { $0.operation == identifier } != nil
  }
}

/// What users are still to be told of an operation when it has ended: asynchronous waits for the operation and its queue
/// include that.
package final class EndReport: Sendable {
  private let operation: Operation
  private let queue: OperationQueue?

  fileprivate init(_ operation: Operation, _ queue: OperationQueue?) {
    (self.operation, self.queue) = (operation, queue)
  }

  /// Calls `body`, which tells users.
  package func tell(_ body: () -> Void) { ReportScope.run(for: queue, operation, body) }

  /// All has been told.
  ///
  /// To be called once, with no lock held.
  package func end() {
    operation.endReport()
    queue?.endReport()
  }
}

extension Operation {
  /// Has asynchronous waits include what users are to be told of the end.
  ///
  /// To be called in ``main()``, or after the end, which only waits for the operation include then.
  package final func beginReport() -> EndReport {
    let queue = queue
    queue?.beginReport()
    countReport()
    return EndReport(self, queue)
  }

  /// Something is to be told before tasks that wait for the operation go on.
  final func countReport() { links.withLock { $0.madeDetails.madeRarer.reportCount += 1 } }

  /// It has been told.
  final func endReport() {
    let waiters = links.withLock { links -> [Waiter] in
      guard let rarer = links.details?.rarer else { return [] }
      rarer.reportCount -= 1
      return rarer.reportCount == 0 ? rarer.reportWaiters.removeAll() : []
    }
    for waiter in waiters { waiter.wake() }
  }
}

extension OperationQueue {
  fileprivate final func beginReport() { update { $0.reportCount += 1 } }

  /// What was to be told of an end has been.
  final func endReport() { update { $0.reportCount -= 1 } }

  /// Notifies the observers of what waits in their list, or leaves it to the thread that does so already.
  final func notify(_ observers: ObserverList) { ReportScope.run(for: self) { observers.notify(of: self) } }
}
