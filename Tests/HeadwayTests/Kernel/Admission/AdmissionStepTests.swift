import Testing

@testable import Headway

/// The classes of workers that the admission issues tickets for.
@Suite("Individual steps of the admission", .hangLimit) struct AdmissionStepTests {
  /// Has its own code for a cancellation.
  private final class OwnFinish: AsynchronousOperation, @unchecked Sendable {
    override var isFinished: Bool { super.isFinished }
  }

  private func add(_ operation: Headway.Operation, to admission: inout Admission) {
    _ = operation.state.reserve()
    let isIn = admission.add(.passRetained(operation))
    #expect(isIn)
  }

  @Test("C5, T2: a worker is sent for a cancelled operation that has its own cancellation code")
  func cancelledWithCode() {
    var admission = Admission()
    let operation = OwnFinish()
    _ = operation.state.cancel()
    add(operation, to: &admission)
    #expect(operation.admission.place == .cancelledWithinLimit)
    #expect(admission.issueTickets()[.normal] == 1)
    admission.redeemTicket(.normal)
    #expect(admission.next(for: .normal) === operation)
    admission.finished(operation)?.release()
  }

  @Test("P5, Q3: while an urgent operation waits for its turn, workers of its class run the operations before it")
  func beforeUrgent() {
    var admission = Admission()
    admission.setPlacement(Placement(quality: .background, hasClasses: true))
    admission.limit = 1
    let (low, urgent) = (BlockOperation {}, BlockOperation {})
    urgent.qualityOfService = .userInitiated
    add(low, to: &admission)
    add(urgent, to: &admission)
    let tickets = admission.issueTickets()
    #expect(tickets[.normal] == 1 && tickets[.background] == 0)
    admission.redeemTicket(.normal)
    for operation in [low, urgent] {
      #expect(admission.next(for: .normal) === operation)
      admission.finished(operation)?.release()
    }
  }
}
