import HeadwayTestKit

extension Workload {
  /// Operations of 1 to 100 µs that wait for up to three earlier ones.
  ///
  /// The result is the time as a multiple of the time that the bodies alone need on all processors.
  static let mix = Workload(name: "mix") { rival, count in
    guard let rival = rival as? any GraphRival else { return nil }
    var generator = SeededGenerator(seed: 7)
    let graph = DependencyGraph.random(count, most: 3, reach: count)
    let turns = (0..<count).map { _ in Spinning.turns(microseconds: .random(in: 1...100, using: &generator)) }
    func run() -> Double {
      let counter = Counter()
      let seconds = Stopwatch.seconds {
        rival.run(graph) { node in
          let turns = turns[node]
          return {
            Spinning.turn(turns)
            counter.increment()
          }
        }
      }
      counter.require(count)
      return seconds
    }
    let before = IdealTime.seconds(turns: turns)
    let seconds = run()
    let ideal = (before + IdealTime.seconds(turns: turns)) / 2
    return Report(samples: [seconds / ideal], figures: ["seconds": seconds, "ideal": ideal])
  }
}
