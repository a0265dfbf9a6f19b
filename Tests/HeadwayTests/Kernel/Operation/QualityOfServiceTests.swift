import Headway
import HeadwayTestKit
import Testing

/// The nice values of a thread of each class, above that of the process; Linux divides processor time by them.
@Suite("Quality of service", .hangLimit) struct QualityOfServiceTests {
  private func operation(_ quality: QualityOfService, _ nice: EventRecorder<Int32>) -> BlockOperation {
    let operation = BlockOperation { nice.record(currentNiceValue()) }
    operation.qualityOfService = quality
    return operation
  }

  #if os(Linux)
  @Test(
    "P3: an operation runs at the higher of its own quality of service and its queue's",
    arguments: [
      (.default, .default, 0), (.default, .userInteractive, 0), (.default, .utility, 10), (.default, .background, 19),
      (.background, .default, 19), (.utility, .default, 10), (.background, .utility, 10), (.utility, .background, 10),
      (.background, .userInitiated, 0), (.userInteractive, .background, 0),
    ] as [(QualityOfService, QualityOfService, Int32)])
  func higher(queueQuality: QualityOfService, ownQuality: QualityOfService, nice: Int32) {
    let queue = OperationQueue()
    queue.qualityOfService = queueQuality
    let values = EventRecorder<Int32>()
    queue.addOperations([operation(ownQuality, values)], waitUntilFinished: true)
    #expect(values.events == [nice + processNiceValue()])
  }

  @Test("P3: a thread of a high class has the nice value of its own class, even if a thread of a low class created it")
  func inherited() {
    let values = EventRecorder<Int32>()
    let low = operation(.background, values)
    let queue = OperationQueue()
    let outer = BlockOperation {
      let others = OperationQueue()
      let meeting = Meeting(of: 8)
      for _ in 0..<8 {
        others.addOperation {
          meeting.attend()
          values.record(currentNiceValue())
        }
      }
      others.waitUntilAllOperationsAreFinished()
    }
    outer.qualityOfService = .background
    queue.addOperations([low, outer], waitUntilFinished: true)
    #expect(values.events.sorted() == Array(repeating: processNiceValue(), count: 8) + [19 + processNiceValue()])
  }

  @Test("P3: a change of the queue applies to operations that start later") func queueChanged() {
    let values = EventRecorder<Int32>()
    let queue = OperationQueue()
    queue.qualityOfService = .background
    queue.isSuspended = true
    queue.addOperations([operation(.default, values)], waitUntilFinished: false)
    queue.qualityOfService = .userInitiated
    queue.isSuspended = false
    queue.waitUntilAllOperationsAreFinished()
    #expect(values.events == [processNiceValue()])
  }

  @Test("P5: direct and indirect dependencies of a more urgent operation are raised") func raised() {
    let values = EventRecorder<Int32>()
    let (queue, other) = (OperationQueue(), OperationQueue())
    queue.qualityOfService = .background
    queue.isSuspended = true
    let first = operation(.default, values)
    let second = operation(.background, values)
    second.addDependency(first)
    queue.addOperations([first, second], waitUntilFinished: false)
    let urgent = operation(.userInteractive, values)
    urgent.addDependency(second)
    other.addOperation(urgent)
    queue.isSuspended = false
    other.waitUntilAllOperationsAreFinished()
    #expect(values.events == Array(repeating: processNiceValue(), count: 3))
  }

  @Test("P5: a dependency is also raised if its dependent's queue is more urgent, or becomes more urgent later")
  func raisedLater() {
    let values = EventRecorder<Int32>()
    let (queue, urgentQueue) = (OperationQueue(), OperationQueue())
    queue.qualityOfService = .background
    queue.isSuspended = true
    urgentQueue.qualityOfService = .userInteractive
    let (first, second) = (operation(.default, values), operation(.default, values))
    let (waiting, urgent) = (operation(.default, values), operation(.default, values))
    waiting.addDependency(first)
    urgent.addDependency(second)
    queue.addOperations([first, second], waitUntilFinished: false)
    urgentQueue.addOperations([waiting], waitUntilFinished: false)
    OperationQueue().addOperations([urgent], waitUntilFinished: false)
    urgent.qualityOfService = .utility
    queue.isSuspended = false
    waiting.waitUntilFinished()
    urgent.waitUntilFinished()
    #expect(values.events.filter { $0 == processNiceValue() }.count == 2)
    #expect(values.events.filter { $0 == processNiceValue() + 10 }.count == 2)
  }

  @Test("P5: a raised operation does not wait behind other operations of its queue's class") func overtakes() {
    let queue = OperationQueue()
    queue.qualityOfService = .background
    let ends = (0..<64).map { _ in queue.occupy() }
    let values = EventRecorder<Int32>()
    let waiting = operation(.default, values)
    // Until it is raised, so no worker of its queue takes it earlier.
    let raised = BlockOperation {}
    waiting.addDependency(raised)
    queue.addOperation(waiting)
    let urgent = operation(.userInteractive, values)
    urgent.addDependency(waiting)
    OperationQueue().addOperation(urgent)
    raised.start()
    urgent.waitUntilFinished()
    #expect(values.events == [processNiceValue(), processNiceValue()])
    for end in ends { end.open() }
    queue.waitUntilAllOperationsAreFinished()
  }

  @Test("P5: a ready operation is also raised, unless a worker of its queue's class has taken it") func raisedReady() {
    let queue = OperationQueue()
    queue.qualityOfService = .background
    let ends = (0..<8).map { _ in queue.occupy() }
    for _ in 0..<50 {
      let values = EventRecorder<Int32>()
      let waiting = operation(.default, values)
      queue.addOperation(waiting)
      let urgent = operation(.userInteractive, values)
      urgent.addDependency(waiting)
      OperationQueue().addOperations([urgent], waitUntilFinished: true)
      #expect(values.events.last == processNiceValue())
      #expect([processNiceValue(), min(19, processNiceValue() + 19)].contains(values.events[0]))
    }
    for end in ends { end.open() }
    queue.waitUntilAllOperationsAreFinished()
  }

  @Test("P4: threadPriority applies only to main()") func threadPriority() {
    let values = EventRecorder<Int32>()
    let queue = OperationQueue(limit: 1)
    let slow = BlockOperation { values.record(currentNiceValue()) }
    #expect(slow.threadPriority == 0.5)
    slow.threadPriority = 0.25
    slow.completionBlock = { values.record(currentNiceValue()) }
    queue.addOperations([slow], waitUntilFinished: true)
    queue.addOperations(
      (0..<8).map { _ in BlockOperation { values.record(currentNiceValue()) } }, waitUntilFinished: true)
    #expect(eventually { values.count == 10 })
    #expect(values.events.sorted() == Array(repeating: processNiceValue(), count: 9) + [processNiceValue() + 10])
  }
  #endif

  @Test("P2: with a limit of 1 and qualities of service, a later change of priority takes effect")
  func priorityChanged() {
    let executor = StepExecutor()
    let queue = OperationQueue(limit: 1)
    executor.control(queue)
    let ran = EventRecorder<String>()
    let operations = [("first", QualityOfService.userInteractive), ("second", .utility), ("third", .background)].map {
      let operation = BlockOperation(name: $0.0) { [name = $0.0] in ran.record(name) }
      operation.qualityOfService = $0.1
      return operation
    }
    queue.addOperations(operations, waitUntilFinished: false)
    operations[2].queuePriority = .veryHigh
    operations[0].queuePriority = .low
    executor.runSteps()
    #expect(ran.events == ["third", "second", "first"])
  }

  @Test("P3: the properties for qualities of service have the expected values") func properties() {
    let (operation, queue) = (BlockOperation {}, OperationQueue())
    #expect(operation.qualityOfService == .default && queue.qualityOfService == .default)
    for quality in QualityOfService.allCases {
      operation.qualityOfService = quality
      queue.qualityOfService = quality
      #expect(operation.qualityOfService == quality && queue.qualityOfService == quality)
    }
    #expect(OperationQueue.main.qualityOfService == .userInteractive)
  }

  @Test("P4: an invalid threadPriority is a programming error") func wrongThreadPriority() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      BlockOperation {}.threadPriority = 2
    }
    #expect(result.message.contains("use 0.0 to 1.0"))
  }
}
