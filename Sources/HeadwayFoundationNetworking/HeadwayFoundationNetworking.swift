// `import HeadwayFoundationNetworking` in place of `import FoundationNetworking`: all of that, and sessions that call
// their delegates in a queue of Headway's. It is a module by itself since FoundationNetworking brings a network stack.

@_exported public import HeadwayFoundation

#if canImport(FoundationNetworking)
@_exported public import FoundationNetworking
#endif

extension URLSession {
  /// Creates a session that calls its delegate and completion handlers in a queue.
  ///
  /// The queue should run one operation at a time, so that the calls come in order.
  ///
  /// - Parameters:
  ///   - configuration: How it loads.
  ///   - delegate: What it calls.
  ///   - queue: Where it calls it.
  public convenience init(
    configuration: URLSessionConfiguration, delegate: (any URLSessionDelegate)?,
    delegateQueue queue: Headway.OperationQueue
  ) {
    let forwarding: Foundation.OperationQueue = queue.foundationQueue()
    self.init(configuration: configuration, delegate: delegate, delegateQueue: forwarding)
  }

  /// Creates a session that calls its delegate and completion handlers in a queue, or, if there is none, in one of its
  /// own.
  ///
  /// - Parameters:
  ///   - configuration: How it loads.
  ///   - delegate: What it calls.
  ///   - queue: Where it calls it, or nil.
  public convenience init<Queue: OperationQueueOrNone>(
    configuration: URLSessionConfiguration, delegate: (any URLSessionDelegate)?, delegateQueue queue: Queue
  ) {
    let forwarding: Foundation.OperationQueue? = queue.operationQueueIfAny?.foundationQueue()
    self.init(configuration: configuration, delegate: delegate, delegateQueue: forwarding)
  }
}

/// What has a queue of Foundation's for its delegate: `URLSession`.
///
/// Nothing else need conform. With this, the property can be read as a queue of Headway's.
public protocol FoundationDelegateQueue: AnyObject {
  /// That of Foundation's.
  var foundationDelegateQueue: Foundation.OperationQueue { get }
}

extension FoundationDelegateQueue {
  /// The queue in which the delegate is called, as one of Headway's: that with which the session was created.
  ///
  /// Of a session that was created without one, it is a queue that runs operations in the session's own. Where both
  /// types fit, Foundation's property is preferred: give the variable a type.
  public var delegateQueue: Headway.OperationQueue { foundationDelegateQueue.headwayQueue }
}

extension URLSession: FoundationDelegateQueue {
  /// That of Foundation's.
  public var foundationDelegateQueue: Foundation.OperationQueue { delegateQueue }
}
