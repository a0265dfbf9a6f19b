import HeadwayTestKit
import Synchronization
import Testing

@testable import Headway

/// A thread that reads part of a progress while another thread changes that part.
@Suite("Individual steps of progress reports", .hangLimit) struct ProgressStepTests {
  private func hasNote(_ part: OperationProgress) -> Bool { part.hasReported.load(ordering: .relaxed) }

  // Thread X reads the whole. Thread Y changes the part and has the part's lock:
  //
  //     X: clears the note of the part
  //                                        Y: changes the part
  //     X: reads the part
  //                                        Y: reports the part, which has no note
  @Test("Q10: the note that a part has reported is cleared before the part is read") func clearsFirst() {
    let whole = OperationProgress(totalUnitCount: 1)
    let part = OperationProgress(totalUnitCount: 10, parent: whole, pendingUnitCount: 1)
    part.completedUnitCount = 1
    part.report()
    #expect(hasNote(part))
    let asks = Gate()
    onThreads(2) { number in
      guard number == 0 else {
        asks.wait()
        _ = whole.fractionCompleted
        return
      }
      part.state.withLock { state in
        asks.open()
        let isCleared = eventually { !hasNote(part) }
        #expect(isCleared)
        state.completed = 5
      }
      part.report()
    }
    #expect(whole.fractionCompleted == 0.5)
  }

  @Test("Q10: a part is changed before it is reported") func changesFirst() {
    let whole = OperationProgress(totalUnitCount: 1)
    let part = OperationProgress(totalUnitCount: 10, parent: whole, pendingUnitCount: 1)
    let token = part.onChange { [weak whole] _ in _ = whole?.fractionCompleted }
    // Another thread has changed the part and has not reported it. As a result, the next report calls the observer,
    // which reads.
    part.state.withLock { $0.completed = 1 }
    part.completeUnits(4)
    #expect(whole.fractionCompleted == 0.5)
    token.invalidate()
  }

  @Test("Q10: a report continues to the top, even if the part has been noted") func goesUp() {
    let whole = OperationProgress(totalUnitCount: 1)
    let middle = OperationProgress(totalUnitCount: 1, parent: whole, pendingUnitCount: 1)
    let part = OperationProgress(totalUnitCount: 10, parent: middle, pendingUnitCount: 1)
    // The middle was read without its part.
    #expect(whole.fractionCompleted == 0)
    part.hasReported.store(true, ordering: .relaxed)
    #expect(!hasNote(middle))
    part.report()
    #expect(hasNote(middle))
  }

  @Test("Q10: a part that is added counts with its earlier changes") func added() {
    let (whole, part) = (OperationProgress(totalUnitCount: 1), OperationProgress(totalUnitCount: 10))
    part.completedUnitCount = 5
    whole.addChild(part, withPendingUnitCount: 1)
    #expect(whole.fractionCompleted == 0.5)
  }
}
