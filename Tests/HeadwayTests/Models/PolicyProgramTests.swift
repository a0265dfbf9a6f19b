import Testing

@Suite("Pairs of policies", .hangLimit) struct PolicyProgramTests {
  @Test("X1, X3, X4, X6, X7, C5, D1, P2, Q3, Q4, Q8: random programs with two kinds of policies agree with a model")
  func pairs() {
    let count = environmentNumber("HEADWAY_POLICY_PROGRAMS") ?? 300
    let first = environmentNumber("HEADWAY_POLICY_SEED") ?? 1
    print("Policies: \(count) programs from HEADWAY_POLICY_SEED=\(first)")
    let kinds = PolicyProgram.Kind.allCases
    let pairs = kinds.indices.flatMap { one in kinds[one...].map { Set([kinds[one], $0]) } }
    for seed in first..<first + count {
      noteProgress(of: "Policies", "HEADWAY_POLICY_SEED=\(seed)")
      // Every tenth program has all kinds.
      let chosen = seed % 10 == 0 ? Set(kinds) : pairs[seed % pairs.count]
      if let divergence = PolicyProgram.divergence(seed: UInt64(seed), kinds: chosen) {
        Issue.record("HEADWAY_POLICY_SEED=\(seed) HEADWAY_POLICY_PROGRAMS=1: \(divergence)")
        return
      }
    }
  }
}
