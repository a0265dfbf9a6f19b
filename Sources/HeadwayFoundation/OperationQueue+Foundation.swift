public import Foundation
public import Headway
import Synchronization

extension Headway.OperationQueue {
  /// Creates a Foundation queue that passes its blocks and barriers to this one, for code that requires Foundation's.
  ///
  /// It shares the settings of this queue: limit, suspension, name, quality of service, and underlying queue.
  /// Cancelling all operations, or waiting for them, does the same in this queue. Foundation operations that you add to
  /// it run on Foundation's threads, because they can't be in a Headway queue.
  ///
  /// - Returns: The Foundation queue, a new object for each call. It retains this queue.
  public func makeFoundationQueue() -> Foundation.OperationQueue { ForwardingQueue(to: self) }
}

extension Foundation.OperationQueue {
  /// A Headway queue for this one.
  ///
  /// If `makeFoundationQueue()` created this queue, it is the queue that receives its operations. For the main queue,
  /// it is the main queue. For other queues, it is a queue that runs its operations in this one; it is the same queue
  /// as long as it is retained.
  public var headwayQueue: Headway.OperationQueue {
    if let forwarding = self as? ForwardingQueue { return forwarding.queue }
    if self === Foundation.OperationQueue.main { return .main }
    return QueuesOnFoundation.queue(on: self)
  }
}

/// Returns whether a Foundation queue, for example a session's queue, represents a Headway queue.
///
/// - Parameters:
///   - foundation: The Foundation queue to compare.
///   - queue: The Headway queue to compare.
/// - Returns: True if `queue` is the `headwayQueue` of the first argument.
public func === (foundation: Foundation.OperationQueue?, queue: Headway.OperationQueue?) -> Bool {
  foundation?.headwayQueue as AnyObject? === queue as AnyObject?
}

/// Returns whether a Foundation queue, for example a session's queue, represents a Headway queue.
///
/// - Parameters:
///   - queue: The Headway queue to compare.
///   - foundation: The Foundation queue to compare.
/// - Returns: True if `queue` is the `headwayQueue` of the second argument.
public func === (queue: Headway.OperationQueue?, foundation: Foundation.OperationQueue?) -> Bool {
  foundation === queue
}

/// Returns whether a Foundation queue represents a different queue than a Headway queue.
///
/// - Parameters:
///   - foundation: The Foundation queue to compare.
///   - queue: The Headway queue to compare.
/// - Returns: True if `queue` is not the `headwayQueue` of the first argument.
public func !== (foundation: Foundation.OperationQueue?, queue: Headway.OperationQueue?) -> Bool {
  !(foundation === queue)
}

/// Returns whether a Foundation queue represents a different queue than a Headway queue.
///
/// - Parameters:
///   - queue: The Headway queue to compare.
///   - foundation: The Foundation queue to compare.
/// - Returns: True if `queue` is not the `headwayQueue` of the second argument.
public func !== (queue: Headway.OperationQueue?, foundation: Foundation.OperationQueue?) -> Bool {
  !(foundation === queue)
}

/// A Foundation queue that passes its operations to a Headway queue.
private final class ForwardingQueue: Foundation.OperationQueue, @unchecked Sendable {
  let queue: Headway.OperationQueue

  init(to queue: Headway.OperationQueue) {
    self.queue = queue
    super.init()
  }

  override func addOperation(_ block: @escaping @Sendable () -> Void) { queue.addOperation(block) }

  override func addBarrierBlock(_ barrier: @escaping @Sendable () -> Void) { queue.addBarrierBlock(barrier) }

  override func cancelAllOperations() {
    super.cancelAllOperations()
    queue.cancelAllOperations()
  }

  override func waitUntilAllOperationsAreFinished() {
    super.waitUntilAllOperationsAreFinished()
    queue.waitUntilAllOperationsAreFinished()
  }

  override var maxConcurrentOperationCount: Int {
    get { queue.maxConcurrentOperationCount }
    set {
      super.maxConcurrentOperationCount = newValue
      queue.maxConcurrentOperationCount = newValue
    }
  }

  override var isSuspended: Bool {
    get { queue.isSuspended }
    set {
      super.isSuspended = newValue
      queue.isSuspended = newValue
    }
  }

  override var name: String? {
    get { queue.name }
    set { queue.name = newValue }
  }

  override var qualityOfService: Foundation.QualityOfService {
    get { Foundation.QualityOfService(queue.qualityOfService) }
    set { queue.qualityOfService = Headway.QualityOfService(newValue) }
  }

  override var underlyingQueue: DispatchQueue? {
    get { queue.underlyingQueue }
    set { queue.underlyingQueue = newValue }
  }
}

/// The Headway queues that run their operations in a Foundation queue.
private enum QueuesOnFoundation {
  private struct Reference: @unchecked Sendable {  // A weak reference, which the runtime protects.
    weak var queue: Headway.OperationQueue?
  }

  // The key is the Foundation queue. It lives as long as the Headway queue, because the executor of the Headway queue
  // retains it.
  private static let state = Mutex(State())

  private struct State {
    var references: [ObjectIdentifier: Reference] = [:]
    /// When there are this many references, those without a queue are removed.
    var sweepCount = 16

    mutating func removeFormerIfMany() {
      guard references.count >= sweepCount else { return }
      references = references.filter { $0.value.queue != nil }
      sweepCount = 2 * references.count + 16
    }
  }

  static func queue(on foundation: Foundation.OperationQueue) -> Headway.OperationQueue {
    state.withLock { state in
      if let known = state.references[ObjectIdentifier(foundation)]?.queue { return known }
      let made = Headway.OperationQueue()
      made.executor = BlockExecutor { foundation.addOperation($0) }
      state.removeFormerIfMany()
      state.references[ObjectIdentifier(foundation)] = Reference(queue: made)
      return made
    }
  }
}
