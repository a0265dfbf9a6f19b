public import Foundation
public import Headway

/// A queue, or nil: what `OperationQueue.current` is.
///
/// Calls that take a queue of Foundation's or nil get a twin that takes one of these. It is a protocol so that `nil`
/// alone goes on meaning Foundation's call, and `.current` means Headway's.
public protocol OperationQueueOrNone {
  /// The queue, if there is one.
  var operationQueueIfAny: Headway.OperationQueue? { get }
}

extension Optional: OperationQueueOrNone where Wrapped: Headway.OperationQueue {
  /// The queue, if there is one.
  public var operationQueueIfAny: Headway.OperationQueue? { self }
}

extension OperationQueueOrNone where Self == Headway.OperationQueue? {
  /// The queue that runs the operation from which this is called, as of Headway's queues.
  public static var current: Headway.OperationQueue? { Headway.OperationQueue.current }
}

extension NotificationCenter {
  /// Adds an observer whose block runs in a queue.
  ///
  /// As in Foundation, the thread that posts waits until the block has run. From inside an operation of `queue`, the
  /// block is called there and then. While the queue is suspended, or has no place, those who post wait.
  ///
  /// - Parameters:
  ///   - name: The notifications to hear of, or nil for all.
  ///   - object: Whose notifications to hear of, or nil for everybody's.
  ///   - queue: The queue in which the block runs.
  ///   - block: What to run.
  /// - Returns: The observer, for `removeObserver(_:)`. The notification center holds it, and the queue, until then.
  public func addObserver(
    forName name: NSNotification.Name?, object: Any?, queue: Headway.OperationQueue,
    using block: @escaping @Sendable (Notification) -> Void
  ) -> any NSObjectProtocol {
    addObserver(forName: name, object: object, queue: nil) { notification in
      if Headway.OperationQueue.current === queue { return block(notification) }
      let delivery = Delivery(notification: notification, block: block)
      queue.addOperations([Headway.BlockOperation { delivery.block(delivery.notification) }], waitUntilFinished: true)
    }
  }

  /// Adds an observer whose block runs in a queue, or, if there is none, on the thread that posts.
  ///
  /// - Parameters:
  ///   - name: The notifications to hear of, or nil for all.
  ///   - object: Whose notifications to hear of, or nil for everybody's.
  ///   - queue: The queue in which the block runs, or nil.
  ///   - block: What to run.
  /// - Returns: The observer, for `removeObserver(_:)`. The notification center holds it, and the queue, until then.
  public func addObserver<Queue: OperationQueueOrNone>(
    forName name: NSNotification.Name?, object: Any?, queue: Queue,
    using block: @escaping @Sendable (Notification) -> Void
  ) -> any NSObjectProtocol {
    guard let queue = queue.operationQueueIfAny else {
      return addObserver(forName: name, object: object, queue: nil, using: block)
    }
    return addObserver(forName: name, object: object, queue: queue, using: block)
  }
}

/// A notification on its way to the queue; the thread that posted it waits meanwhile.
private struct Delivery: @unchecked Sendable {
  let notification: Notification
  let block: @Sendable (Notification) -> Void
}
