import HeadwayTestKit
import Testing

@testable import HeadwayJobs

/// How many jobs a worker claims.
@Suite struct ClaimerTests {
  private var claimer = Claimer(queues: ["default"], kinds: ["test": 1])

  @Test("J22: a worker claims what its free slots take")
  mutating func slots() throws {
    claimer.setSlots(3, lane: 0)
    let claim = try #require(claimer.claims(at: .zero).first).claim
    #expect(claim == JobClaim(queue: "default", count: 3, allowsSuspect: true, kinds: ["test": 1]))
    claimer.claimed(records(3), by: claim, lane: 0)
    #expect(claimer.claims(at: .zero).isEmpty)
    claimer.ended(lane: 0, isSuspect: false, at: .seconds(1))
    let next = try #require(claimer.claims(at: .seconds(2)).first).claim
    #expect(next.count == 1)
  }

  @Test("J22: it claims ahead as many as it has ended in the last 50 ms, at most 512")
  mutating func ahead() throws {
    claimer.setSlots(2, lane: 0)
    var (claimed, time) = (0, Duration.zero)
    for round in 1...20 {
      for found in claimer.claims(at: time) {
        claimed += found.claim.count
        claimer.claimed(records(found.claim.count), by: found.claim, lane: 0)
      }
      let held = claimer.lanes[0].heldCount
      #expect(held <= 2 + Claimer.maxAhead)
      for _ in 0..<held { claimer.ended(lane: 0, isSuspect: false, at: time) }
      time = .milliseconds(10) * round
    }
    #expect(claimed > 2_000)
    // After a rest, there is nothing ahead.
    let rested = try #require(claimer.claims(at: .seconds(9)).first).claim
    #expect(rested.count == 2)
  }

  @Test("J22: a queue without a limit, as Int.max, is one with many slots")
  mutating func unlimited() throws {
    claimer.setSlots(.max, lane: 0)
    let claim = try #require(claimer.claims(at: .zero).first).claim
    claimer.claimed(records(2), by: claim, lane: 0)
    claimer.noteClaimable(nil)
    claimer.ended(lane: 0, isSuspect: false, at: .zero)
    let next = try #require(claimer.claims(at: .zero).first).claim
    #expect(next.count == Int(Int32.max))
  }

  @Test("J19: after a claim that found too little, it asks again only after a hint")
  mutating func hints() throws {
    claimer.setSlots(2, lane: 0)
    let claim = try #require(claimer.claims(at: .zero).first).claim
    claimer.claimed([], by: claim, lane: 0)
    #expect(claimer.claims(at: .zero).isEmpty)
    claimer.noteClaimable("other")
    #expect(claimer.claims(at: .zero).isEmpty)
    claimer.noteClaimable("default")
    #expect(claimer.claims(at: .zero).count == 1)
  }

  @Test("J19: a hint that arrives during a claim is not lost")
  mutating func hintDuringClaim() throws {
    claimer.setSlots(2, lane: 0)
    let claim = try #require(claimer.claims(at: .zero).first).claim
    claimer.noteClaimable("default")
    claimer.claimed([], by: claim, lane: 0)
    #expect(claimer.claims(at: .zero).count == 1)
  }

  @Test("J39: a worker runs one suspect at a time, and claims none ahead")
  mutating func suspects() throws {
    claimer.setSlots(2, lane: 0)
    let claim = try #require(claimer.claims(at: .zero).first).claim
    #expect(claim.allowsSuspect)
    claimer.claimed(records(1, crashCount: 1), by: claim, lane: 0)
    claimer.noteClaimable(nil)
    let second = try #require(claimer.claims(at: .zero).first).claim
    #expect(!second.allowsSuspect)
    claimer.claimed([], by: second, lane: 0)
    #expect(claimer.claims(at: .zero).isEmpty)
    // The end of a suspect makes the next one claimable.
    claimer.ended(lane: 0, isSuspect: true, at: .zero)
    #expect(try #require(claimer.claims(at: .zero).first).claim.allowsSuspect)
  }

  @Test("J39: the queues of a worker take turns in being asked for a suspect")
  func suspectsOfSeveralQueues() {
    var claimer = Claimer(queues: ["first", "second"], kinds: [:])
    var asked: [String] = []
    for _ in 0..<4 {
      for lane in 0...1 { claimer.setSlots(2, lane: lane) }
      claimer.noteClaimable(nil)
      for found in claimer.claims(at: .zero) {
        if found.claim.allowsSuspect { asked.append(found.claim.queue) }
        claimer.claimed([], by: found.claim, lane: found.lane)
      }
    }
    #expect(asked == ["first", "second", "first", "second"])
  }

  @Test("J22: random sequences never hold more than allowed, and count what they hold", arguments: 1...20)
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
          claimer.claimed(fails ? nil : records(count), by: found.claim, lane: 0)
          held += fails ? 0 : count
        }
      case 1: claimer.noteClaimable(nil)
      case 2: claimer.setSlots(Int.random(in: 0...8, using: &generator), lane: 0)
      default:
        guard held > 0 else { continue }
        held -= 1
        claimer.ended(lane: 0, isSuspect: false, at: time)
      }
      #expect(claimer.lanes[0].heldCount == held)
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
