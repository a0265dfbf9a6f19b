#if Jobs
import Testing

@testable import HeadwayJobs

@Suite struct QueueCountLimitTests {
  /// Returns the last limit for queues of some sizes, and how many jobs were counted in total.
  private func limit(_ sizes: [Int], upTo maximum: Int) -> (value: Int, counted: Int) {
    var (limit, counts, counted) = (QueueCountLimit(upTo: maximum), [Int](), 0)
    repeat {
      counts = sizes.map { min($0, limit.value + 1) }
      counted += counts.reduce(0, +)
    } while limit.raise(after: counts)
    return (limit.value, counted)
  }

  @Test("J372: the jobs of a few large queues are counted to the maximum, and those of many queues less far")
  func shares() {
    #expect(limit([], upTo: 10_000).value == 100)
    #expect(limit([100, 3], upTo: 10_000).value == 100)
    #expect(limit([1_000_000], upTo: 10_000).value == 10_000)
    #expect(limit(Array(repeating: 5, count: 1_500) + [1_000_000], upTo: 10_000).value == 10_000)
    #expect(limit(Array(repeating: 1_000, count: 100), upTo: 10_000).value == 999)
    #expect(limit(Array(repeating: 700, count: 1_500), upTo: 10_000).value == 100)
    #expect(limit([1_000_000], upTo: 3).value == 3)
    #expect(limit([1_000_000], upTo: .max - 1).value == .max - 1)
  }

  @Test("J372: the number of jobs that are counted has a limit, unless there are thousands of queues")
  func total() {
    for count in [1, 7, 40, 300, 900] {
      for size in [10, 100, 1_000, 1_000_000] {
        let sizes = (0..<count).map { $0 % 2 == 0 ? size : 30 }
        #expect(limit(sizes, upTo: 10_000).counted < 150_000, "\(count) queues, \(size) jobs")
      }
    }
  }
}
#endif
