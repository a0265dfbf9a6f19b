import HeadwayTestKit
import Testing

@testable import Headway

@Suite("Admission", .hangLimit) struct AdmissionTests {
  @Test("P2, Q3, Q4, Q8, Q12, C5: random programs start exactly the operations that the rules prescribe, in that order")
  func programs() {
    let count = environmentNumber("HEADWAY_MODEL_PROGRAMS") ?? 2_000
    let first = environmentNumber("HEADWAY_MODEL_SEED") ?? 1
    print("Admission: \(count) programs from HEADWAY_MODEL_SEED=\(first)")
    for seed in first..<first + count {
      noteProgress(of: "Admission", "HEADWAY_MODEL_SEED=\(seed)")
      let census = Crowd()
      if let divergence = AdmissionProgram.divergence(seed: UInt64(seed), census) {
        Issue.record("HEADWAY_MODEL_SEED=\(seed) HEADWAY_MODEL_PROGRAMS=1: \(divergence)")
        return
      }
      guard census.now == 0 else {
        Issue.record("HEADWAY_MODEL_SEED=\(seed): \(census.now) operations were not freed")
        return
      }
    }
  }

  @Test("Q3: exactly one worker is sent for each operation that can start") func tickets() {
    var admission = Admission()
    admission.limit = 3
    let census = Crowd()
    let operations = (0..<5).map { _ in CountedOperation(census) }
    for operation in operations {
      _ = operation.state.reserve()
      let isIn = admission.add(.passRetained(operation))
      #expect(isIn)
    }
    #expect(admission.issueTickets()[.normal] == 3)
    #expect(admission.issueTickets()[.normal] == 0)
    admission.redeemTicket(.normal)
    #expect(admission.next(for: .normal) === operations[0])
    #expect(admission.issueTickets()[.normal] == 0, "two more are on their way for the two places left")
    admission.redeemTicket(.normal)
    admission.isSuspended = true
    #expect(admission.next(for: .normal) == nil)
    #expect(admission.issueTickets()[.normal] == 0)
    admission.isSuspended = false
    #expect(admission.issueTickets()[.normal] == 1)
    operations[0].end()
    admission.finished(operations[0])?.release()
    #expect(admission.issueTickets()[.normal] == 1)
    for operation in operations.dropFirst() {
      _ = admission.next(for: .normal)
      operation.end()
      admission.finished(operation)?.release()
    }
    #expect(admission.count == 0)
  }
}

/// An operation whose living instances are counted.
class CountedOperation: Headway.Operation, @unchecked Sendable {
  private let census: Crowd

  init(_ census: Crowd) {
    self.census = census
    census.enter()
  }

  deinit { census.leave() }
}
