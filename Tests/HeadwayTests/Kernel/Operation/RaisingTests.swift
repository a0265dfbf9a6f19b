import HeadwayTestKit
import HeadwayTestSupport
import Synchronization
import Testing

@testable import Headway

/// Operations and callers that wait for others without depending on them.
///
/// A queue is suspended, or its place is in use, until everything is set up. As a result, the operations show which of
/// them have been raised by then, and the nice values of their threads show how they run.
@Suite("Raising", .hangLimit) struct RaisingTests: RaisingSuite {
  // MARK: Limits

  @Test("P5, Q3: running operations are raised while an urgent operation waits for a slot", arguments: [1, 2])
  func runningAtLimit(limit: Int) {
    let queue = OperationQueue(limit: limit)
    let (begun, end) = (Counter(), Gate())
    let low = (0..<limit).map { _ in
      operation(.background) {
        begun.increment()
        end.wait()
      }
    }
    queue.addOperations(low, waitUntilFinished: false)
    #expect(eventually { begun.value == limit })
    #expect(low.allSatisfy { !isRaised($0) })
    let urgent = operation(.userInitiated)
    queue.addOperation(urgent)
    #expect(low.allSatisfy { isRaised($0) })
    end.open()
    queue.waitUntilAllOperationsAreFinished()
  }

  @Test("P5, Q3: running operations are not raised while a slot is free, or while the urgent operation is not ready")
  func notAtLimit() {
    let queue = OperationQueue(limit: 2)
    let (begun, end) = (Gate(), Gate())
    let low = operation(.background) {
      begun.open()
      end.wait()
    }
    queue.addOperation(low)
    begun.wait()
    let (urgent, first) = (operation(.userInitiated), BlockOperation {})
    urgent.addDependency(first)
    queue.addOperation(urgent)
    first.start()
    urgent.waitUntilFinished()
    #expect(!isRaised(low))
    end.open()
    queue.waitUntilAllOperationsAreFinished()
  }

  @Test("P5, W2: everything that blocks an urgent operation at the limit is raised, before and after it is added")
  func blockedAtLimit() {
    let queue = OperationQueue(limit: 1)
    let (low, later) = (suspendedQueue(.background), suspendedQueue(.background))
    let (first, second, begun) = (operation(), operation(), Gate())
    low.addOperation(first)
    later.addOperation(second)
    // Without its own quality of service, it raises nothing on its own.
    queue.addOperation {
      begun.open()
      first.waitUntilFinished()
      second.waitUntilFinished()
    }
    begun.wait()
    queue.addOperation(operation(.userInitiated))
    #expect(eventually { isRaised(first, in: .background) })
    #expect(!isRaised(second, in: .background))
    low.isSuspended = false
    #expect(eventually { isRaised(second, in: .background) })
    later.isSuspended = false
    queue.waitUntilAllOperationsAreFinished()
  }

  #if os(Linux)
  @Test("P5, Q3: operations that start before an urgent operation run at its class, but later operations do not")
  func startingAtLimit() {
    let queue = suspendedQueue(limit: 1)
    let values = EventRecorder<Int32>()
    let last = operation(.background, values)
    last.queuePriority = .low
    let operations = [last, operation(.background, values), operation(.userInitiated, values)]
    queue.addOperations(operations, waitUntilFinished: false)
    // Starts before the urgent one, although it is added later.
    let overtaking = operation(.background, values)
    overtaking.queuePriority = .veryHigh
    queue.addOperation(overtaking)
    queue.isSuspended = false
    queue.waitUntilAllOperationsAreFinished()
    #expect(values.events == Array(repeating: processNiceValue(), count: 3) + [low])
  }

  @Test("P5, Q3, C5: an urgent operation that is cancelled does not raise operations that start afterwards")
  func cancelledAtLimit() {
    let queue = suspendedQueue(limit: 1)
    let values = EventRecorder<Int32>()
    let urgent = operation(.userInitiated)
    queue.addOperations([operation(.background, values), urgent], waitUntilFinished: false)
    urgent.cancel()
    queue.isSuspended = false
    queue.waitUntilAllOperationsAreFinished()
    #expect(values.events == [low])
  }

  @Test("P5, Q12: in a queue with insertion order, all operations before an urgent operation run at its class")
  func order() {
    let queue = suspendedQueue(order: .fifo)
    let values = EventRecorder<Int32>()
    let operations = [QualityOfService.background, .utility, .userInitiated, .background].map {
      operation($0, values)
    }
    queue.addOperations(operations, waitUntilFinished: false)
    queue.isSuspended = false
    queue.waitUntilAllOperationsAreFinished()
    #expect(values.events == Array(repeating: processNiceValue(), count: 3) + [low])
  }

  @Test("P5, Q8: a barrier, and the operations before it, run at the class of the operations behind it")
  func barrier() {
    let queue = suspendedQueue(.background)
    let values = EventRecorder<Int32>()
    queue.addOperation(operation(.default, values))
    queue.addBarrierBlock { values.record(currentNiceValue()) }
    queue.addOperation(operation(.background, values))
    queue.addBarrierBlock { values.record(currentNiceValue()) }
    let urgent = operation(.userInitiated, values)
    queue.addOperation(urgent)
    queue.isSuspended = false
    urgent.waitUntilFinished()
    #expect(values.events == Array(repeating: processNiceValue(), count: 5))
    queue.addOperations([operation(.default, values)], waitUntilFinished: true)
    #expect(values.events.last == low)
  }

  @Test("P3, P5: a task operation whose slot an urgent operation needs continues on a thread of the urgent class")
  func taskAtLimit() async throws {
    let queue = OperationQueue(limit: 1)
    let (begun, goOn) = (Gate(), Gate())
    let task = TaskOperation {
      begun.open()
      await goOn.untilOpen()
      return currentNiceValue()
    }
    task.qualityOfService = .background
    queue.addOperation(task)
    await begun.untilOpen()
    let urgent = operation(.userInitiated)
    queue.addOperation(urgent)
    #expect(isRaised(task))
    goOn.open()
    // If it were awaited, that would raise it.
    try await urgent.untilFinished()
    #expect(try await task.value == processNiceValue())
  }

  @Test("P5: the thread of a running operation is raised with it, if the process is allowed to raise threads")
  func thread() {
    guard mayLowerNiceValue() else { return }
    let queue = OperationQueue(limit: 1)
    let (begun, end, values) = (Gate(), Gate(), EventRecorder<Int32>())
    let first = operation(.background) {
      begun.open()
      end.wait()
      values.record(currentNiceValue())
    }
    queue.addOperation(first)
    begun.wait()
    let urgent = operation(.userInitiated)
    queue.addOperation(urgent)
    end.open()
    urgent.waitUntilFinished()
    queue.addOperations([operation(.background, values)], waitUntilFinished: true)
    #expect(values.events == [processNiceValue(), low])
  }
  #endif

  // MARK: Earlier operations

  @Test("P5: dependencies of the operations before an urgent operation are raised", arguments: [true, false])
  func dependenciesOfPredecessors(isFIFO: Bool) {
    let (queue, other) = (suspendedQueue(order: isFIFO ? .fifo : .priority), suspendedQueue(.background))
    let (dependency, later) = (operation(), operation())
    other.addOperations([dependency, later], waitUntilFinished: false)
    let (first, last) = (operation(), operation())
    first.addDependency(dependency)
    queue.addOperation(first)
    if !isFIFO { queue.addBarrierBlock {} }
    queue.addOperation(last)
    #expect(!isRaised(dependency, in: .background))
    // Later, and not from the beginning.
    last.qualityOfService = .userInitiated
    #expect(isRaised(dependency, in: .background))
    first.addDependency(later)
    #expect(isRaised(later, in: .background))
    (queue.isSuspended, other.isSuspended) = (false, false)
    queue.waitUntilAllOperationsAreFinished()
  }

  @Test("P5: each operation is visited once per class, no matter how many urgent operations follow it")
  func bound() {
    for order in [QueueOrder.fifo, .priority] {
      let queue = suspendedQueue(order: order)
      let count = 2_000
      var urgentCount = 0
      for number in 0..<count {
        let isUrgent = number % 5 == 4
        if isUrgent { urgentCount += 1 }
        queue.addOperation(operation(!isUrgent ? .background : number % 2 == 0 ? .utility : .userInitiated))
        if number % 100 == 99 { queue.addBarrierBlock {} }
      }
      let steps = queue.state.withLock { $0.admission.passedCount }
      // Behind a barrier, the first one of each class also passes those of its own segment.
      #expect(steps <= 2 * (count + count / 100) + 2 * count + urgentCount)
      queue.cancelAllOperations()
    }
  }
}
