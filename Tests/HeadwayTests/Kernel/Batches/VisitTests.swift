import Dispatch
import HeadwayTestKit
import Testing

@testable import Headway

/// A thread that visits a queue while the thread of a batch continues.
@Suite("Visits", .hangLimit) struct VisitTests {
  private let queue = OperationQueue()
  private let executor = VisitExecutor()

  init() { queue.executor = executor }

  // The thread of a batch, X, finishes A, publishes its dependent D and continues with B, while another thread, Y, has
  // the queue's lock:
  //
  //     X: runs A                          Y: collects: there is nothing
  //     X: A ends, D becomes ready
  //     X: begins B, which takes long
  //                                        Y: reclaims: there is nothing
  //                                        Y: collects again, and takes D
  @Test(
    "T2, D1: a visit that finds no work reclaims a batch, collects again, and takes work that it has published"
  )
  func collectsAgain() throws {
    let (first, second, dependent) = (BlockOperation {}, BlockOperation {}, BlockOperation {})
    dependent.addDependency(first)
    queue.addOperations([first, second, dependent], waitUntilFinished: false)
    let thread = SteppedBatch(of: queue, atMost: 2)
    thread.begin(first)
    let visit = Visit(of: queue, by: .executor)
    let request = Visit.Request(mostCount: 1, maySpin: false, hadTicket: true, wasSpinning: false)
    var released = ReleasedOperations()
    // An update collects, then makes its change.
    let hasBatch = queue.update(collectingBatches: true) { state in
      thread.end(first)
      thread.begin(second)
      if case .batch = visit.choose(from: &state, request, &released) { return true } else { return false }
    }
    released.release(from: queue)
    try #require(hasBatch)
    #expect(queue.state.withLock { _ in dependent.admission.place } == .taken)
    #expect(queue.runAll(of: visit.batch, nil) == 1)
    queue.closeBatch(visit.batch)
    visit.batch.release()
    #expect(dependent.isFinished && second.isExecuting)
    thread.end(second)
    thread.close()
    #expect(queue.operationCount == 0)
  }

  @Test("Q9, K2: on a serial dispatch queue, the end of an operation notifies observers on another thread")
  func endOnOnlyThread() {
    let (dispatchQueue, key) = (DispatchQueue(label: "only thread"), DispatchSpecificKey<Int>())
    dispatchQueue.setSpecific(key: key, value: 1)
    let queue = OperationQueue()
    queue.underlyingQueue = dispatchQueue
    let (places, notified) = (EventRecorder<Bool>(), Gate())
    // Nothing starts until the thread that adds has notified.
    dispatchQueue.suspend()
    queue.addOperation {}
    let token = queue.observe(\.operationCount, options: [.new]) { _, change in
      places.record(DispatchQueue.getSpecific(key: key) != nil)
      if change.newValue == 0 { notified.open() }
    }
    dispatchQueue.resume()
    notified.wait()
    #expect(places.events == [false])
    withExtendedLifetime(token) {}
  }

  @Test("Q9, K2: a thread of a serial dispatch queue that leaves has another thread notify observers")
  func leavingOnlyThread() {
    let (dispatchQueue, key) = (DispatchQueue(label: "only thread"), DispatchSpecificKey<Int>())
    dispatchQueue.setSpecific(key: key, value: 1)
    let queue = OperationQueue()
    queue.underlyingQueue = dispatchQueue
    queue.isSuspended = true
    let (places, notified) = (EventRecorder<Bool>(), Gate())
    let token = queue.observe(\.isSuspended) { _, _ in
      places.record(DispatchQueue.getSpecific(key: key) != nil)
      notified.open()
    }
    // Another thread has changed the queue and has not notified yet. A thread arrives and finds nothing.
    let generation = queue.state.withLock { state in
      state.note(.isSuspended, false)
      state.admission.issueTicket(.normal)
      return state.generation
    }
    dispatchQueue.sync { _ = queue.run(by: .underlyingQueue(generation: generation), atMost: 1) }
    notified.wait()
    #expect(places.events == [false])
    withExtendedLifetime(token) {}
  }
}
