import Dispatch
import Headway
import HeadwayTestKit
import Synchronization
import Testing

@Suite("Observation", .hangLimit) struct ObservationTests {
  @Test("K1: an observer receives old and new values, and the initial value if it requests that") func options() {
    let operation = BlockOperation {}
    let changes = EventRecorder<String>()
    @Sendable func text(_ change: KeyValueObservedChange<Bool>) -> String {
      "\(change.oldValue.map { "\($0)" } ?? "-") \(change.newValue.map { "\($0)" } ?? "-")"
    }
    let all = operation.observe(\.isFinished, options: [.initial, .old, .new]) { _, change in
      changes.record("all \(text(change))")
    }
    let old = operation.observe(\.isFinished, options: .old) { _, change in changes.record("old \(text(change))") }
    let none = operation.observe(\.isFinished) { _, change in changes.record("none \(text(change))") }
    operation.start()
    #expect(changes.events == ["all - false", "all false true", "old false -", "none - -"])
    withExtendedLifetime((all, old, none)) {}
  }

  @Test("K1: a token that is released or invalidated ends the observation") func token() {
    let operation = BlockOperation {}
    let told = EventRecorder<Int>()
    var first: KeyValueObservation? = operation.observe(\.isExecuting) { _, _ in told.record(1) }
    let second = operation.observe(\.isExecuting) { _, _ in told.record(2) }
    #expect(first != nil)
    first = nil
    second.invalidate()
    second.invalidate()
    operation.start()
    #expect(told.events.isEmpty)
  }

  @Test("K1: all properties of an operation that Foundation documents as observable are observable")
  func operationKeys() {
    let operation = BlockOperation {}
    let other = BlockOperation {}
    let cancelled = EventRecorder(observing: operation, at: \.isCancelled)
    let asynchronous = EventRecorder(observing: operation, at: \.isAsynchronous)
    let executing = EventRecorder(observing: operation, at: \.isExecuting)
    let finished = EventRecorder(observing: operation, at: \.isFinished)
    let ready = EventRecorder(observing: operation, at: \.isReady)
    let dependencies = EventRecorder(observing: operation, at: \.dependencies)
    let priority = EventRecorder(observing: operation, at: \.queuePriority)
    let completion = EventRecorder<Bool>()
    let token = operation.observe(\.completionBlock, options: .new) { _, change in
      completion.record(change.newValue! != nil)
    }
    operation.addDependency(other)
    operation.removeDependency(other)
    operation.addDependency(other)
    operation.queuePriority = .high
    operation.queuePriority = .high
    operation.completionBlock = {}
    operation.completionBlock = nil
    operation.cancel()
    #expect(dependencies.events == [[], [other], [], [other]])
    #expect(ready.events == [true, false, true, false, true])
    #expect(priority.events == [.normal, .high])
    #expect(completion.events == [true, false])
    #expect(cancelled.events == [false, true])
    #expect(asynchronous.events == [false])
    #expect(executing.events == [false])
    #expect(finished.events == [false, true])
    withExtendedLifetime(token) {}
  }

  @Test("K1: all documented properties of a queue are observable") func queueKeys() {
    let executor = StepExecutor()
    let queue = OperationQueue()
    executor.control(queue)
    let operations = EventRecorder(observing: queue, at: \.operations)
    let count = EventRecorder(observing: queue, at: \.operationCount)
    let limit = EventRecorder(observing: queue, at: \.maxConcurrentOperationCount)
    let suspended = EventRecorder(observing: queue, at: \.isSuspended)
    let name = EventRecorder(observing: queue, at: \.name)
    let (first, second) = (BlockOperation {}, BlockOperation {})
    queue.addOperation(first)
    queue.addOperation(second)
    executor.runSteps()
    queue.maxConcurrentOperationCount = 3
    queue.isSuspended = true
    queue.isSuspended = true
    queue.isSuspended = false
    queue.name = "import"
    #expect(operations.events == [[], [first], [first, second], [second], []])
    #expect(count.events == [0, 1, 2, 1, 0])
    #expect(limit.events == [-1, 3])
    #expect(suspended.events == [false, true, false])
    #expect(name.events == [nil, "import"])
  }

  @Test("K1: a subclass posts changes of its own properties") func ownKeyPaths() {
    final class Download: Headway.Operation, @unchecked Sendable {
      private let state = Mutex(0)
      var received: Int { state.withLock { $0 } }
      func receive(_ count: Int) {
        willChangeValue(for: \.received)
        state.withLock { $0 += count }
        didChangeValue(for: \.received)
      }
      func receiveNamed(_ count: Int) {
        willChangeValue(forKey: "received")
        state.withLock { $0 += count }
        didChangeValue(forKey: "received")
      }
    }
    let download = Download()
    let received = EventRecorder(observing: download, at: \.received)
    download.receive(10)
    download.receive(0)
    download.receiveNamed(5)
    #expect(received.events == [0, 10, 10, 15])
  }

  @Test("K1: an overridden property of a final class can be observed, too") func finalClass() {
    let operation = FinalOperation()
    let executing = EventRecorder(observing: operation, at: \.isExecuting)
    let finished = EventRecorder(observing: operation, at: \.isFinished)
    operation.start()
    operation.complete()
    #expect(executing.events == [false, true, false])
    // At the start, it posts that it has not finished.
    #expect(finished.events == [false, false, true])
  }

  @Test("K1: an operation can be observed as its own type, and as Operation") func types() {
    final class Named: Headway.Operation, @unchecked Sendable {
      let title = "named"
    }
    let operation = Named()
    let told = EventRecorder<String>()
    let own = operation.observe(\.isFinished) { operation, _ in told.record(operation.title) }
    let general: Headway.Operation = operation
    let token = general.observe(\.isFinished) { operation, _ in told.record("\(operation.isFinished)") }
    operation.start()
    #expect(told.events == ["named", "true"])
    withExtendedLifetime((own, token)) {}
  }

  @Test("K2: changes are reported in order, each once, after they have happened") func order() {
    let operation = BlockOperation {}
    let told = EventRecorder<String>()
    let tokens = [
      operation.observe(\.isExecuting, options: .new) { operation, change in
        told.record("executing \(change.newValue!) \(operation.isExecuting)")
      },
      operation.observe(\.isFinished, options: .new) { operation, change in
        told.record("finished \(change.newValue!) \(operation.isFinished)")
      },
    ]
    OperationQueue().addOperations([operation], waitUntilFinished: true)
    #expect(told.events == ["executing true true", "executing false false", "finished true true"])
    withExtendedLifetime(tokens) {}
  }

  @Test("K2: an observer can call anything, even code that changes the same operation") func reentrant() {
    let queue = OperationQueue()
    let operation = BlockOperation {}
    let told = EventRecorder<String>()
    let follower = BlockOperation { told.record("follower") }
    let tokens = [
      operation.observe(\.isExecuting) { operation, _ in
        told.record("executing")
        operation.cancel()
        operation.queuePriority = .low
        _ = queue.operations
      },
      operation.observe(\.isCancelled) { _, _ in told.record("cancelled") },
      operation.observe(\.isFinished) { operation, _ in
        told.record("finished")
        operation.cancel()
        queue.addOperation(follower)
      },
    ]
    queue.addOperation(operation)
    operation.waitUntilFinished()
    queue.waitUntilAllOperationsAreFinished()
    #expect(told.events == ["executing", "cancelled", "executing", "finished", "follower"])
    withExtendedLifetime(tokens) {}
  }

  @Test("K2: no change is lost or reported twice if several threads make changes") func manyThreads() {
    for _ in 0..<200 {
      let operation = BlockOperation {}
      let others = (0..<4).map { _ in BlockOperation {} }
      let queue = OperationQueue()
      let finished = EventRecorder(observing: operation, at: \.isFinished)
      let cancelled = EventRecorder(observing: operation, at: \.isCancelled)
      let dependencies = EventRecorder(observing: operation, at: \.dependencies)
      onThreads(5) { number in
        if number == 4 { return operation.cancel() }
        operation.addDependency(others[number])
        operation.removeDependency(others[number])
      }
      queue.addOperations(others, waitUntilFinished: true)
      #expect(finished.events == [false, true])
      #expect(cancelled.events == [false, true])
      #expect(zip(dependencies.events, dependencies.events.dropFirst()).allSatisfy { $0 != $1 })
    }
  }

  @Test("K2: changes of the operation count are reported in order") func queueOrder() {
    let queue = OperationQueue()
    let counts = EventRecorder(observing: queue, at: \.operationCount)
    onThreads(4) { _ in
      for _ in 0..<50 { queue.addOperation {} }
    }
    queue.waitUntilAllOperationsAreFinished()
    #expect(eventually { counts.count == 401 })
    #expect(counts.events.last == 0)
    #expect(zip(counts.events, counts.events.dropFirst()).allSatisfy { abs($0 - $1) == 1 })
  }

  @Test("W2: observers have been notified before waitUntilFinished() returns") func toldBeforeWaitReturns() {
    for _ in 0..<200 {
      let operation = BlockOperation {}
      let finished = EventRecorder(observing: operation, at: \.isFinished)
      let queue = OperationQueue()
      queue.addOperation(operation)
      operation.waitUntilFinished()
      #expect(finished.events == [false, true])
    }
  }

  @Test("W2: observers have been notified even if another thread is inside an observer at that time")
  func toldByAnotherThread() {
    let (inside, goOn) = (Gate(), Gate())
    let operation = AsynchronousOperation()
    let told = EventRecorder<String>()
    let tokens = [
      operation.observe(\.queuePriority) { _, _ in
        inside.open()
        goOn.wait()
        told.record("priority")
      },
      operation.observe(\.isFinished) { _, _ in told.record("finished") },
    ]
    operation.start()
    let changer = OperationQueue()
    changer.addOperation { operation.queuePriority = .high }
    inside.wait()
    // Returns immediately: the thread that is notifying also delivers this change, and does the work that follows.
    operation.finish()
    #expect(operation.isFinished)
    #expect(told.events.isEmpty)
    let waiter = OperationQueue()
    waiter.addOperation {
      operation.waitUntilFinished()
      told.record("waited")
    }
    goOn.open()
    waiter.waitUntilAllOperationsAreFinished()
    #expect(told.events == ["priority", "finished", "waited"])
    withExtendedLifetime(tokens) {}
  }

  @Test("K3: the sequence of states contains the current and each later state, and ends after “finished”")
  func states() async {
    let executor = StepExecutor()
    let queue = OperationQueue()
    executor.control(queue)
    let (operation, dependency) = (BlockOperation {}, BlockOperation {})
    operation.addDependency(dependency)
    var states = operation.states.makeAsyncIterator()
    #expect(await states.next() == .pending)
    queue.addOperations([operation, dependency], waitUntilFinished: false)
    executor.step()
    #expect(await states.next() == .ready)
    executor.step()
    #expect(await states.next() == .executing)
    #expect(await states.next() == .finished)
    #expect(await states.next() == nil)
  }

  @Test("K3: the sequence of states never misses the end, no matter when the iteration starts") func statesRace() async
  {
    let queue = OperationQueue()
    for _ in 0..<500 {
      let operation = BlockOperation {}
      queue.addOperation(operation)
      var last: OperationState?
      for await state in operation.states { last = state }
      #expect(last == .finished)
    }
    var late: [OperationState] = []
    let done = BlockOperation {}
    done.start()
    for await state in done.states { late.append(state) }
    #expect(late == [.finished])
  }

  @Test("K3: cancelling the iterating task ends the iteration, and the operation continues")
  func statesCancelled() async {
    let operation = AsynchronousOperation()
    operation.start()
    let (begun, states) = (Gate(), EventRecorder<OperationState>())
    let task = Task {
      for await state in operation.states {
        states.record(state)
        begun.open()
      }
    }
    await begun.untilOpen()
    task.cancel()
    await task.value
    #expect(states.events == [.executing])
    operation.finish()
    #expect(operation.isFinished)
  }

  @Test("K4: an operation without observers allocates no list of observers") func unobserved() {
    let operation = BlockOperation {}
    operation.start()
    #expect(!operation.keepsObservers)
    let queue = OperationQueue()
    #expect(!queue.keepsObservers)
    var token: KeyValueObservation? = queue.observe(\.operationCount) { _, _ in }
    #expect(token != nil && queue.keepsObservers)
    token = nil
    #expect(!queue.keepsObservers)
  }

  @Test("O8: an operation releases its observers when it has finished") func letsGo() {
    weak var held: Crowd?
    let operation = BlockOperation {}
    let token: KeyValueObservation
    do {
      let object = Crowd()
      held = object
      token = operation.observe(\.isFinished) { _, _ in object.enter() }
    }
    #expect(held != nil)
    operation.start()
    #expect(eventually { held == nil })
    withExtendedLifetime(token) {}
  }
}
