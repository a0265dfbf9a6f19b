#if PostgreSQL
import Headway
import HeadwayJobs
import HeadwayTestKit
import Testing

@testable import HeadwayJobsPostgreSQL

/// The positions at which waiting jobs begin.
@Suite struct ClaimMarkTests {
  private typealias Job = (priority: Int, position: Int64)

  private let start = ContinuousClock.now

  @Test("J168: the first claim reads all jobs, and so does the first claim after the interval")
  func fullClaims() {
    var mark = ClaimMark()
    #expect(mark.levels(at: start) == nil)
    mark.noteFullClaim(of: [(0, 10_000)], isComplete: true, for: .milliseconds(1), at: start)
    #expect(mark.levels(at: start)?.map(\.priority) == [8, 4, 0, -4, -8])
    #expect(mark.levels(at: start)?.allSatisfy { $0.position == 8_000 } == true)
    #expect(mark.levels(at: start + .milliseconds(999)) != nil)
    #expect(mark.levels(at: start + .seconds(1)) == nil)
    mark.noteFullClaim(of: [], isComplete: true, for: .milliseconds(20), at: start + .seconds(1))
    #expect(mark.levels(at: start + .milliseconds(6_999))?.allSatisfy { $0.position == 8_000 } == true)
    #expect(mark.levels(at: start + .seconds(7)) == nil)
  }

  @Test("J168: a mark is not behind jobs that the claim had no room for")
  func incompleteClaims() {
    var mark = ClaimMark()
    mark.noteFullClaim(of: [(4, 9_000), (0, 5_000)], isComplete: false, for: .zero, at: start)
    let levels = mark.levels(at: start).map { Dictionary(uniqueKeysWithValues: $0.map { ($0.priority, $0.position) }) }
    #expect(levels == [8: 7_000, 4: 7_000, 0: 3_000, -4: 0, -8: 0])
    mark.note([(0, 5_001), (-4, 100)], isComplete: false)
    let later = mark.levels(at: start).map { Dictionary(uniqueKeysWithValues: $0.map { ($0.priority, $0.position) }) }
    #expect(later == [8: 7_000, 4: 7_000, 0: 7_000, -4: 0, -8: 0])
  }

  @Test("J168: a claim of any job has a level for its priority, and marks recover from a restored database")
  func otherJobs() {
    var mark = ClaimMark()
    mark.noteFullClaim(of: [(5, 9_000)], isComplete: true, for: .zero, at: start)
    #expect(mark.levels(at: start)?.map(\.priority) == [8, 5, 4, 0, -4, -8])
    mark.noteFullClaim(of: [(0, 12)], isComplete: true, for: .zero, at: start + .seconds(1))
    #expect(mark.levels(at: start + .seconds(1)) == nil)
  }

  @Test("J168: claims behind the marks return the same jobs as claims of all", arguments: 1...20 as ClosedRange<UInt64>)
  func programs(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    var (mark, waiting, next) = (ClaimMark(), [Job](), 1 as Int64)
    for step in 0..<400 {
      // Later positions can be stored earlier, as long as they are within the margin.
      let added = (0..<Int64.random(in: 0...120, using: &random)).map { next + $0 }.shuffled(using: &random)
      next += Int64(added.count) + (Int.random(in: 0..<20, using: &random) == 0 ? 3_000 : 0)
      waiting += added.map { (QueuePriority.allCases.randomElement(using: &random)?.rawValue ?? 0, $0) }
      waiting.sort { $0.priority == $1.priority ? $0.position < $1.position : $0.priority > $1.priority }
      let (count, now) = (Int.random(in: 1...150, using: &random), start + .milliseconds(step * 10))
      let all = Array(waiting.prefix(count))
      if let levels = mark.levels(at: now) {
        let marks = Dictionary(uniqueKeysWithValues: levels.map { ($0.priority, $0.position) })
        let found = Array(waiting.filter { job in job.position > marks[job.priority] ?? .max }.prefix(count))
        #expect(found.map(\.position) == all.map(\.position))
        mark.note(found, isComplete: found.count < count)
      } else {
        mark.noteFullClaim(of: all, isComplete: all.count < count, for: .zero, at: now)
      }
      waiting.removeFirst(all.count)
    }
    #expect(mark.positions[QueuePriority.veryHigh.rawValue] ?? 0 > 10_000)
  }
}
#endif
