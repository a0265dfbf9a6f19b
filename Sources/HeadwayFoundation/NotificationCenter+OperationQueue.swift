public import Foundation
public import Headway

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
}

/// A notification on its way to the queue; the thread that posted it waits meanwhile.
private struct Delivery: @unchecked Sendable {
  let notification: Notification
  let block: @Sendable (Notification) -> Void
}
