public import Foundation
public import Headway
import Synchronization

extension Headway.OperationQueue {
  /// Makes a Foundation queue that hands its blocks and barriers on to this one, for code that takes Foundation's.
  ///
  /// Its settings are this queue's: limit, suspension, name, quality of service, underlying queue. Cancelling or
  /// waiting for all does so to this one. Operations of Foundation's that are added to it run on threads of
  /// Foundation's, since they can be in no queue of Headway's.
  ///
  /// - Returns: The Foundation queue, a new one at each call. It holds this one.
  public func foundationQueue() -> Foundation.OperationQueue { ForwardingQueue(to: self) }
}

extension Foundation.OperationQueue {
  /// A Headway queue for this one: that to which it hands on, if `foundationQueue()` made it; else one that runs its
  /// operations in this one.
  ///
  /// For the main queue it is the main queue. For others it is the same one as long as somebody holds it.
  public var headwayQueue: Headway.OperationQueue {
    if let forwarding = self as? ForwardingQueue { return forwarding.queue }
    if self === Foundation.OperationQueue.main { return .main }
    return QueuesOnFoundation.queue(on: self)
  }
}

/// Whether the Foundation queue, for instance that of a session, stands for the Headway one.
///
/// - Parameters:
///   - foundation: A Foundation queue.
///   - queue: A Headway queue.
/// - Returns: Whether `queue` is the first one's `headwayQueue`.
public func === (foundation: Foundation.OperationQueue?, queue: Headway.OperationQueue?) -> Bool {
  foundation?.headwayQueue as AnyObject? === queue as AnyObject?
}

/// Whether the Foundation queue, for instance that of a session, stands for the Headway one.
///
/// - Parameters:
///   - queue: A Headway queue.
///   - foundation: A Foundation queue.
/// - Returns: Whether `queue` is the second one's `headwayQueue`.
public func === (queue: Headway.OperationQueue?, foundation: Foundation.OperationQueue?) -> Bool {
  foundation === queue
}

/// Whether the Foundation queue stands for another one than the Headway one.
///
/// - Parameters:
///   - foundation: A Foundation queue.
///   - queue: A Headway queue.
/// - Returns: Whether `queue` is not the first one's `headwayQueue`.
public func !== (foundation: Foundation.OperationQueue?, queue: Headway.OperationQueue?) -> Bool {
  !(foundation === queue)
}

/// Whether the Foundation queue stands for another one than the Headway one.
///
/// - Parameters:
///   - queue: A Headway queue.
///   - foundation: A Foundation queue.
/// - Returns: Whether `queue` is not the second one's `headwayQueue`.
public func !== (queue: Headway.OperationQueue?, foundation: Foundation.OperationQueue?) -> Bool {
  !(foundation === queue)
}

/// A Foundation queue that hands on to a Headway one.
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

  // By the Foundation queue, which lives as long as the Headway one, whose executor holds it.
  private static let state = Mutex(State())

  private struct State {
    var references: [ObjectIdentifier: Reference] = [:]
    /// Those whose queue is gone are removed when there are so many.
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
