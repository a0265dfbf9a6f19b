import HeadwayTestKit
import Synchronization

@testable import Headway

/// The work of one thread.
struct MayhemThread {
  let mayhem: Mayhem
  var generator: SeededGenerator
  /// Created but not added: only this thread gives them dependencies and adds them.
  var drafts: [Victim] = []

  init(mayhem: Mayhem, number: Int) {
    self.mayhem = mayhem
    generator = SeededGenerator(seed: mayhem.seed &* 1_000 &+ UInt64(number))
  }

  mutating func step() {
    switch random(100) {
    case 0..<30: makeDraft()
    case 30..<50: addDraft()
    case 50..<58: mayhem.someOperation(&generator)?.cancel()
    case 58..<66: removeDependency()
    case 66..<72: addDependency()
    case 72..<75: mayhem.someOperation(&generator)?.queuePriority = QueuePriority.allCases[random(5)]
    case 75..<76: mayhem.someOperation(&generator)?.qualityOfService = QualityOfService.allCases[random(5)]
    case 76..<78: mayhem.someOperation(&generator)?.allow(random(2) == 0)
    case 78..<79: (mayhem.someOperation(&generator) as? PostingVictim)?.complete()
    case 79..<83: mayhem.addBarrier(to: random(4))
    case 83..<88: mayhem.queues[1].isSuspended.toggle()
    case 88..<92: mayhem.queues[0].maxConcurrentOperationCount = random(3)
    case 92..<95: mayhem.queues[random(4)].operations.randomElement(using: &generator)?.cancel()
    case 95..<96: mayhem.queues[random(4)].cancelAllOperations()
    case 96..<97: waitForCancelled()
    case 97..<98: look()
    default: startByHand()
    }
  }

  private mutating func makeDraft() {
    let operation = mayhem.operations.withLock { operations in
      let kind = Victim.Kind.allCases[random(Victim.Kind.allCases.count)]
      let work = random(5) == 0 ? waitForInner(mayhem) : nil
      let operation = kind.type.init(operations.count, kind, mayhem, work: work)
      if random(2) == 0 { operation.beObserved() }
      operations.append(operation)
      return operation
    }
    drafts.append(operation)
    while random(3) > 0 { addDependency() }
  }

  /// A dependency on an operation that was added before and is in the lists of its queue.
  ///
  /// This rules out cycles, even through barriers: an operation on its way into the inbox can still be listed behind a
  /// barrier.
  private mutating func addDependency() {
    guard let draft = drafts.randomElement(using: &generator), let other = mayhem.someOperation(&generator),
      other.state.current.isListed
    else { return }
    draft.addDependency(other, requiring: random(4) == 0 ? .success : .completion)
  }

  private mutating func addDraft() {
    guard let position = drafts.indices.randomElement(using: &generator) else { return }
    let draft = drafts.remove(at: position)
    let number = random(4)
    if random(4) == 0 {
      draft.crowd.withLock { $0 = mayhem.crowds[number] }
      mayhem.queues[number].addOperations([draft], waitUntilFinished: false)
    } else {
      mayhem.add(draft, to: number)
    }
  }

  private mutating func removeDependency() {
    guard let operation = mayhem.someOperation(&generator),
      let dependency = operation.dependencies.randomElement(using: &generator)
    else { return }
    operation.removeDependency(dependency)
  }

  /// While queues are suspended, only a cancelled operation certainly ends, if it is in a queue and does not override
  /// `start()`, which the queue would have to call.
  private mutating func waitForCancelled() {
    guard let operation = mayhem.queues[random(4)].operations.randomElement(using: &generator),
      !(operation is PostingVictim)
    else { return }
    operation.cancel()
    operation.waitUntilFinished()
  }

  /// An operation that no other thread has, because another thread might cancel or add it at the same time.
  private func startByHand() {
    let operation = Victim(-1, .plain, mayhem, work: nil)
    operation.start()
    if operation.calls.withLock({ $0.main }) != 1 { mayhem.complaints.record("start() did not run main()") }
  }

  /// Performs the queries that are possible at any time.
  private mutating func look() {
    guard let operation = mayhem.someOperation(&generator) else { return }
    if operation.firstDependencyCycle() != nil { mayhem.complaints.record("a cycle, where there is none") }
    _ = operation.diagnosis
    _ = (operation.debugDescription, operation.outcome, mayhem.queues[random(4)].operationCount)
  }

  mutating func addDrafts() { while !drafts.isEmpty { addDraft() } }

  private mutating func random(_ limit: Int) -> Int { Int.random(in: 0..<limit, using: &generator) }

  private func waitForInner(_ mayhem: Mayhem) -> @Sendable () -> Void {
    { [unowned mayhem] in
      mayhem.calm.addOperations(
        [BlockOperation { mayhem.inner.add(1, ordering: .relaxed) }], waitUntilFinished: true)
    }
  }
}
