import Headway
import HeadwayTestKit
import HeadwayTestSupport
import Testing

/// Random graphs of operations with values, failures, cancellations, groups, orders and pending limits, on the threads
/// of the library, compared with the results that the rules require.
@Suite("Values", .hangLimit) struct ValueProgramTests {
  @Test("B3, B4, C5, D3, O4, Q3, Q12, Q13: programs of operations with values") func programs() async throws {
    let count = (environmentNumber("HEADWAY_MODEL_PROGRAMS") ?? 2_000) / 2
    let first = environmentNumber("HEADWAY_MODEL_SEED") ?? 1
    print("Values: \(count) programs from HEADWAY_MODEL_SEED=\(first)")
    let tokens = Tokens()
    for seed in first..<first + count {
      noteProgress(of: "Values", "HEADWAY_MODEL_SEED=\(seed)")
      let program = ValueProgram(seed: UInt64(seed))
      let complaints = try await ValueProgramRun(program, tokens).complaints()
      guard !complaints.isEmpty else { continue }
      Issue.record("HEADWAY_MODEL_SEED=\(seed) HEADWAY_MODEL_PROGRAMS=2: \(complaints)\n\(program)")
      return
    }
    await until { tokens.liveCount == 0 }
  }

  @Test("Random programs of values reach every kind of situation") func reach() {
    var (ends, orders, limited): (Set<String>, Set<Bool>, Int) = ([], [], 0)
    for seed in UInt64(1)...500 {
      let program = ValueProgram(seed: seed)
      orders.insert(program.order == .fifo)
      if program.maxOperationCount != nil { limited += 1 }
      for (node, result) in zip(program.nodes, program.results) {
        ends.insert("\(Mirror(reflecting: node.kind).children.first?.label ?? "\(node.kind)") \(result.caseName)")
      }
    }
    #expect(orders.count == 2 && limited > 50)
    // Values and suspending ones can't fail; the throwing ones can't succeed.
    #expect(ends.count == 4 * 4 - 3, "\(ends.sorted())")
  }
}

extension ValueProgram.Result {
  fileprivate var caseName: String { Mirror(reflecting: self).children.first?.label ?? "\(self)" }
}
