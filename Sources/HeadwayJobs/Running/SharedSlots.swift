import Headway
import Synchronization

/// The slots of operation queues that run the jobs of one or more workers in this process.
///
/// A worker counts the jobs that it holds. This object adds the counts of workers that share an operation queue, so
/// together they claim at most as many jobs as the queue has slots. It also makes the workers take turns.
final class SharedSlots: Sendable {
  static let ofProcess = SharedSlots()

  /// The jobs that a worker has claimed for an operation queue, and how many of their operations are in the queue.
  struct Use {
    var heldCount = 0
    var addedCount = 0
    /// Whether the worker has no slot, and might find jobs to claim.
    var isWaiting = false
    /// The number of workers.
    var workerCount = 0
  }

  /// An operation queue, with the number of operations that can run at a time and the number of operations in the
  /// queue.
  struct Queue {
    let queue: OperationQueue
    let limit: Int
    let operationCount: Int
  }

  fileprivate struct Member {
    let bell: Doorbell
    var use = Use()
  }

  fileprivate struct Share {
    var members: [ObjectIdentifier: Member] = [:]
    /// The worker that claimed jobs last.
    var last: ObjectIdentifier?
  }

  private let shares = Mutex<[ObjectIdentifier: Share]>([:])

  /// Adds a worker to operation queues, which must exist until it leaves.
  func join(_ queues: [OperationQueue], _ worker: AnyObject, _ bell: Doorbell) {
    shares.withLock { shares in
      for queue in queues {
        shares[ObjectIdentifier(queue), default: Share()].members[ObjectIdentifier(worker)] = Member(bell: bell)
      }
    }
  }

  /// Removes a worker.
  func leave(_ queues: [OperationQueue], _ worker: AnyObject) {
    let bells = shares.withLock { shares in
      for queue in queues {
        let id = ObjectIdentifier(queue)
        shares[id]?.members[ObjectIdentifier(worker)] = nil
        if shares[id]?.members.isEmpty == true { shares[id] = nil }
      }
      return queues.flatMap { shares[ObjectIdentifier($0)]?.members.values.map(\.bell) ?? [] }
    }
    for bell in bells { bell.ring() }
  }

  /// Changes what a worker uses.
  ///
  /// - Parameters:
  ///   - queues: The operation queues of the worker.
  ///   - uses: The worker's use of each queue until now.
  ///   - worker: The object that identifies the worker.
  ///   - body: Returns the worker's use of each queue from now on. It receives the use of the other workers, or nil for
  ///   a queue whose next slot is for another worker. It is called with the lock held.
  /// - Returns: The result of the function.
  func change<Result>(
    _ queues: [Queue], from uses: [Use], by worker: AnyObject,
    _ body: (_ others: [Use?]) -> (uses: [Use], result: Result)
  ) -> Result {
    let id = ObjectIdentifier(worker)
    var bells: [Doorbell] = []
    let result = shares.withLock { shares in
      let others = zip(queues, uses).map { queue, use -> Use? in
        shares[ObjectIdentifier(queue.queue), default: Share()].others(of: id, use, queue) { bells.append($0) }
      }
      let (uses, result) = body(others)
      for (queue, use) in zip(queues, uses) { shares[ObjectIdentifier(queue.queue)]?.note(use, of: id) }
      return result
    }
    for bell in bells { bell.ring() }
    return result
  }
}

extension SharedSlots.Share {
  /// Returns the use of other workers; nil if the next slot is for one of them, whose bell the function passes on.
  fileprivate mutating func others(
    of id: ObjectIdentifier, _ own: SharedSlots.Use, _ queue: SharedSlots.Queue, _ ring: (Doorbell) -> Void
  ) -> SharedSlots.Use? {
    members[id]?.use = own
    guard members.count > 1 else { return SharedSlots.Use() }
    var sum = SharedSlots.Use()
    for member in members where member.key != id {
      sum.heldCount += member.value.use.heldCount
      sum.addedCount += member.value.use.addedCount
      sum.workerCount += 1
    }
    let otherCount = max(0, queue.operationCount - sum.addedCount - own.addedCount)
    if last == id, sum.heldCount + own.heldCount + otherCount < queue.limit,
      let next = members.first(where: { $0.key != id && $0.value.use.isWaiting })
    {
      // The worker gives the other worker only one turn, because that worker might be unable to claim jobs. Clearing
      // `last` prevents the other worker from passing the turn back.
      last = nil
      members[next.key]?.use.isWaiting = false
      ring(next.value.bell)
      return nil
    }
    return sum
  }

  fileprivate mutating func note(_ use: SharedSlots.Use, of id: ObjectIdentifier) {
    if use.heldCount > members[id]?.use.heldCount ?? 0 { last = id }
    members[id]?.use = use
  }
}
