#if PostgreSQL
import Headway
@_spi(JobStore) import HeadwayJobs
import HeadwayTestKit
import Testing

@testable import HeadwayJobsPostgreSQL

/// The positions where waiting jobs begin.
@Suite struct ClaimMarkTests {
  private typealias Job = (priority: Int, position: Int64)

  private let start = ContinuousClock.now

  /// Returns the levels by priority, if the next claim uses the marks.
  private func levels(_ mark: ClaimMark, at now: ContinuousClock.Instant) -> [Int: Int64]? {
    mark.levels(at: now).map { Dictionary(uniqueKeysWithValues: $0.map { ($0.priority, $0.position) }) }
  }

  /// Returns the marks after a full claim of jobs, whose transactions have all ended.
  private func mark(after jobs: [Job], isComplete: Bool = true, for duration: Duration = .zero) -> ClaimMark {
    var mark = ClaimMark()
    mark.noteFullClaim(of: jobs, isComplete: true, for: .zero, at: start)
    for number in 1...2 as ClosedRange<Int64> { mark.note(ClaimMark.Snapshot(oldest: number, next: number)) }
    mark.noteFullClaim(of: jobs, isComplete: isComplete, for: duration, at: start)
    return mark
  }

  @Test("J168: the first claim, and the first claim after the interval, read all jobs")
  func fullClaims() {
    #expect(ClaimMark().levels(at: start) == nil)
    let quick = mark(after: [(0, 10_000)])
    #expect(quick.levels(at: start)?.map(\.priority) == [8, 4, 0, -4, -8])
    #expect(quick.levels(at: start)?.allSatisfy { $0.position == 8_000 } == true)
    #expect(quick.levels(at: start + .milliseconds(999)) != nil)
    #expect(quick.levels(at: start + .seconds(1)) == nil)
    let slow = mark(after: [(0, 10_000)], for: .milliseconds(20))
    #expect(slow.levels(at: start + .milliseconds(5_999)) != nil)
    #expect(slow.levels(at: start + .seconds(6)) == nil)
    #expect(mark(after: [(0, 10_000)], for: .seconds(100)).levels(at: start + .seconds(10)) == nil)
  }

  @Test("J168: a mark passes no position whose transaction might not have ended")
  func unfinishedTransactions() {
    var mark = ClaimMark()
    mark.noteFullClaim(of: [(0, 10_000)], isComplete: true, for: .zero, at: start)
    #expect(levels(mark, at: start) == nil)
    mark.note(ClaimMark.Snapshot(oldest: 5, next: 8))
    mark.note([], isComplete: true)
    mark.note(ClaimMark.Snapshot(oldest: 7, next: 9))
    mark.note([], isComplete: true)
    #expect(levels(mark, at: start) == nil)
    mark.note(ClaimMark.Snapshot(oldest: 8, next: 9))
    mark.note([], isComplete: true)
    #expect(levels(mark, at: start)?[0] == 8_000)
  }

  @Test("J168: a mark does not pass jobs that did not fit into the claim")
  func incompleteClaims() {
    var mark = mark(after: [(4, 9_000), (0, 5_000)], isComplete: false)
    #expect(levels(mark, at: start) == [8: 7_000, 4: 7_000, 0: 3_000, -4: 0, -8: 0])
    mark.note([(0, 5_001), (-4, 100)], isComplete: false)
    #expect(levels(mark, at: start) == [8: 7_000, 4: 7_000, 0: 7_000, -4: 0, -8: 0])
  }

  @Test("J168: any priority has a mark, and marks move back after a job was given back, or a database restored")
  func otherJobs() {
    var mark = mark(after: [(5, 9_000)])
    #expect(mark.levels(at: start)?.map(\.priority) == [8, 5, 4, 0, -4, -8])
    mark.moveBack(to: ClaimMarks.Place(queue: "default", priority: 4, position: 7))
    mark.moveBack(to: ClaimMarks.Place(queue: "default", priority: 5, position: 8_000))
    #expect(levels(mark, at: start) == [8: 7_000, 5: 7_000, 4: 6, 0: 7_000, -4: 7_000, -8: 7_000])
    mark.noteFullClaim(of: [(0, 12)], isComplete: true, for: .zero, at: start)
    #expect(levels(mark, at: start) == nil)
  }

  @Test("J168: a claim that began before marks were moved back does not restore them")
  func generations() {
    let marks = ClaimMarks()
    let claim = JobClaim(queue: "default", count: 1, allowsSuspect: true, kinds: ["plain": 1])
    marks.set(mark(after: [(0, 10_000)]), of: claim, generation: 0)
    let (old, generation) = marks.mark(of: claim)
    #expect(levels(old, at: start)?[0] == 8_000)
    marks.moveBack(to: [ClaimMarks.Place(queue: "default", priority: 0, position: 10)])
    marks.set(old, of: claim, generation: generation)
    #expect(levels(marks.mark(of: claim).mark, at: start)?[0] == 9)
  }

  @Test("J168: claims after the marks return the same jobs as claims of all", arguments: 1...20 as ClosedRange<UInt64>)
  func programs(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    var (mark, waiting, next) = (ClaimMark(), [Job](), 1 as Int64)
    var (open, transaction) = ([(number: Int64, jobs: [Job])](), 1 as Int64)
    var usedCount = 0
    for step in 0..<400 {
      // Transactions draw their positions when they begin. They end in any order.
      for _ in 0..<Int.random(in: 0...3, using: &random) {
        let count = Int64.random(in: 0...(Int.random(in: 0..<10, using: &random) == 0 ? 5_000 : 100), using: &random)
        let jobs = (0..<count).map { (QueuePriority.allCases.randomElement(using: &random)?.rawValue ?? 0, next + $0) }
        open.append((transaction, jobs))
        (transaction, next) = (transaction + 1, next + count)
      }
      for _ in 0..<Int.random(in: 0...4, using: &random) where !open.isEmpty {
        waiting += open.remove(at: Int.random(in: 0..<open.count, using: &random)).jobs
      }
      waiting.sort { $0.priority == $1.priority ? $0.position < $1.position : $0.priority > $1.priority }

      mark.note(ClaimMark.Snapshot(oldest: open.map(\.number).min() ?? transaction, next: transaction))
      let (count, now) = (Int.random(in: 1...2_000, using: &random), start + .milliseconds(step * 10))
      let all = Array(waiting.prefix(count))
      if let marks = levels(mark, at: now) {
        usedCount += 1
        let found = Array(waiting.filter { job in job.position > marks[job.priority] ?? .max }.prefix(count))
        #expect(found.map(\.position) == all.map(\.position))
        mark.note(found, isComplete: found.count < count)
      } else {
        mark.noteFullClaim(of: all, isComplete: all.count < count, for: .zero, at: now)
      }
      waiting.removeFirst(all.count)
    }
    #expect(usedCount > 100)
  }
}
#endif
