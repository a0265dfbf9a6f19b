import HeadwayTestKit
import Testing

@_spi(JobStore) @testable import HeadwayJobs

/// How many jobs a worker claims.
@Suite struct ClaimerTests {
  private var claimer = Claimer(queues: ["default"], kinds: ["test": 1])

  @Test("J22: a worker claims as many jobs as it has free slots")
  mutating func slots() throws {
    claimer.setSlots(3, group: 0)
    let claim = try #require(claimer.claims(at: .zero).first).claim
    #expect(claim == JobClaim(queue: "default", count: 3, allowsSuspect: true, kinds: ["test": 1]))
    claimer.claimed([records(3)], by: [claim], lanes: [0])
    #expect(claimer.claims(at: .zero).isEmpty)
    claimer.ended(lane: 0, isSuspect: false, wasAdded: false, at: .seconds(1))
    let next = try #require(claimer.claims(at: .seconds(2)).first).claim
    #expect(next.count == 1)
  }

  @Test("J22: a worker claims as many jobs ahead as it has ended in the last 50 ms, at most 512")
  mutating func ahead() throws {
    claimer.setSlots(2, group: 0)
    var (claimed, time) = (0, Duration.zero)
    for round in 1...20 {
      for found in claimer.claims(at: time) {
        claimed += found.claim.count
        claimer.claimed([records(found.claim.count)], by: [found.claim], lanes: [0])
      }
      let held = claimer.groups[0].heldCount
      #expect(held <= 2 + Claimer.maxAhead)
      for _ in 0..<held { claimer.ended(lane: 0, isSuspect: false, wasAdded: false, at: time) }
      time = .milliseconds(10) * round
    }
    #expect(claimed > 2_000)
    // After a rest, there is nothing ahead.
    let rested = try #require(claimer.claims(at: .seconds(9)).first).claim
    #expect(rested.count == 2)
  }

  @Test("J22: a queue without a limit, or with Int.max, has many slots")
  mutating func unlimited() throws {
    claimer.setSlots(.max, group: 0)
    let claim = try #require(claimer.claims(at: .zero).first).claim
    claimer.claimed([records(2)], by: [claim], lanes: [0])
    claimer.noteClaimable(nil)
    claimer.ended(lane: 0, isSuspect: false, wasAdded: false, at: .zero)
    let next = try #require(claimer.claims(at: .zero).first).claim
    #expect(next.count == JobCommand.maxChangedCount)
  }

  @Test("J185: the claims of one exchange request at most 1,000 jobs, and the remaining queues are next")
  func sumOfClaims() {
    var claimer = Claimer(queues: ["a", "b", "shared 1", "shared 2", "c"], groups: [0, 1, 2, 2, 3], kinds: [:])
    for group in 0...3 { claimer.setSlots(400, group: group) }
    var asked: [[String: Int]] = []
    for _ in 0..<3 {
      let found = claimer.claims(at: .zero)
      asked.append(Dictionary(uniqueKeysWithValues: found.map { ($0.claim.queue, $0.claim.count) }))
      claimer.claimed(
        found.map { found in found.claim.group == nil ? records(found.claim.count) : [] },
        by: found.map(\.claim), lanes: found.map(\.lane))
      claimer.noteClaimable(nil)
      for (lane, claim) in found where claim.group == nil {
        for _ in 0..<claim.count { claimer.ended(lane: lane, isSuspect: false, wasAdded: false, at: .zero) }
      }
    }
    #expect(asked[0] == ["a": 400, "b": 400, "shared 1": 200, "shared 2": 200])
    // Jobs are claimed ahead, because many have ended.
    #expect(asked[1]["c"] == 400)
    #expect(asked.allSatisfy { $0.filter { $0.key != "shared 2" }.values.reduce(0, +) <= 1_000 })
  }

  @Test("J254: a queue that matches a pattern costs nothing after a minute without jobs, and another queue replaces it")
  func idleQueues() throws {
    var claimer = Claimer(queues: ["a"], kinds: ["test": 1])
    claimer.serve("b", group: 1, at: .zero)
    for group in 0...1 { claimer.setSlots(2, group: group) }
    var found = claimer.claims(at: .zero)
    #expect(found.map(\.claim.queue) == ["a", "b"])
    claimer.claimed([[], records(1)], by: found.map(\.claim), lanes: found.map(\.lane))
    // A job of the queue runs for longer than a minute.
    #expect(claimer.removeIdleLanes(at: .seconds(100)).isEmpty)
    claimer.ended(lane: 1, isSuspect: false, wasAdded: false, at: .seconds(100))
    #expect(claimer.removeIdleLanes(at: .seconds(159)).isEmpty)
    // There might be a job.
    claimer.noteClaimable("b")
    #expect(claimer.removeIdleLanes(at: .seconds(160)).isEmpty)
    found = claimer.claims(at: .seconds(160))
    claimer.claimed(found.map { _ in [] }, by: found.map(\.claim), lanes: found.map(\.lane))
    #expect(claimer.removeIdleLanes(at: .seconds(160)) == [1])
    #expect(!claimer.isServing("b"))
    claimer.noteClaimable("b")
    claimer.noteClaimable(nil)
    found = claimer.claims(at: .seconds(161))
    #expect(found.map(\.claim.queue) == ["a"])
    claimer.claimed([[]], by: found.map(\.claim), lanes: found.map(\.lane))
    // A queue that is served by its name is always claimed.
    #expect(claimer.removeIdleLanes(at: .seconds(10_000)).isEmpty)
    claimer.serve("c", group: 1, at: .seconds(10_000))
    claimer.setSlots(2, group: 1)
    #expect(claimer.lanes.count == 2)
    #expect(claimer.claims(at: .seconds(10_000)).map(\.claim.queue) == ["c"])
  }

  @Test("J255: a claim of jobs that run together uses one slot, and a suspect among them uses another slot")
  func chunks() {
    let chunk = Claimer.Chunk(kinds: ["together": 1], size: JobChunk(count: 10))
    var claimer = Claimer(queues: ["a"], kinds: ["test": 1], chunks: [chunk])
    claimer.setSlots(2, group: 0)
    var found = claimer.claims(at: .zero)
    #expect(found.map(\.claim.count) == [2])
    claimer.claimed([records(1)], by: found.map(\.claim), lanes: found.map(\.lane))
    found = claimer.claims(at: .zero)
    #expect(found.map(\.claim.count) == [10])
    #expect(found.map(\.claim.kinds) == [["together": 1]])
    claimer.claimed([records(4)], by: found.map(\.claim), lanes: found.map(\.lane))
    #expect(claimer.groups[0].heldCount == 2)
    claimer.noteClaimable(nil)
    #expect(claimer.claims(at: .zero).isEmpty)
    for number in 0..<4 {
      claimer.ended(lane: 1, isSuspect: false, holdsSlot: number == 0, wasAdded: false, at: .zero)
    }
    #expect(claimer.groups[0].heldCount == 1)

    claimer = Claimer(queues: ["a"], kinds: [:], chunks: [chunk])
    claimer.setSlots(3, group: 0)
    found = claimer.claims(at: .zero)
    #expect(found.map(\.claim.allowsSuspect) == [true])
    claimer.claimed(
      [records(1, crashCount: 1) + records(2)], by: found.map(\.claim), lanes: found.map(\.lane))
    #expect(claimer.groups[0].heldCount == 2)
    #expect(claimer.suspectCount == 1)
    // A request that has failed uses no slot.
    claimer.noteClaimable(nil)
    found = claimer.claims(at: .zero)
    #expect(claimer.groups[0].heldCount == 3)
    claimer.claimed(nil, by: found.map(\.claim), lanes: found.map(\.lane))
    #expect(claimer.groups[0].heldCount == 2)
  }

  @Test("J255: jobs that are claimed ahead don't keep jobs that run together waiting")
  func chunkBesidesShortJobs() {
    let chunk = Claimer.Chunk(kinds: ["together": 1], size: JobChunk(count: 10))
    var claimer = Claimer(queues: ["a"], kinds: ["test": 1], chunks: [chunk])
    claimer.setSlots(2, group: 0)
    var found = claimer.claims(at: .zero)
    claimer.claimed([records(2)], by: found.map(\.claim), lanes: found.map(\.lane))
    for _ in 0..<2 { claimer.ended(lane: 0, isSuspect: false, wasAdded: false, at: .zero) }
    claimer.noteClaimable(nil)
    found = claimer.claims(at: .zero)
    #expect(found.map(\.claim.count) == [10, 3])
    claimer.claimed([[], records(3)], by: found.map(\.claim), lanes: found.map(\.lane))
    // One call is claimed ahead, and no suspect.
    claimer.noteClaimable(nil)
    found = claimer.claims(at: .zero)
    #expect(found.map(\.claim.kinds) == [["together": 1]])
    #expect(found.map(\.claim.freeSlotCount) == [0])
    claimer.claimed([records(4)], by: found.map(\.claim), lanes: found.map(\.lane))
    #expect(claimer.groups[0].heldCount == 4)
    claimer.ended(lane: 0, isSuspect: false, wasAdded: false, at: .zero)
    claimer.noteClaimable(nil)
    #expect(!claimer.claims(at: .zero).contains { $0.lane == 1 })
  }

  @Test("J259: jobs that run together are claimed after the wait, and immediately after a full claim")
  func chunkWait() {
    let chunk = Claimer.Chunk(kinds: ["together": 1], size: JobChunk(count: 10, wait: .seconds(1)))
    var claimer = Claimer(queues: ["a"], kinds: [:], chunks: [chunk])
    claimer.setSlots(5, group: 0)
    #expect(claimer.claims(at: .seconds(7)).isEmpty)
    #expect(claimer.nextChunkTime == .seconds(8))
    #expect(claimer.claims(at: .milliseconds(7_900)).isEmpty)
    for count in [10, 3] {
      let found = claimer.claims(at: .seconds(8))
      #expect(found.map(\.claim.count) == [10])
      claimer.claimed([records(count)], by: found.map(\.claim), lanes: found.map(\.lane))
    }
    #expect(claimer.claims(at: .seconds(9)).isEmpty)
    #expect(claimer.nextChunkTime == nil)
    claimer.noteClaimable("a")
    #expect(claimer.claims(at: .seconds(20)).isEmpty)
    #expect(claimer.nextChunkTime == .seconds(21))
    claimer.claimExhaustively()
    #expect(claimer.claims(at: .seconds(20)).count == 1)
  }

  @Test("J254: many queues that have been removed do not make exchanges slower")
  func manyIdleQueues() {
    var claimer = Claimer(queues: [], kinds: ["test": 1])
    for group in 0..<3 {
      claimer.serve("\(group)", group: group, at: .zero)
      claimer.setSlots(1, group: group)
    }
    let found = claimer.claims(at: .zero)
    claimer.claimed([[], records(1), []], by: found.map(\.claim), lanes: found.map(\.lane))
    #expect(claimer.removeIdleLanes(at: .seconds(60)).sorted() == [0, 2])
    #expect(claimer.removeUnusedGroups() == 2)
    #expect(claimer.lanes.map(\.isServed) == [false, true])
    #expect(claimer.claims(at: .seconds(60)).isEmpty)
    claimer.ended(lane: 1, isSuspect: false, wasAdded: false, at: .seconds(60))
    // The last claim has filled the slot, so there might be more jobs.
    let next = claimer.claims(at: .seconds(60))
    #expect(next.map(\.claim.queue) == ["1"])
    claimer.claimed([[]], by: next.map(\.claim), lanes: next.map(\.lane))
    #expect(claimer.removeIdleLanes(at: .seconds(120)) == [1])
    #expect(claimer.removeUnusedGroups() == 0)
    #expect(claimer.lanes.isEmpty && claimer.groups.isEmpty)
    #expect(claimer.claims(at: .seconds(120)).isEmpty && claimer.isExhausted)
  }

  @Test("J254: an exchange has a limited number of claims, and the next exchange continues")
  func manyQueues() {
    let limit = JobCommand.maxChangedCount
    let queues = (0..<limit + 3).map { "\($0)" }
    var claimer = Claimer(queues: queues, groups: queues.map { _ in 0 }, kinds: ["test": 1])
    claimer.setSlots(2, group: 0)
    let found = claimer.claims(at: .zero)
    #expect(found.map(\.lane) == Array(0..<limit))
    claimer.claimed(found.map { _ in [] }, by: found.map(\.claim), lanes: found.map(\.lane))
    #expect(claimer.claims(at: .zero).map(\.lane) == Array(limit..<limit + 3))
  }

  @Test("J19: after a claim that found too few jobs, the worker claims again only after a hint")
  mutating func hints() throws {
    claimer.setSlots(2, group: 0)
    let claim = try #require(claimer.claims(at: .zero).first).claim
    claimer.claimed([[]], by: [claim], lanes: [0])
    #expect(claimer.claims(at: .zero).isEmpty)
    claimer.noteClaimable("other")
    #expect(claimer.claims(at: .zero).isEmpty)
    claimer.noteClaimable("default")
    #expect(claimer.claims(at: .zero).count == 1)
  }

  @Test("J19: a hint that arrives during a claim is not lost")
  mutating func hintDuringClaim() throws {
    claimer.setSlots(2, group: 0)
    let claim = try #require(claimer.claims(at: .zero).first).claim
    claimer.noteClaimable("default")
    claimer.claimed([[]], by: [claim], lanes: [0])
    #expect(claimer.claims(at: .zero).count == 1)
  }

  @Test("J199: exhaustive claims end when each queue has returned no jobs and no suspects, even if hints arrive")
  func exhaustiveClaims() {
    var claimer = Claimer(queues: ["a", "b", "shared 1", "shared 2", "closed"], groups: [0, 1, 2, 2, 3], kinds: [:])
    for group in 0...3 { claimer.setSlots(group == 3 ? 0 : 2, group: group) }
    claimer.claimExhaustively()
    var asked: [[String]] = []
    while !claimer.isExhausted, asked.count < 9 {
      let found = claimer.claims(at: .zero)
      #expect(found.allSatisfy { $0.claim.isExhaustive })
      asked.append(found.map { $0.claim.allowsSuspect ? $0.claim.queue + "!" : $0.claim.queue })
      // A beat, or jobs of other clients.
      claimer.noteClaimable(nil)
      claimer.claimed(found.map { _ in [] }, by: found.map(\.claim), lanes: found.map(\.lane))
    }
    #expect(asked == [["a!", "b", "shared 1", "shared 2"], ["b!"], ["shared 1!"], ["shared 2!"]])
    #expect(claimer.claims(at: .zero).isEmpty)
    // A queue whose operation queue runs again has not been claimed.
    claimer.setSlots(1, group: 3)
    #expect(!claimer.isExhausted)
    claimer.claimByHints()
    #expect(claimer.claims(at: .zero).count == 5)
  }

  @Test("J199: a queue is claimed again if its claim has failed, or was not read because of a group")
  func unansweredClaims() {
    var claimer = Claimer(queues: ["first", "second"], groups: [0, 0], kinds: [:])
    claimer.setSlots(1, group: 0)
    claimer.claimExhaustively()
    var found = claimer.claims(at: .zero)
    claimer.claimed(nil, by: found.map(\.claim), lanes: found.map(\.lane))
    found = claimer.claims(at: .zero)
    #expect(found.map(\.claim.queue) == ["first", "second"])
    claimer.claimed([records(1), []], by: found.map(\.claim), lanes: found.map(\.lane))
    claimer.ended(lane: 0, isSuspect: false, wasAdded: false, at: .zero)
    #expect(claimer.claims(at: .zero).map(\.claim.queue) == ["second", "first"])
  }

  @Test("J201: a worker that claims no jobs ahead claims only as many jobs as it has slots")
  func noneAhead() throws {
    var claimer = Claimer(queues: ["default"], kinds: [:], claimsAhead: false)
    claimer.setSlots(2, group: 0)
    for _ in 0..<9 {
      let claim = try #require(claimer.claims(at: .zero).first).claim
      #expect(claim.count == 2)
      claimer.claimed([records(2)], by: [claim], lanes: [0])
      for _ in 0..<2 { claimer.ended(lane: 0, isSuspect: false, wasAdded: false, at: .zero) }
    }
  }

  @Test("J39: a worker runs one suspect at a time, and claims none ahead")
  mutating func suspects() throws {
    claimer.setSlots(2, group: 0)
    let claim = try #require(claimer.claims(at: .zero).first).claim
    #expect(claim.allowsSuspect)
    claimer.claimed([records(1, crashCount: 1)], by: [claim], lanes: [0])
    claimer.noteClaimable(nil)
    let second = try #require(claimer.claims(at: .zero).first).claim
    #expect(!second.allowsSuspect)
    claimer.claimed([[]], by: [second], lanes: [0])
    #expect(claimer.claims(at: .zero).isEmpty)
    // The end of a suspect makes the next one claimable.
    claimer.ended(lane: 0, isSuspect: true, wasAdded: false, at: .zero)
    #expect(try #require(claimer.claims(at: .zero).first).claim.allowsSuspect)
  }

  @Test("J39: a worker requests suspects from its queues in turn")
  func suspectsOfSeveralQueues() {
    var claimer = Claimer(queues: ["first", "second"], kinds: [:])
    var asked: [String] = []
    for _ in 0..<4 {
      for lane in 0...1 { claimer.setSlots(2, group: lane) }
      claimer.noteClaimable(nil)
      for found in claimer.claims(at: .zero) {
        if found.claim.allowsSuspect { asked.append(found.claim.queue) }
        claimer.claimed([[]], by: [found.claim], lanes: [found.lane])
      }
    }
    #expect(asked == ["first", "second", "first", "second"])
  }

  @Test("J22: queues that share an operation queue share its slots, and take turns")
  func sharedSlots() throws {
    var claimer = Claimer(queues: ["first", "second", "alone"], groups: [0, 0, 1], kinds: [:])
    for group in 0...1 { claimer.setSlots(1, group: group) }
    var found = claimer.claims(at: .zero)
    #expect(found.map(\.claim.queue) == ["first", "second", "alone"])
    #expect(found.map(\.claim.count) == [1, 1, 1])
    #expect(found.map(\.claim.group) == [0, 0, nil])
    // The first queue has used the slot, so the second one was not read.
    claimer.claimed([records(1), [], []], by: found.map(\.claim), lanes: found.map(\.lane))
    #expect(claimer.groups.map(\.heldCount) == [1, 0])
    #expect(claimer.claims(at: .zero).isEmpty)
    claimer.ended(lane: 0, isSuspect: false, wasAdded: false, at: .seconds(1))
    found = claimer.claims(at: .seconds(2))
    #expect(found.map(\.claim.queue) == ["second", "first"])
    claimer.claimed([[], records(1)], by: found.map(\.claim), lanes: found.map(\.lane))
    #expect(claimer.groups.map(\.heldCount) == [1, 0])
    claimer.ended(lane: 0, isSuspect: false, wasAdded: false, at: .seconds(2))
    // The second queue was read and has no further jobs.
    #expect(claimer.claims(at: .seconds(3)).map(\.claim.queue) == ["first"])
  }

  @Test("J22: a failed exchange returns the slots of its claims once")
  func failedSharedClaims() {
    var claimer = Claimer(queues: ["first", "second"], groups: [0, 0], kinds: [:])
    claimer.setSlots(3, group: 0)
    let found = claimer.claims(at: .zero)
    #expect(claimer.groups[0].heldCount == 3)
    claimer.claimed(nil, by: found.map(\.claim), lanes: found.map(\.lane))
    #expect(claimer.groups[0].heldCount == 0)
    #expect(claimer.claims(at: .zero).count == 2)
  }

  @Test("J22: other operations in an operation queue use slots of the worker")
  mutating func otherOperations() {
    claimer.setSlots(4, besides: 3, group: 0)
    let found = claimer.claims(at: .zero)
    #expect(found.map(\.claim.count) == [1])
    claimer.claimed([records(1)], by: found.map(\.claim), lanes: [0])
    claimer.added(lane: 0)
    // The job's operation does not count as another operation.
    claimer.setSlots(4, besides: 4, group: 0)
    #expect(claimer.claims(at: .zero).isEmpty)
    #expect(claimer.uses[0].isWaiting)
    // The operations of other workers don't count either. Their jobs use slots before they have operations.
    claimer.setSlots(4, besides: 2, SharedSlots.Use(heldCount: 2, addedCount: 1), group: 0)
    #expect(claimer.groups[0].slots == 2)
    claimer.setSlots(4, besides: 1, nil, group: 0)
    #expect(claimer.claims(at: .zero).isEmpty)
    #expect(claimer.uses[0].isWaiting)
    claimer.setSlots(4, besides: 1, group: 0)
    #expect(!claimer.uses[0].isWaiting)
    #expect(claimer.claims(at: .zero).map(\.claim.count) == [3])
  }

  @Test("J181: the surplus is the number of claimed jobs beyond the slots and the permitted jobs ahead")
  mutating func surplus() {
    claimer.setSlots(4, group: 0)
    let found = claimer.claims(at: .zero)
    claimer.claimed([records(4)], by: found.map(\.claim), lanes: [0])
    #expect(claimer.surplus(ofGroup: 0, at: .zero) == 0)
    claimer.setSlots(1, group: 0)
    #expect(claimer.surplus(ofGroup: 0, at: .zero) == 3)
    claimer.ended(lane: 0, isSuspect: false, wasAdded: false, hasRun: false, at: .zero)
    #expect(claimer.surplus(ofGroup: 0, at: .zero) == 2)
    // A job that has run permits claiming one job ahead, until the period has passed or the queue is suspended.
    claimer.ended(lane: 0, isSuspect: false, wasAdded: false, at: .zero)
    #expect(claimer.surplus(ofGroup: 0, at: .zero) == 0)
    claimer.setSlots(0, group: 0)
    #expect(claimer.surplus(ofGroup: 0, at: .zero) == 2)
    claimer.setSlots(1, group: 0)
    #expect(claimer.surplus(ofGroup: 0, at: .seconds(1)) == 1)
  }

  @Test(
    "J22: after random sequences, the claimer never holds more jobs than allowed, and its counts are right",
    arguments: 1...20)
  mutating func random(seed: UInt64) {
    var generator = SeededGenerator(seed: seed)
    var (held, time) = (0, Duration.zero)
    for _ in 0..<2_000 {
      time += .milliseconds(Int.random(in: 0...20, using: &generator))
      switch Int.random(in: 0...4, using: &generator) {
      case 0:
        for found in claimer.claims(at: time) {
          let count = Int.random(in: 0...found.claim.count, using: &generator)
          let fails = Int.random(in: 0...9, using: &generator) == 0
          claimer.claimed(fails ? nil : [records(count)], by: [found.claim], lanes: [0])
          held += fails ? 0 : count
        }
      case 1: claimer.noteClaimable(nil)
      case 2: claimer.setSlots(Int.random(in: 0...8, using: &generator), group: 0)
      default:
        guard held > 0 else { continue }
        held -= 1
        claimer.ended(lane: 0, isSuspect: false, wasAdded: false, at: time)
      }
      #expect(claimer.groups[0].heldCount == held)
      #expect(held <= 8 + Claimer.maxAhead)
      #expect((0...1).contains(claimer.suspectCount))
    }
  }

  private func records(_ count: Int, crashCount: Int = 0) -> [JobRecord] {
    (0..<count).map { number in
      let new = NewJob(kind: "test", payload: JobPayload(bytes: []))
      var record = JobRecord(id: JobID(rawValue: Int64(number)), new, at: StoreTime(microseconds: 0))
      record.crashCount = crashCount
      return record
    }
  }
}
