#if os(Linux)
import HeadwayTestKit
import Synchronization
import Testing

@testable import Headway

/// A worker that leaves an operation, while another thread raises its thread.
@Suite("Individual steps of raising", .hangLimit) struct RaisingStepTests {
  // Thread X is the worker's. Thread Y raises it and has the lock of the worker's pool:
  //
  //                                        Y: sets the bit
  //     X: leaves the operation, and finds the bit
  //                                        Y: sets the nice value
  //     X: sets its nice value back
  @Test("P5: a raised worker acquires the lock of its pool before it restores its nice value") func takesLock() {
    let operation = BlockOperation {}
    let (isThere, goesOn, end) = (Gate(), Gate(), Gate())
    let thread = WatchedThread()
    let pool = WorkerPool.pool(of: .background)
    let work = PoolBlock {
      let reference = OperationReference(operation)
      Worker.current?.switchOperation(to: reference)
      isThere.open()
      goesOn.wait()
      Worker.current?.raisable.bitwiseOr(1, ordering: .relaxed)
      thread.run { _ = Worker.current?.switchOperation(to: nil) }
      end.open()
    }
    pool.submit(work, count: 1)
    isThere.wait()
    pool.state.withLock { _ in
      goesOn.open()
      #expect(thread.waits)
    }
    end.wait()
  }
}
#endif
