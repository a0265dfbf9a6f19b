import HeadwayTestKit
import HeadwayTestSupport
import Testing

@testable import Headway

/// Random policies of every kind, set by several threads, while other threads change the queues in every way.
@Suite("Storm of policies", .hangLimit, .serialized) struct PolicyStormTests {
  @Test("X1, X2, X3, X4, X5, X6, X7, B4, C6, Q17: all policies hold, each operation ends once, and nothing remains")
  func storm() async {
    let rounds = environmentNumber("HEADWAY_STRESS_ROUNDS") ?? 20
    let first = environmentNumber("HEADWAY_STRESS_SEED") ?? 1
    print("Storm of policies: \(rounds) rounds from HEADWAY_STRESS_SEED=\(first)")
    for seed in first..<first + rounds {
      noteProgress(of: "Storm of policies", "HEADWAY_STRESS_SEED=\(seed)")
      let witness = StormWitness()
      await PolicyStorm(seed: UInt64(seed), witness).run()
      // Functions of operations that were not freed.
      await until { witness.heldCount == 0 }
      #expect(witness.violations == [], "seed \(seed)")
    }
  }
}
