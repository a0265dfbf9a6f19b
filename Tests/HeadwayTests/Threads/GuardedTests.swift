#if os(Linux)
import HeadwayTestKit
import Testing

@testable import Headway

/// The locks that other threads take on behalf of threads with a raised nice value.
@Suite("Guarded", .hangLimit) struct GuardedTests {
  /// How code runs under a lock.
  private struct Section: Equatable, Sendable {
    let isOnOwnThread: Bool
    let nice: Int32
  }

  private func section() -> Section {
    let thread = ThreadIdentity()
    return Guarded(0).withLock { _ in Section(isOnOwnThread: thread.isCurrent, nice: currentNiceValue()) }
  }

  @Test(
    "P3: a thread with a raised nice value acquires no lock; other threads acquire locks themselves",
    arguments: [(.default, true), (.userInteractive, true), (.utility, false), (.background, false)]
      as [(QualityOfService, Bool)])
  func classes(quality: QualityOfService, isOnOwnThread: Bool) {
    let queue = OperationQueue()
    queue.qualityOfService = quality
    let sections = EventRecorder<Section>()
    queue.addOperations([BlockOperation { sections.record(section()) }], waitUntilFinished: true)
    #expect(sections.events == [Section(isOnOwnThread: isOnOwnThread, nice: processNiceValue())])
  }

  @Test("P3, P4: a thread also acquires no lock while a lowered thread priority raises its nice value")
  func priority() {
    let sections = EventRecorder<Section>()
    let nices = EventRecorder<Int32>()
    let operation = BlockOperation {
      nices.record(currentNiceValue())
      sections.record(section())
    }
    operation.threadPriority = 0.25
    operation.completionBlock = { sections.record(section()) }
    OperationQueue().addOperations([operation], waitUntilFinished: true)
    #expect(eventually { sections.count == 2 })
    #expect(nices.events == [processNiceValue() + 10])
    #expect(sections.events.map(\.isOnOwnThread) == [false, true])
    #expect(sections.events.allSatisfy { $0.nice == processNiceValue() })
  }

  @Test("P4, O4: a thread also acquires no lock after it has started another operation with a priority") func nested() {
    let sections = EventRecorder<Section>()
    let nices = EventRecorder<Int32>()
    let operation = BlockOperation {
      let inner = BlockOperation { nices.record(currentNiceValue()) }
      inner.threadPriority = 0.4
      inner.start()
      nices.record(currentNiceValue())
      sections.record(section())
    }
    operation.threadPriority = 0.25
    OperationQueue().addOperations([operation], waitUntilFinished: true)
    #expect(nices.events == [processNiceValue() + 14, processNiceValue() + 10])
    #expect(sections.events == [Section(isOnOwnThread: false, nice: processNiceValue())])
  }

  @Test("P3: threads other than workers acquire locks themselves") func outside() {
    #expect(section() == Section(isOnOwnThread: true, nice: currentNiceValue()))
  }

  @Test("P3, Q5: other threads make all changes of a queue for operations of low classes") func wholeQueue() {
    let queue = OperationQueue(limit: 2)
    queue.qualityOfService = .background
    let ran = Crowd()
    for _ in 0..<200 {
      queue.addOperation { [unowned queue] in
        ran.enter()
        _ = queue.operationCount
        queue.addBarrierBlock {}
      }
    }
    queue.waitUntilAllOperationsAreFinished()
    #expect(ran.now == 200 && queue.operationCount == 0)
  }
}
#endif
