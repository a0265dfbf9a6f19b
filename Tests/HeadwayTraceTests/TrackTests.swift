import HeadwayTestKit
import Testing

@testable import HeadwayTrace

@Suite("Tracks", .hangLimit) struct TrackTests {
  private func periods(seed: UInt64) -> [Period] {
    var generator = SeededGenerator(seed: seed)
    return (0..<200).map { _ in
      let start = Int64.random(in: 0..<100, using: &generator)
      return Period(from: start, to: start + Int64.random(in: 0..<20, using: &generator))
    }.sorted(by: Period.precedes)
  }

  @Test(
    "Periods on one track do not overlap, and there are as few tracks as possible", arguments: 0..<20 as Range<UInt64>)
  func separate(seed: UInt64) {
    let periods = periods(seed: seed)
    let numbers = Tracks.assign(periods)
    for (_, pairs) in Dictionary(grouping: zip(periods, numbers), by: \.1) {
      for (first, second) in zip(pairs, pairs.dropFirst()) { #expect(first.0.end <= second.0.start) }
    }
    let depth =
      (0..<120 as Range<Int64>).map { time in periods.filter { $0.start <= time && time < $0.end }.count }.max() ?? 0
    #expect((numbers.max() ?? 0) + 1 <= depth + 1)
  }

  @Test("Without a free track below the limit, a period is on the last one", arguments: 0..<20 as Range<UInt64>)
  func limited(seed: UInt64) {
    let numbers = Tracks.assign(periods(seed: seed), limit: 3)
    #expect(numbers.allSatisfy { (0...3).contains($0) })
  }

  @Test("A period inside another one shares its track if that is permitted") func nested() {
    let periods = [
      Period(from: 0, to: 100), Period(from: 10, to: 50), Period(from: 20, to: 30), Period(from: 60, to: 100),
    ]
    #expect(Tracks.assign(periods, nests: true) == [0, 0, 0, 0])
    #expect(Tracks.assign(periods) == [0, 1, 2, 1])
    #expect(Tracks.assign([Period(from: 0, to: 10), Period(from: 5, to: 15)], nests: true) == [0, 1])
  }

  @Test("A heap removes its elements in order", arguments: 0..<20 as Range<UInt64>) func heap(seed: UInt64) {
    var generator = SeededGenerator(seed: seed)
    var heap = MinimumHeap<Int>()
    let values = (0..<Int.random(in: 0..<50, using: &generator)).map { _ in Int.random(in: 0..<30, using: &generator) }
    for value in values { heap.insert(value) }
    var removed: [Int] = []
    while let value = heap.removeMinimum() { removed.append(value) }
    #expect(removed == values.sorted())
    #expect(heap.isEmpty)
  }

  @Test(
    "Times have at least two digits and a unit",
    arguments: [
      (0, "0 ns"), (7, "7 ns"), (980, "980 ns"), (1500, "1.5 µs"), (12_340_000, "12.3 ms"), (4_100_000_000, "4.1 s"),
      (999_999_999, "1000 ms"), (123_456_000_000, "123 s"),
    ] as [(Int64, String)])
  func times(time: Int64, text: String) { #expect(timeText(time) == text) }
}
