public import Foundation
public import Headway

/// A queue or nil, such as `OperationQueue.current`.
///
/// Each Foundation method that takes an optional Foundation queue has an overload that takes this type. Because it is a
/// protocol, a bare `nil` still selects Foundation's method, and `.current` selects Headway's.
public protocol _OperationQueueOrNone {
  /// The queue, if there is one.
  var _operationQueueIfAny: Headway.OperationQueue? { get }
}

extension Optional: _OperationQueueOrNone where Wrapped: Headway.OperationQueue {
  /// The queue, if there is one.
  public var _operationQueueIfAny: Headway.OperationQueue? { self }
}

extension _OperationQueueOrNone where Self == Headway.OperationQueue? {
  /// The Headway queue that runs the calling operation.
  public static var current: Headway.OperationQueue? { Headway.OperationQueue.current }
}

extension NotificationCenter {
  /// Adds an observer whose block runs in a queue.
  ///
  /// As in Foundation, the thread that posts a notification waits until the block has run. If it posts from inside an
  /// operation of `queue`, the block is called immediately on that thread. While the queue is suspended or full,
  /// posting threads wait.
  ///
  /// - Parameters:
  ///   - name: The name of the notifications, or nil for all names.
  ///   - object: The object that posts the notifications, or nil for all objects.
  ///   - queue: The queue that runs the block.
  ///   - block: The block, which receives the notification.
  /// - Returns: The observer, to remove it later. The notification center retains it, and the queue, until you pass it
  ///   to `removeObserver(_:)`.
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

  /// Adds an observer whose block runs in a queue or, without a queue, on the thread that posts.
  ///
  /// - Parameters:
  ///   - name: The name of the notifications, or nil for all names.
  ///   - object: The object that posts the notifications, or nil for all objects.
  ///   - queue: The queue that runs the block, or nil.
  ///   - block: The block, which receives the notification.
  /// - Returns: The observer, to remove it later. The notification center retains it, and the queue, until you pass it
  ///   to `removeObserver(_:)`.
  public func addObserver<Queue: _OperationQueueOrNone>(
    forName name: NSNotification.Name?, object: Any?, queue: Queue,
    using block: @escaping @Sendable (Notification) -> Void
  ) -> any NSObjectProtocol {
    guard let queue = queue._operationQueueIfAny else {
      return addObserver(forName: name, object: object, queue: nil, using: block)
    }
    return addObserver(forName: name, object: object, queue: queue, using: block)
  }
}

/// A notification on its way to the queue, while the thread that posted it waits.
private struct Delivery: @unchecked Sendable {
  let notification: Notification
  let block: @Sendable (Notification) -> Void
}
