// Replace `import FoundationNetworking` with `import HeadwayFoundationNetworking` to get all of that module, and
// sessions that call their delegates in a Headway queue. This is a separate module, because FoundationNetworking links
// a network stack.

public import Headway
@_exported public import HeadwayFoundation

#if canImport(FoundationNetworking)
@_exported public import FoundationNetworking
#endif

extension URLSession {
  /// Creates a session that calls its delegate and completion handlers in a queue.
  ///
  /// The queue should run one operation at a time, which keeps the calls in order.
  ///
  /// - Parameters:
  ///   - configuration: The configuration of the session.
  ///   - delegate: The delegate of the session.
  ///   - queue: The queue that runs the calls.
  public convenience init(
    configuration: URLSessionConfiguration, delegate: (any URLSessionDelegate)?,
    delegateQueue queue: Headway.OperationQueue
  ) {
    let forwarding: Foundation.OperationQueue = queue.makeFoundationQueue()
    self.init(configuration: configuration, delegate: delegate, delegateQueue: forwarding)
  }

  /// Creates a session that calls its delegate and completion handlers in a queue or, without one, in the session's own
  /// queue.
  ///
  /// - Parameters:
  ///   - configuration: The configuration of the session.
  ///   - delegate: The delegate of the session.
  ///   - queue: The queue that runs the calls, or nil.
  public convenience init<Queue: _OperationQueueOrNone>(
    configuration: URLSessionConfiguration, delegate: (any URLSessionDelegate)?, delegateQueue queue: Queue
  ) {
    let forwarding: Foundation.OperationQueue? = queue._operationQueueIfAny?.makeFoundationQueue()
    self.init(configuration: configuration, delegate: delegate, delegateQueue: forwarding)
  }
}

/// A type with a Foundation queue for its delegate: `URLSession`.
///
/// No other type needs to conform. With this protocol, you can read the property as a Headway queue.
public protocol _FoundationDelegateQueue: AnyObject {
  /// The delegate queue as Foundation's type.
  var _foundationDelegateQueue: Foundation.OperationQueue { get }
}

extension _FoundationDelegateQueue {
  /// The Headway queue that calls the delegate.
  ///
  /// This is the queue that was passed when the session was created. For a session without one, it is a queue that runs
  /// its operations in the session's own queue. If both types fit, the compiler prefers Foundation's property, so give
  /// the variable a type.
  public var delegateQueue: Headway.OperationQueue { _foundationDelegateQueue.headwayQueue }
}

extension URLSession: _FoundationDelegateQueue {
  /// The delegate queue as Foundation's type.
  public var _foundationDelegateQueue: Foundation.OperationQueue { delegateQueue }
}
