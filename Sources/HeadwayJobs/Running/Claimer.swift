/// Decides how many jobs a worker claims for each of its queues.
///
/// It has no lock, no thread and no clock.
///
/// A worker holds the jobs that it has claimed and not ended. It claims as many as it has slots. In addition, it claims
/// as many ahead as it has ended in a period of 50 ms, up to ``maxAhead``. Therefore, a worker with long jobs claims
/// none that another worker could run, and a worker with short jobs does not wait for the store.
struct Claimer {
  /// A queue of the store.
  struct Lane {
    let queue: String
    /// The number of jobs that can run at a time.
    var slots = 0
    /// The number of claimed jobs that have not ended.
    var heldCount = 0
    /// Whether there might be jobs to claim.
    ///
    /// It is false after a claim that returned fewer jobs than requested.
    var mayHaveMore = true
    /// The number of hints so far, and the number when the last claim was sent.
    ///
    /// A hint that arrives during a claim might announce jobs that were not visible to the claim.
    fileprivate var hintCount = 0
    fileprivate var hintCountAtClaim = 0
    /// The numbers of ended jobs in the current and in the last period.
    fileprivate var ended = 0
    fileprivate var endedBefore = 0
    fileprivate var period: Int64 = 0
  }

  private(set) var lanes: [Lane]
  /// The number of suspects that the worker holds or might receive.
  private(set) var suspectCount = 0
  /// Whether the worker claims no jobs, because it is stopping or has too many unrecorded endings.
  var isStopped = false
  private let kinds: [JobKind: Int]
  /// The first queue whose claim can return a suspect, so that the queues take turns.
  private var suspectTurn = 0

  static let maxAhead = 512
  /// More slots make no difference, and sums with `Int.max` would overflow.
  private static let maxSlots = Int(Int32.max)
  static let periodLength = Duration.milliseconds(50)

  init(queues: [String], kinds: [JobKind: Int]) {
    lanes = queues.map { Lane(queue: $0) }
    self.kinds = kinds
  }

  /// The claims to send now.
  ///
  /// The requested jobs count as held until ``claimed(_:by:lane:)`` is called.
  mutating func claims(at time: Duration) -> [(lane: Int, claim: JobClaim)] {
    guard !isStopped else { return [] }
    var claims: [(lane: Int, claim: JobClaim)] = []
    let laneForSuspect = laneForSuspect
    for index in lanes.indices where lanes[index].mayHaveMore && lanes[index].slots > 0 {
      lanes[index].advance(to: time)
      let lane = lanes[index]
      let count = lane.slots + lane.ahead - lane.heldCount
      // A few free places for jobs ahead are not worth a request.
      guard count > 0, lane.heldCount < lane.slots || count * 2 >= lane.ahead else { continue }
      let allowsSuspect = index == laneForSuspect
      if allowsSuspect { suspectCount += 1 }
      lanes[index].heldCount += count
      lanes[index].hintCountAtClaim = lanes[index].hintCount
      // Suspects are not claimed ahead.
      let freeSlotCount = min(count, max(0, lane.slots - lane.heldCount))
      let claim = JobClaim(
        queue: lane.queue, count: count, allowsSuspect: allowsSuspect, freeSlotCount: freeSlotCount, kinds: kinds)
      claims.append((index, claim))
    }
    return claims
  }

  /// The queue that can return a suspect: the next one, in turn, that has a free slot.
  private var laneForSuspect: Int? {
    guard suspectCount == 0 else { return nil }
    let order = lanes.indices.map { ($0 + suspectTurn) % lanes.count }
    return order.first { lanes[$0].mayHaveMore && lanes[$0].heldCount < lanes[$0].slots }
  }

  /// Notes the jobs that a claim has returned; nil if the request has failed.
  mutating func claimed(_ jobs: [JobRecord]?, by claim: JobClaim, lane index: Int) {
    let count = jobs?.count ?? 0
    lanes[index].heldCount -= claim.count - count
    // After a failure, the worker sends another request.
    if jobs != nil, count < claim.count, lanes[index].hintCount == lanes[index].hintCountAtClaim {
      lanes[index].mayHaveMore = false
    }
    if claim.allowsSuspect { suspectTurn = (index + 1) % lanes.count }
    if claim.allowsSuspect, jobs?.contains(where: { $0.crashCount > 0 }) != true { suspectCount -= 1 }
  }

  /// Notes that an attempt has ended, or that its job was given back.
  mutating func ended(lane index: Int, isSuspect: Bool, at time: Duration) {
    lanes[index].advance(to: time)
    lanes[index].ended += 1
    lanes[index].heldCount -= 1
    guard isSuspect else { return }
    suspectCount -= 1
    // The next suspect can now be claimed from any queue.
    noteClaimable(nil)
  }

  /// Notes that a queue might have jobs again; nil for all queues.
  mutating func noteClaimable(_ queue: String?) {
    for index in lanes.indices where queue == nil || lanes[index].queue == queue {
      lanes[index].mayHaveMore = true
      lanes[index].hintCount += 1
    }
  }

  mutating func setSlots(_ slots: Int, lane index: Int) { lanes[index].slots = min(slots, Self.maxSlots) }
}

extension Claimer.Lane {
  fileprivate var ahead: Int { min(max(ended, endedBefore), Claimer.maxAhead) }

  /// Begins a new period if the last one is over.
  fileprivate mutating func advance(to time: Duration) {
    let now = Int64(time / Claimer.periodLength)
    guard now != period else { return }
    endedBefore = now == period + 1 ? ended : 0
    ended = 0
    period = now
  }
}
