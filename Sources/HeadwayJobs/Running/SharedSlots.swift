import Headway
import Synchronization

/// The slots of operation queues that run the jobs of one or more workers of this process.
///
/// A worker counts the jobs that it holds. This object adds the counts of workers that share an operation queue, so
/// that together they claim no more jobs than the queue has slots. It also makes the workers take turns.
final class SharedSlots: Sendable {
  static let ofProcess = SharedSlots()

  /// The jobs that a worker has claimed for an operation queue, and how many of their operations are in the queue.
  struct Use {
    var heldCount = 0
    var addedCount = 0
    /// Whether the worker has no slot, and might find jobs to claim.
    var isWaiting = false
  }

  private struct Member {
    let bell: Doorbell
    var use = Use()
  }

  private struct Share {
    var members: [ObjectIdentifier: Member] = [:]
    /// The worker that has claimed jobs last.
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
  ///   - worker: The worker.
  ///   - body: Determines what the worker uses of each queue. It receives what the other workers use, or nil for a
  ///     queue whose next slot is for another worker. It is called with the lock.
  /// - Returns: The result of the function.
  func change<Result>(
    _ queues: [OperationQueue], by worker: AnyObject, _ body: (_ others: [Use?]) -> (uses: [Use], result: Result)
  ) -> Result {
    let id = ObjectIdentifier(worker)
    var bells: [Doorbell] = []
    let result = shares.withLock { shares in
      let others = queues.map { queue -> Use? in
        guard let share = shares[ObjectIdentifier(queue)], share.members.count > 1 else { return Use() }
        if share.last == id, let next = share.members.first(where: { $0.key != id && $0.value.use.isWaiting }) {
          // The worker waits for at most one turn of the other one, which might be unable to claim jobs.
          shares[ObjectIdentifier(queue)]?.last = next.key
          shares[ObjectIdentifier(queue)]?.members[next.key]?.use.isWaiting = false
          bells.append(next.value.bell)
          return nil
        }
        return share.members.reduce(into: Use()) { sum, member in
          guard member.key != id else { return }
          sum.heldCount += member.value.use.heldCount
          sum.addedCount += member.value.use.addedCount
        }
      }
      let (uses, result) = body(others)
      for (queue, use) in zip(queues, uses) {
        let before = shares[ObjectIdentifier(queue)]?.members[id]?.use.heldCount ?? 0
        if use.heldCount > before { shares[ObjectIdentifier(queue)]?.last = id }
        shares[ObjectIdentifier(queue)]?.members[id]?.use = use
      }
      return result
    }
    for bell in bells { bell.ring() }
    return result
  }
}
