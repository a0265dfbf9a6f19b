/// Decides how many jobs a worker claims for each of its queues.
///
/// It has no lock, no thread and no clock.
///
/// A queue has one lane for the jobs that run alone, and one lane for each kind whose jobs run together. A claim for
/// such a kind requests as many jobs as can run together and uses one slot.
///
/// A worker holds the jobs that it has claimed and not ended. It claims as many as it has slots. In addition, it claims
/// as many ahead as it has ended in a period of 50 ms, up to ``maxAhead``. Therefore, a worker with long jobs claims
/// none that another worker could run, and a worker with short jobs does not wait for the store. Queues that share an
/// operation queue share its slots.
struct Claimer {
  /// Kinds whose jobs run together.
  struct Chunk {
    /// The kind and its aliases, with the newest version.
    let kinds: [JobKind: Int]
    let size: JobChunk
  }

  /// A queue of the store, or some of its kinds.
  struct Lane {
    let queue: String
    /// The kinds whose jobs run together; nil for the other kinds.
    let chunk: Chunk?
    /// The index of its slots.
    let group: Int
    /// Whether the queue was found by a pattern.
    ///
    /// Such a queue is no longer served after it has had no jobs for a while.
    fileprivate(set) var isTemporary = false
    /// Whether the queue is served.
    ///
    /// If not, another queue can take this place.
    var isServed = true
    /// The time since which jobs might wait to run together, and whether the wait for further jobs has ended.
    fileprivate var chunkStart: Duration?
    fileprivate var isReady = false
    /// The number of claimed jobs that have not ended.
    fileprivate var heldCount = 0
    /// When the queue was added, or its last job ended.
    fileprivate var lastUse = Duration.zero
    /// Whether there might be jobs to claim.
    ///
    /// It is false after a claim that returned fewer jobs than requested.
    var mayHaveMore = true
    /// Whether a claim has returned no jobs since ``Claimer/claimExhaustively()`` was called.
    fileprivate var isAnswered = false
    /// Whether a claim that allows a suspect has returned no jobs since ``Claimer/claimExhaustively()`` was called.
    fileprivate var isAnsweredForSuspects = false
    /// The number of hints so far, and the number when the last claim was sent.
    ///
    /// A hint that arrives during a claim might announce jobs that were not visible to the claim.
    fileprivate var hintCount = 0
    fileprivate var hintCountAtClaim = 0
  }

  /// The slots of an operation queue, which runs the jobs of one or more queues of the store.
  struct Group {
    /// The number of queues that share the slots.
    var laneCount = 0
    /// The number of jobs that can run at a time.
    var slots = 0
    /// Whether the operation queue runs operations: it is not suspended or closed, and its limit is not 0.
    fileprivate var isOpen = false
    /// Whether jobs can be claimed ahead, because no other worker uses the operation queue.
    fileprivate var canClaimAhead = true
    /// Whether other operations, or other workers, use slots of the operation queue.
    fileprivate(set) var areUsedByOthers = false
    /// The number of claimed jobs that have not ended.
    fileprivate(set) var heldCount = 0
    /// The number of claimed jobs whose operations are in the operation queue, or have ended recently.
    fileprivate(set) var addedCount = 0
    /// The numbers of ended jobs in the current and in the last period.
    fileprivate var ended = 0
    fileprivate var endedBefore = 0
    fileprivate var period: Int64 = 0
  }

  // Only this type and its extensions change them.
  var lanes: [Lane] = []
  var groups: [Group] = []
  /// The indices of the queues that are served.
  ///
  /// Names that differ only in their bytes have one entry, because hints do not distinguish them.
  var indices: [String: [Int]] = [:]
  /// The number of suspects that the worker holds or might receive.
  private(set) var suspectCount = 0
  /// Whether the worker claims no jobs, because it is stopping or has too many unrecorded endings.
  var isStopped = false
  /// Whether each queue is claimed until one claim has returned no jobs, regardless of hints.
  private var isExhaustive = false
  /// Whether jobs are claimed ahead.
  private let claimsAhead: Bool
  private let kinds: [JobKind: Int]
  private let chunks: [Chunk]
  /// The first queue whose claim can return a suspect, so that the queues take turns.
  private var suspectTurn = 0
  /// The first queue of an exchange, so that queues with the same slots take turns.
  private var turn = 0

  static let maxAhead = 512
  /// More slots make no difference, and sums with `Int.max` would overflow.
  private static let maxSlots = Int(Int32.max)
  static let periodLength = Duration.milliseconds(50)

  /// Creates a claimer.
  ///
  /// - Parameters:
  ///   - queues: The queues of the store.
  ///   - groups: The index of the slots of each queue. By default, each queue has its own slots.
  ///   - kinds: The kinds that the worker supports and whose jobs run alone, with the newest version of each.
  ///   - chunks: The kinds whose jobs run together.
  ///   - claimsAhead: Whether jobs are claimed ahead.
  init(
    queues: [String], groups: [Int]? = nil, kinds: [JobKind: Int], chunks: [Chunk] = [], claimsAhead: Bool = true
  ) {
    self.claimsAhead = claimsAhead
    self.kinds = kinds
    self.chunks = chunks
    for (queue, group) in zip(queues, groups ?? Array(queues.indices)) { add(queue, group, isTemporary: false, .zero) }
  }

  // MARK: Queues

  /// Adds the lanes of a queue: one for the jobs that run alone, and one for each kind whose jobs run together.
  mutating func add(_ queue: String, _ group: Int, isTemporary: Bool, _ time: Duration) {
    let hasSingles = !kinds.isEmpty || chunks.isEmpty
    while groups.count <= group { groups.append(Group()) }
    for chunk in (hasSingles ? [nil] : []) + chunks.map(Optional.some) {
      let lane = Lane(queue: queue, chunk: chunk, group: group, isTemporary: isTemporary, lastUse: time)
      let index = lanes.firstIndex { !$0.isServed } ?? lanes.count
      if index == lanes.count { lanes.append(lane) } else { lanes[index] = lane }
      indices[queue, default: []].append(index)
      groups[group].laneCount += 1
    }
  }

  // MARK: Claims

  /// The claims to send now.
  ///
  /// The requested jobs count as held until ``claimed(_:by:lanes:)`` is called.
  mutating func claims(at time: Duration) -> [(lane: Int, claim: JobClaim)] {
    guard !isStopped else { return [] }
    for index in groups.indices { groups[index].advance(to: time) }
    for index in lanes.indices where lanes[index].chunk != nil { lanes[index].wait(at: time, isExhaustive) }
    var claims: [(lane: Int, claim: JobClaim)] = []
    let (laneForSuspect, before, first) = (laneForSuspect, groups, turn)
    var left = JobCommand.maxChangedCount
    // The slots for the chunks of this request.
    var reserved = [Int](repeating: 0, count: groups.count)
    for offset in lanes.indices {
      let index = (first + offset) % lanes.count
      let lane = lanes[index]
      guard lane.isServed else { continue }
      var group = before[lane.group]
      if let chunk = lane.chunk {
        // Without a free slot, a queue has at most one call ahead. Otherwise, jobs that are claimed ahead could always
        // use all slots.
        let hasSlot = groups[lane.group].heldCount < group.slots
        let canBeAhead = lane.heldCount == 0 && group.slots > 0
        guard isWanted(index, forSuspect: index == laneForSuspect),
          hasSlot || canBeAhead && groups[lane.group].heldCount < group.slots + group.ahead
        else { continue }
        let count = min(chunk.size.count, left)
        guard count > 0, claims.count < JobCommand.maxChangedCount else {
          turn = index
          break
        }
        left -= count
        reserved[lane.group] += 1
        groups[lane.group].heldCount += 1
        let allowsSuspect = hasSlot && index == laneForSuspect
        claims.append((index, claim(index, count, allowsSuspect: allowsSuspect, freeSlotCount: hasSlot ? count : 0)))
        continue
      }
      group.heldCount += reserved[lane.group]
      var count = group.slots + group.ahead - group.heldCount
      // A few free places for jobs ahead are not worth a request.
      guard isWanted(index, forSuspect: index == laneForSuspect), group.slots > 0, count > 0,
        group.heldCount < group.slots || count * 2 >= group.ahead
      else { continue }
      // The jobs that earlier claims of the group can return.
      let granted = groups[lane.group].heldCount - group.heldCount
      count = granted > 0 ? granted : min(count, left)
      guard count > 0, claims.count < JobCommand.maxChangedCount else {
        // The next request begins with this queue.
        turn = index
        break
      }
      if granted == 0 { left -= count }
      // The claims of a group return at most this number in total.
      groups[lane.group].heldCount = group.heldCount + count
      // Suspects are not claimed ahead.
      let freeSlotCount = min(count, max(0, group.slots - group.heldCount))
      claims.append(
        (index, claim(index, count, allowsSuspect: index == laneForSuspect, freeSlotCount: freeSlotCount)))
    }
    return claims
  }

  private mutating func claim(_ index: Int, _ count: Int, allowsSuspect: Bool, freeSlotCount: Int) -> JobClaim {
    if allowsSuspect { suspectCount += 1 }
    lanes[index].hintCountAtClaim = lanes[index].hintCount
    let lane = lanes[index]
    let sharesCount = lane.chunk == nil && groups[lane.group].isShared
    return JobClaim(
      queue: lane.queue, count: count, allowsSuspect: allowsSuspect, freeSlotCount: freeSlotCount,
      kinds: lane.chunk?.kinds ?? kinds, group: sharesCount ? lane.group : nil, isExhaustive: isExhaustive)
  }

  /// When the next claim of jobs that run together is sent if there are no further hints; nil if none waits.
  var nextChunkTime: Duration? {
    lanes.lazy.filter { $0.isServed && $0.mayHaveMore && !$0.isReady }.compactMap { lane in
      lane.chunk.flatMap { chunk in lane.chunkStart.map { $0 + chunk.size.wait } }
    }.min()
  }

  /// The queue that can return a suspect: the next queue, in turn, that has a free slot.
  private var laneForSuspect: Int? {
    guard suspectCount == 0 else { return nil }
    let order = lanes.indices.map { ($0 + suspectTurn) % lanes.count }
    return order.first { index in
      guard isWanted(index, forSuspect: true) else { return false }
      let group = groups[lanes[index].group]
      return group.heldCount < group.slots
    }
  }

  /// Whether the next exchange claims jobs of a queue.
  private func isWanted(_ index: Int, forSuspect: Bool) -> Bool {
    let lane = lanes[index]
    guard lane.isServed, lane.chunk == nil || lane.isReady else { return false }
    guard isExhaustive else { return lane.mayHaveMore }
    return !lane.isAnswered || forSuspect && !lane.isAnsweredForSuspects
  }

  /// Notes the jobs that the claims of an exchange have returned; nil if the request has failed.
  mutating func claimed(_ claimed: [[JobRecord]]?, by claims: [JobClaim], lanes indices: [Int]) {
    var left: [Int: Int] = [:]
    for (number, (claim, index)) in zip(claims, indices).enumerated() {
      let (group, jobs) = (lanes[index].group, claimed?[number])
      let isChunk = lanes[index].chunk != nil
      let possible = isChunk ? claim.count : left[group] ?? claim.count
      let count = jobs?.count ?? 0
      lanes[index].heldCount += count
      if isChunk {
        noteChunk(jobs, index, isFull: count == claim.count)
      } else {
        left[group] = possible - count
      }
      // After a failure, the worker sends another request. A queue without room for its jobs was not read.
      if jobs != nil, count < possible, lanes[index].hintCount == lanes[index].hintCountAtClaim {
        lanes[index].mayHaveMore = false
      }
      if count > 0, groups[group].isShared { turn = (index + 1) % lanes.count }
      if claim.allowsSuspect { suspectTurn = (index + 1) % lanes.count }
      if jobs != nil, count == 0, possible > 0 {
        lanes[index].isAnswered = true
        if claim.allowsSuspect { lanes[index].isAnsweredForSuspects = true }
      }
      if claim.allowsSuspect, jobs?.contains(where: { $0.crashCount > 0 }) != true { suspectCount -= 1 }
    }
    for (group, count) in left { groups[group].heldCount -= count }
  }

  /// Notes the slots of jobs that run together: one slot for all of them, and another slot for a suspect, which runs
  /// alone.
  private mutating func noteChunk(_ jobs: [JobRecord]?, _ index: Int, isFull: Bool) {
    let (jobs, isFailure) = (jobs ?? [], jobs == nil)
    let suspectCount = jobs.count { $0.crashCount > 0 }
    groups[lanes[index].group].heldCount += suspectCount + (jobs.count > suspectCount ? 1 : 0) - 1
    // After a full chunk, the next one does not wait.
    if !isFull, !isFailure { (lanes[index].chunkStart, lanes[index].isReady) = (nil, false) }
  }

  /// Notes that the operation of a claimed job is about to be added to its operation queue.
  mutating func added(lane index: Int) { groups[lanes[index].group].addedCount += 1 }

  /// Notes that an attempt has ended, or that its job was given back.
  ///
  /// - Parameters:
  ///   - index: The index of the job's queue.
  ///   - isSuspect: Whether the job was a suspect.
  ///   - holdsSlot: Whether the slot of the job is now free. Of several jobs that run together, only one holds the
  ///     slot.
  ///   - wasAdded: Whether ``added(lane:)`` was called for the job.
  ///   - hasRun: Whether the job was not given back.
  ///   - time: The time of the worker's clock.
  mutating func ended(
    lane index: Int, isSuspect: Bool, holdsSlot: Bool = true, wasAdded: Bool = true, hasRun: Bool = true,
    at time: Duration
  ) {
    let group = lanes[index].group
    lanes[index].heldCount -= 1
    lanes[index].lastUse = time
    guard holdsSlot else { return }
    groups[group].advance(to: time)
    if hasRun { groups[group].ended += 1 }
    if wasAdded { groups[group].addedCount -= 1 }
    groups[group].heldCount -= 1
    guard isSuspect else { return }
    suspectCount -= 1
    // The next suspect can now be claimed from any queue.
    noteClaimable(nil)
  }

  /// Notes that a queue might have jobs again; nil for all queues.
  ///
  /// - Returns: Whether the queue is served.
  @discardableResult
  mutating func noteClaimable(_ queue: String?) -> Bool {
    let noted = queue.map { indices[$0] ?? [] } ?? Array(lanes.indices)
    for index in noted {
      lanes[index].mayHaveMore = true
      lanes[index].hintCount += 1
    }
    return !noted.isEmpty
  }

  /// Makes the next exchanges claim jobs of each queue until a claim that allows a suspect has returned none.
  ///
  /// Hints have no effect until ``claimByHints()`` is called. Therefore, the claims end, even if hints arrive steadily.
  mutating func claimExhaustively() {
    isExhaustive = true
    for index in lanes.indices { (lanes[index].isAnswered, lanes[index].isAnsweredForSuspects) = (false, false) }
    noteClaimable(nil)
  }

  /// Makes the next exchanges claim jobs of the queues that might have jobs.
  mutating func claimByHints() { isExhaustive = false }

  /// Whether claims for all operation queues that run operations have returned no jobs since
  /// ``claimExhaustively()`` was called, including claims that allow suspects.
  ///
  /// An exchange allows a suspect for only one of its queues. If this property is false, the worker holds no jobs, and
  /// there is nothing to send, the remaining claims wait only for slots that other operations or other workers use.
  var isExhausted: Bool {
    lanes.allSatisfy { lane in
      lane.isAnswered && lane.isAnsweredForSuspects || !lane.isServed || !groups[lane.group].isOpen
    }
  }

  /// Sets the slots that an operation queue has for jobs of this worker.
  ///
  /// - Parameters:
  ///   - limit: The number of operations that can run at a time.
  ///   - operationCount: The number of operations in the queue. Operations that don't run jobs also use slots.
  ///   - others: The slots that other workers of the process use; nil if the next slot is for one of them.
  ///   - group: The index of the slots.
  mutating func setSlots(
    _ limit: Int, besides operationCount: Int = 0, _ others: SharedSlots.Use? = SharedSlots.Use(), group: Int
  ) {
    groups[group].isOpen = limit > 0
    guard let others else { return (groups[group].slots, groups[group].areUsedByOthers) = (0, true) }
    groups[group].canClaimAhead = claimsAhead && others.workerCount == 0
    let addedCount = groups[group].addedCount + others.addedCount
    let otherCount = max(0, operationCount - addedCount) + others.heldCount
    groups[group].slots = max(0, min(limit, Self.maxSlots) - otherCount)
    groups[group].areUsedByOthers = otherCount > 0
  }

  /// The worker's use of each operation queue.
  var uses: [SharedSlots.Use] {
    groups.indices.map { index in
      let group = groups[index]
      let isWaiting =
        group.areUsedByOthers && group.heldCount >= group.slots
        && lanes.indices.contains { lanes[$0].group == index && isWanted($0, forSuspect: true) }
      return SharedSlots.Use(heldCount: group.heldCount, addedCount: group.addedCount, isWaiting: isWaiting)
    }
  }

  /// Returns the number of jobs that the worker holds but would not claim now.
  mutating func surplus(ofGroup group: Int, at time: Duration) -> Int {
    groups[group].advance(to: time)
    let ahead = groups[group].slots == 0 ? 0 : groups[group].ahead
    return max(0, groups[group].heldCount - groups[group].slots - ahead)
  }
}

extension Claimer.Lane {
  fileprivate init(queue: String, chunk: Claimer.Chunk?, group: Int, isTemporary: Bool, lastUse: Duration) {
    (self.queue, self.chunk, self.group) = (queue, chunk, group)
    (self.isTemporary, self.lastUse) = (isTemporary, lastUse)
  }

  /// Whether the queue was found by a pattern and has had no jobs for a while.
  func isIdle(at time: Duration) -> Bool {
    isTemporary && heldCount == 0 && !mayHaveMore && time - lastUse >= Claimer.maxIdleTime
  }

  /// Begins to wait for further jobs that run together, or stops waiting.
  fileprivate mutating func wait(at time: Duration, _ isExhaustive: Bool) {
    guard mayHaveMore || isExhaustive, let chunk else { return }
    let start = chunkStart ?? time
    chunkStart = start
    isReady = isReady || isExhaustive || time - start >= chunk.size.wait
  }
}

extension Claimer.Group {
  /// Whether several queues share the slots.
  var isShared: Bool { laneCount > 1 }

  fileprivate var ahead: Int { canClaimAhead ? min(max(ended, endedBefore), Claimer.maxAhead) : 0 }

  /// Begins a new period if the last period has ended.
  fileprivate mutating func advance(to time: Duration) {
    let now = Int64(time / Claimer.periodLength)
    guard now != period else { return }
    endedBefore = now == period + 1 ? ended : 0
    ended = 0
    period = now
  }
}
