import HeadwayTestKit
import HeadwayTestSupport
import Synchronization
import Testing

@testable import Headway

/// Operations and callers that wait for others without depending on them.
///
/// A queue is suspended, or its place is in use, until everything is set up. As a result, the operations show which of
/// them have been raised by then, and the nice values of their threads show how they run.
@Suite("Raising by waits", .hangLimit) struct RaisedWaitTests: RaisingSuite {
  @Test("P5, W2: everything that blocks an operation is raised, directly and indirectly, before and after it blocks")
  func blocked() {
    let (low, queue, urgentQueue) = (suspendedQueue(.background), OperationQueue(), OperationQueue())
    let (first, second, third) = (operation(), operation(), operation())
    low.addOperations([first, second, third], waitUntilFinished: false)
    urgentQueue.addOperation(operation(.userInitiated) { first.waitUntilFinished() })
    #expect(eventually { isRaised(first, in: .background) })
    #expect(!isRaised(second, in: .background))
    // Blocked first, and urgent later.
    let begun = Gate()
    let waiting = operation(.background) {
      begun.open()
      second.waitUntilFinished()
    }
    queue.addOperation(waiting)
    begun.wait()
    let urgent = operation(.userInitiated)
    urgent.addDependency(waiting)
    urgentQueue.addOperation(urgent)
    #expect(eventually { isRaised(second, in: .background) })
    #expect(!isRaised(third, in: .background))
    low.isSuspended = false
    urgent.waitUntilFinished()
    low.waitUntilAllOperationsAreFinished()
    urgentQueue.waitUntilAllOperationsAreFinished()
  }

  @Test("P5, Q6: current and later operations of a queue are raised while an urgent operation waits for all of them")
  func blockedOnQueue() {
    let (low, urgentQueue) = (suspendedQueue(.background), OperationQueue())
    let first = operation()
    low.addOperation(first)
    urgentQueue.addOperation(operation(.userInitiated) { low.waitUntilAllOperationsAreFinished() })
    #expect(eventually { isRaised(first, in: .background) })
    let second = operation()
    low.addOperation(second)
    #expect(isRaised(second, in: .background))
    low.isSuspended = false
    urgentQueue.waitUntilAllOperationsAreFinished()
    low.isSuspended = true
    let third = operation()
    low.addOperation(third)
    #expect(!isRaised(third, in: .background), "no caller waits any more")
    low.isSuspended = false
    low.waitUntilAllOperationsAreFinished()
  }

  @Test("P5: operations are also raised if a caller adds them and waits for them") func addedAndAwaited() {
    let (low, urgentQueue) = (suspendedQueue(.background), OperationQueue())
    let operations = [operation(), operation()]
    urgentQueue.addOperation(
      operation(.userInitiated) { low.addOperations(operations, waitUntilFinished: true) })
    #expect(eventually { operations.allSatisfy { isRaised($0, in: .background) } })
    low.isSuspended = false
    urgentQueue.waitUntilAllOperationsAreFinished()
  }

  @Test("P5, Q6, Q13: the operations of a queue are raised while a task of a high priority waits for it")
  func awaitedQueue() async throws {
    for isFull in [true, false] {
      let low = suspendedQueue(.background)
      if isFull { low.maxOperationCount = 1 }
      let first = operation()
      low.addOperation(first)
      let waits = Task.detached(priority: .background) {
        if isFull { try await low.addOperationWhenBelowLimit {} } else { try await low.untilAllOperationsAreFinished() }
      }
      await until { low.state.withLock { $0.isAwaited } }
      #expect(!isRaised(first, in: .background))
      waits.escalatePriority(to: .high)
      await until { isRaised(first, in: .background) }
      waits.cancel()
      await #expect(throws: CancellationError.self) { try await waits.value }
      let second = operation()
      low.addOperation(second)
      #expect(!isRaised(second, in: .background), "no caller waits any more")
      low.isSuspended = false
      try await low.untilAllOperationsAreFinished()
    }
  }

  @Test("P5, Q15: a job of an actor raises earlier jobs in the actor's queue") func actor() async {
    let journal = Journal()
    journal.queue.isSuspended = true
    let low = Task.detached(priority: .background) { await journal.priority() }
    await until { journal.queue.operationCount == 1 }
    let first = journal.queue.operations[0]
    #expect(!isRaised(first))
    let high = Task.detached(priority: .high) { await journal.priority() }
    await until { journal.queue.operationCount == 2 }
    #expect(isRaised(first))
    journal.queue.isSuspended = false
    _ = (await low.value, await high.value)
  }

  @Test("P5, Q15: a waiting job is raised when its task is escalated") func job() async {
    let queue = suspendedQueue()
    let low = Task(executorPreference: queue, priority: .background) { Task.currentPriority }
    await until { queue.operationCount == 1 }
    let job = queue.operations[0]
    queue.raiseEscalated()
    #expect(!isRaised(job))
    let high = Task.detached(priority: .high) { await low.value }
    await until {
      queue.raiseEscalated()
      return isRaised(job)
    }
    queue.isSuspended = false
    #expect(await high.value >= .high)
  }

  @Test("P5, Q15: a queue that runs operations detects the escalation of a task itself") func jobBehindOthers() async {
    let queue = OperationQueue(limit: 1)
    let end = queue.occupy()
    let low = Task(executorPreference: queue, priority: .background) {}
    await until { queue.operationCount == 2 }
    let job = queue.operations[1]
    let high = Task.detached(priority: .high) { await low.value }
    await until { isRaised(job) }
    end.open()
    await high.value
  }

  @Test("P5, Q15: a job that a thread has taken but not started is also raised") func takenJob() {
    var admission = Admission()
    let jobs = (0..<3).map { _ in EscalatedOperation() }
    for job in jobs {
      _ = job.state.reserve()
      let isIn = admission.add(.passRetained(job))
      #expect(isIn)
    }
    let batch = Batch()
    batch.reset(for: OperationQueue(), nil, admission.placement, .background)
    let isFilled = admission.fill(batch, atMost: 3, indivisible: 3, at: 0, where: { $0.fitsBatch })
    #expect(isFilled && batch.count == 3)
    let (escalated, hasJobs) = admission.findEscalated()
    #expect(hasJobs && escalated.count == 3)
    // The first belongs to the thread.
    #expect(jobs.map(\.admission.place) == [.taken, .ready, .ready])
    for job in jobs { OperationReference(job).release() }
  }

  /// Represents a job of a task that has been escalated.
  private final class EscalatedOperation: Headway.Operation, @unchecked Sendable {
    override init() {
      super.init()
      qualityOfService = .background
    }

    override func main() {}

    override var levelOfTask: Int? { QualityOfService.userInitiated.level }
  }

  @Test("P5, Q15: a running job is also raised") func runningJob() async {
    let queue = OperationQueue()
    let (begun, end) = (Gate(), Gate())
    // The job blocks its thread: if the task were suspended, the job would have ended.
    let run: @Sendable () -> Void = {
      begun.open()
      end.wait()
    }
    let low = Task(executorPreference: queue, priority: .background) { run() }
    await begun.untilOpen()
    let job = queue.operations[0]
    let high = Task.detached(priority: .high) { await low.value }
    await until { isRaised(job) }
    end.open()
    await high.value
    // The task is not kept.
    await until { job.levelOfTask == nil }
  }

  @Test("P5, Q15: a queue looks for escalations again while a thread is about to begin a job") func jobOfBatch() async {
    let (queue, executor) = (OperationQueue(), VisitExecutor())
    queue.executor = executor
    let task = Task(executorPreference: queue) {}
    await until { queue.operationCount == 1 }
    executor.runBatch(of: queue) { #expect(queue.raiseEscalated()) }
    await task.value
  }

  @Test("P5, B1, Q16: everything that blocks a block or an iteration is raised", arguments: [true, false])
  func blockedThreads(isPerform: Bool) {
    let (low, queue) = (suspendedQueue(.background), OperationQueue())
    let awaited = (0..<3).map { _ in operation() }
    low.addOperations(awaited, waitUntilFinished: false)
    let waiting = operation(.background) {
      if isPerform {
        queue.concurrentPerform(iterations: 3) { awaited[$0].waitUntilFinished() }
      } else {
        awaited[0].waitUntilFinished()
      }
    }
    if !isPerform { for number in 1...2 { waiting.addExecutionBlock { awaited[number].waitUntilFinished() } } }
    queue.addOperation(waiting)
    #expect(eventually { waiting.waits.count == 3 })
    #expect(awaited.allSatisfy { !isRaised($0, in: .background) })
    let urgent = operation(.userInitiated)
    urgent.addDependency(waiting)
    queue.addOperation(urgent)
    #expect(awaited.allSatisfy { isRaised($0, in: .background) })
    low.isSuspended = false
    queue.waitUntilAllOperationsAreFinished()
    #expect(waiting.waits.isEmpty)
  }

  @Test("P5, K3: a task that waits for the next state of an operation raises it") func states() async {
    let low = suspendedQueue(.background)
    let operation = operation()
    low.addOperation(operation)
    let task = Task.detached(priority: .high) { for await _ in operation.states {} }
    await until { isRaised(operation, in: .background) }
    low.isSuspended = false
    await task.value
  }

  private actor Journal {
    nonisolated let queue = OperationQueue(order: .fifo)
    nonisolated var unownedExecutor: UnownedSerialExecutor { queue.asUnownedSerialExecutor() }

    func priority() -> TaskPriority { Task.currentPriority }
  }
}
