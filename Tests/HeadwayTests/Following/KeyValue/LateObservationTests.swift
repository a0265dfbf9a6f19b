import Headway
import HeadwayTestKit
import Synchronization
import Testing

/// Observers that are added while another thread notifies observers of the same object, or while the object changes.
@Suite("Observers added late", .hangLimit) struct LateObservationTests {
  @Test("K1, K2: an observer that is added while another thread notifies is notified of changes from then on")
  func addedWhileOthersAreNotified() {
    let (inside, goOn) = (Gate(), Gate())
    let operation = AsynchronousOperation()
    let ofPriority = operation.observe(\.queuePriority) { _, _ in
      inside.open()
      goOn.wait()
    }
    operation.start()
    let changer = OperationQueue()
    changer.addOperation { operation.queuePriority = .high }
    inside.wait()
    let changes = EventRecorder<String>()
    let ofEnd = operation.observe(\.isFinished) { _, _ in changes.record("end") }
    let initially = operation.observe(\.isFinished, options: [.initial, .new]) { _, change in
      changes.record("\(change.newValue.map { "\($0)" } ?? "-")")
    }
    let name = EventRecorder(observing: operation, at: \.name)
    operation.finish()
    operation.name = "later"
    goOn.open()
    changer.waitUntilAllOperationsAreFinished()
    operation.waitUntilFinished()
    #expect(changes.events.sorted() == ["end", "false", "true"])
    #expect(name.events.first == .some(nil))
    withExtendedLifetime((ofPriority, ofEnd, initially)) {}
  }

  @Test("K2: an observer that is added while another thread notifies is notified of each change exactly once")
  func addedLateHearsOnce() {
    let (inside, goOn, begun, end) = (Gate(), Gate(), Gate(), Gate())
    let operation = BlockOperation {
      begun.open()
      end.wait()
    }
    let ofCancellation = operation.observe(\.isCancelled) { _, _ in
      inside.open()
      goOn.wait()
    }
    let (queue, changer) = (OperationQueue(), OperationQueue())
    queue.addOperation(operation)
    begun.wait()
    changer.addOperation { operation.cancel() }
    inside.wait()
    let executing = EventRecorder(observing: operation, at: \.isExecuting)
    end.open()
    queue.waitUntilAllOperationsAreFinished()
    goOn.open()
    changer.waitUntilAllOperationsAreFinished()
    operation.waitUntilFinished()
    #expect(executing.events == [true, false])

    let (named, insideQueue, goOnThere) = (OperationQueue(), Gate(), Gate())
    named.name = "a"
    let ofLimit = named.observe(\.maxConcurrentOperationCount) { _, _ in
      insideQueue.open()
      goOnThere.wait()
    }
    changer.addOperation { named.maxConcurrentOperationCount = 3 }
    insideQueue.wait()
    let names = EventRecorder(observing: named, at: \.name)
    named.name = nil
    named.name = "c"
    goOnThere.open()
    changer.waitUntilAllOperationsAreFinished()
    #expect(names.events == ["a", nil, "c"])
    withExtendedLifetime((ofCancellation, ofLimit)) {}
  }

  @Test("K1: an observer is notified of a change of a noncomparable value while the observer is being added")
  func incomparable() {
    final class Changing: Operation, @unchecked Sendable {
      let answer = Mutex<@Sendable () -> Int>({ 0 })
      let whileAsked = Mutex<(@Sendable () -> Void)?>(nil)
      var closure: @Sendable () -> Int {
        let before = answer.withLock { $0 }
        whileAsked.withLock { action in
          defer { action = nil }
          return action
        }?()
        return before
      }
    }
    let operation = Changing()
    operation.whileAsked.withLock {
      $0 = { [unowned operation] in
        operation.answer.withLock { $0 = { 1 } }
        operation.didChangeValue(for: \.closure)
      }
    }
    let told = EventRecorder<Int>()
    let token = operation.observe(\.closure, options: [.initial, .new]) { _, change in told.record(change.newValue!()) }
    #expect(told.events.last == 1)
    withExtendedLifetime(token) {}
  }

  @Test("K1, K2: an observer that is added before the operation has finished is notified when it finishes")
  func addedBesideTheEnd() {
    for _ in 0..<200 {
      let operation = AsynchronousOperation()
      operation.start()
      let finisher = OperationQueue()
      let changes = EventRecorder<Bool>()
      // Reading the state is the first step.
      let isOver = operation.isFinished
      finisher.addOperation { operation.finish() }
      let token = operation.observe(\.isFinished, options: .new) { _, change in changes.record(change.newValue!) }
      let wasOver = operation.isFinished && changes.events.isEmpty
      finisher.waitUntilAllOperationsAreFinished()
      operation.waitUntilFinished()
      #expect(!isOver && (changes.events == [true] || wasOver))
      withExtendedLifetime(token) {}
    }
  }

  @Test("K3: a sequence of states that begins while another thread notifies omits none from then on")
  func statesWhileOthersAreNotified() async throws {
    let (inside, goOn) = (Gate(), Gate())
    let (operation, dependency) = (AsynchronousOperation(), BlockOperation {})
    operation.addDependency(dependency)
    let token = operation.observe(\.queuePriority) { _, _ in
      inside.open()
      goOn.wait()
    }
    let changer = OperationQueue()
    changer.addOperation { operation.queuePriority = .high }
    await inside.untilOpen()
    let states = operation.states.makeAsyncIterator()
    dependency.start()
    operation.start()
    operation.finish()
    goOn.open()
    var all: [OperationState] = []
    var iterator = states
    while let state = await iterator.next() { all.append(state) }
    #expect(all.first == .pending && all.last == .finished)
    try await changer.untilAllOperationsAreFinished()
    withExtendedLifetime(token) {}
  }

  @Test("K2: changes of priority and dependencies that follow each other inside an observer are all reported")
  func changesInside() {
    let operation = BlockOperation {}
    let (priorities, counts) = (EventRecorder<QueuePriority>(), EventRecorder<Int>())
    let ofPriority = operation.observe(\.queuePriority, options: [.new]) { operation, change in
      if let new = change.newValue { priorities.record(new) }
      if change.newValue == .high {
        operation.queuePriority = .low
        operation.queuePriority = .veryHigh
      }
    }
    operation.queuePriority = .high
    #expect(priorities.events == [.high, .low, .veryHigh])
    let (first, second) = (BlockOperation {}, BlockOperation {})
    let ofDependencies = operation.observe(\.dependencies, options: [.new]) { operation, change in
      counts.record(change.newValue?.count ?? -1)
      if change.newValue == [first] {
        operation.addDependency(second)
        operation.removeDependency(first)
        operation.removeDependency(second)
      }
    }
    operation.addDependency(first)
    #expect(counts.events == [1, 2, 1, 0])
    withExtendedLifetime((ofPriority, ofDependencies)) {}
  }

  @Test("K2: a prior observer that is added late is notified of each later change before it occurs, and of no other")
  func prior() {
    final class OwnState: Operation, @unchecked Sendable {
      private let phase = Atomic(0)
      override var isExecuting: Bool { phase.load(ordering: .sequentiallyConsistent) == 1 }
      override var isFinished: Bool { phase.load(ordering: .sequentiallyConsistent) == 2 }
      func move(to next: Int) {
        willChangeValue(forKey: next == 1 ? "isExecuting" : "isFinished")
        if next == 2 { willChangeValue(forKey: "isExecuting") }
        phase.store(next, ordering: .sequentiallyConsistent)
        if next == 2 { didChangeValue(forKey: "isExecuting") }
        didChangeValue(forKey: next == 1 ? "isExecuting" : "isFinished")
      }
      override func start() { move(to: 1) }
    }
    let (inside, goOn) = (Gate(), Gate())
    let operation = OwnState()
    // So that announcements wait behind this one.
    let first = operation.observe(\.isExecuting, options: [.prior]) { _, _ in }
    let ofPriority = operation.observe(\.queuePriority) { _, _ in
      inside.open()
      goOn.wait()
    }
    let changer = OperationQueue()
    changer.addOperation { operation.queuePriority = .high }
    inside.wait()
    let executing = EventRecorder<String>()
    let ofExecuting = operation.observe(\.isExecuting, options: [.initial, .old, .new, .prior]) { _, change in
      let old = change.oldValue.map { "\($0)" } ?? ""
      executing.record(change.isPrior ? "prior" : "\(old)>\(change.newValue ?? false)")
    }
    operation.start()
    operation.move(to: 2)
    goOn.open()
    changer.waitUntilAllOperationsAreFinished()
    operation.waitUntilFinished()
    #expect(executing.events == [">false", "prior", "false>true", "prior", "true>false"])
    withExtendedLifetime((first, ofPriority, ofExecuting)) {}
  }
}
