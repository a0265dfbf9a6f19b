import HeadwayTestKit
import Synchronization
import Testing

@testable import Headway

/// The links between operations: slots, further dependencies, and the stack that the end closes.
@Suite("Edges", .hangLimit) struct EdgeTests {
  /// How an operation ends, or does not end.
  enum Outcome: CaseIterable {
    case removed, cancelled, freed, run
  }

  @Test(
    "D5: a dependency that had finished when it was added holds nothing back, even if the operation is freed",
    arguments: 1...6, Outcome.allCases)
  func finishedDependencies(count: Int, outcome: Outcome) {
    // Every set of dependencies that have finished before.
    for finished in 0..<(1 << count) {
      let census = Crowd()
      do {
        let dependencies = (0..<count).map { _ in CountedOperation(census) }
        for (number, dependency) in dependencies.enumerated() where (finished >> number) & 1 != 0 { dependency.start() }
        let operation = CountedOperation(census)
        for dependency in dependencies { operation.addDependency(dependency) }
        #expect(operation.dependencies == dependencies)
        #expect(operation.isReady == (finished == (1 << count) - 1))
        switch outcome {
        case .removed:
          for dependency in dependencies { operation.removeDependency(dependency) }
          #expect(operation.isReady && operation.dependencies.isEmpty)
        case .cancelled:
          operation.cancel()
          operation.end()
          for dependency in dependencies where !dependency.isFinished { dependency.start() }
        case .freed:
          break
        case .run:
          OperationQueue().addOperations(
            [operation] + dependencies.filter { !$0.isFinished }, waitUntilFinished: true)
          #expect(operation.dependencies.isEmpty)
        }
      }
      #expect(census.eventuallyEmpty(), "set \(finished)")
    }
  }

  @Test("D7: any number of further dependencies are found, removed, and listed in insertion order")
  func furtherDependencies() {
    var generator = SeededGenerator(seed: 1)
    let dependent = BlockOperation {}
    let operations = (0..<200).map { _ in BlockOperation {} }
    for limit in [3, 5, 20, 200] {
      let further = FurtherDependencies()
      var model: [(operation: BlockOperation, edge: Edge, isUnlinked: Bool)] = []
      for _ in 0..<2_000 {
        let operation = operations[Int.random(in: 0..<limit, using: &generator)]
        let reference = OperationReference(operation)
        let index = model.firstIndex { $0.operation === operation }
        guard let position = further.position(of: reference) else {
          #expect(index == nil)
          let isUnlinked = Bool.random(using: &generator)
          model.append((operation, further.append(reference, of: dependent, isUnlinked: isUnlinked), isUnlinked))
          continue
        }
        guard let index else {
          Issue.record("\(operation) is found, which was removed")
          return
        }
        #expect(
          further.edge(at: position) == model[index].edge && further.isUnlinked(at: position) == model[index].isUnlinked
        )
        #expect(model[index].edge.dependent.isSame(as: OperationReference(dependent)))
        if Bool.random(using: &generator) {
          further.markUnlinked(at: position)
          model[index].isUnlinked = true
        } else {
          further.remove(at: position)
          // Another thread might have emptied the place in the meantime.
          further.markUnlinked(at: position)
          model.remove(at: index)
        }
      }
      var listed: [(OperationReference, Bool)] = []
      further.forEach { dependency, _, isUnlinked in listed.append((dependency, isUnlinked)) }
      #expect(listed.map(\.0.operation) == model.map(\.operation) && listed.map(\.1) == model.map(\.isUnlinked))
    }
  }

  @Test("D2: a pushed edge is counted down once, or the push fails because the stack is closed")
  func pushing() {
    let rounds = 4 * (environmentNumber("HEADWAY_STRESS_ROUNDS") ?? 50)
    for round in 0..<rounds {
      let operations = (0..<8).map { _ in BlockOperation {} }
      let edges = operations.map { Edge(slot: 0, of: $0) }
      let dependency = BlockOperation {}
      let (counted, refused) = (EventRecorder<Edge>(), EventRecorder<Edge>())
      let meeting = Meeting(of: 3)
      onThreads(3) { thread in
        meeting.attend()
        guard thread < 2 else {
          for _ in 0..<(round % 40) { yieldThread() }
          return dependency.dependents.close { counted.record($0) }
        }
        for edge in edges[(4 * thread)..<(4 * thread + 4)] where !dependency.dependents.push(edge) {
          refused.record(edge)
        }
      }
      let isDone = dependency.dependents.isDone
      #expect(isDone)
      #expect(Set(counted.events).union(refused.events) == Set(edges) && counted.count + refused.count == edges.count)
      // The oldest first: each thread's edges in its order.
      for thread in 0..<2 {
        let own = counted.events.compactMap { edges.firstIndex(of: $0) }.filter { $0 / 4 == thread }
        #expect(own == own.sorted())
      }
      withExtendedLifetime(operations) {}
    }
  }

  @Test("D4, D8, C1: operations that several threads link, cancel and free all end, and are freed")
  func race() {
    let rounds = 20 * (environmentNumber("HEADWAY_STRESS_ROUNDS") ?? 50)
    for seed in 0..<rounds {
      let census = Crowd()
      race(seed: UInt64(seed), census)
      let isFreed = census.eventuallyEmpty()
      #expect(isFreed, "seed \(seed)")
      guard isFreed else { return }
    }
  }

  @Test(
    "D8: an operation can lose its last reference while a dependency counts it down, with and without a lock",
    arguments: [true, false])
  func freeingAtEnd(hasLock: Bool) {
    let rounds = 20 * (environmentNumber("HEADWAY_STRESS_ROUNDS") ?? 50)
    let census = Crowd()
    for round in 0..<rounds {
      let (first, last) = (CountedOperation(census), CountedOperation(census))
      // The end removes the contents of the links under their lock.
      if hasLock { first.completionBlock = {} }
      let dependents = Mutex<[CountedOperation]>((0..<32).map { _ in CountedOperation(census) })
      dependents.withLock { dependents in
        for dependent in dependents {
          dependent.addDependency(first)
          dependent.addDependency(last)
        }
      }
      let meeting = Meeting(of: 2)
      onThreads(2) { thread in
        var taken =
          thread == 0
          ? []
          : dependents.withLock { dependents -> [CountedOperation] in
            defer { dependents = [] }
            return dependents
          }
        meeting.attend()
        if thread == 0 { return first.start() }
        // It begins a little later in each round, by steps of a fraction of a microsecond. The first one that is
        // dropped waits until the end has counted down all, so it is a different one in each round.
        for _ in 0..<(round % 64) { taken.swapAt(0, round % taken.count) }
        while !taken.isEmpty { taken.remove(at: round % taken.count) }
      }
      last.start()
    }
    #expect(census.eventuallyEmpty())
  }

  private func race(seed: UInt64, _ census: Crowd) {
    var generator = SeededGenerator(seed: seed)
    let count = Int.random(in: 2...9, using: &generator)
    let queue = OperationQueue()
    let meeting = Meeting(of: 3)
    // The thread that adds an operation to the queue: some are not added, and can be freed in the meantime.
    let adders = (0..<count).map { _ in Int.random(in: 0...3, using: &generator) }
    let isCancelling = Bool.random(using: &generator)
    var operations = adders.map { _ in CountedOperation(census) }
    let unadded = zip(adders, operations).compactMap { $0 == 3 ? WeakOperation($1) : nil }
    let ofThreads = Mutex<[Int: [CountedOperation]]>([0: operations, 1: operations, 2: operations])
    operations = []
    onThreads(3) { thread in
      var generator = SeededGenerator(seed: (seed << 8) | UInt64(thread))
      var known = ofThreads.withLock { $0.removeValue(forKey: thread)!.enumerated().map { $0 } }
      meeting.attend()
      for _ in 0..<40 where known.count > 1 {
        let places = known.indices.shuffled(using: &generator).prefix(2).sorted()
        // From the later to the earlier one, so there is no cycle.
        let (dependency, dependent) = (known[places[0]].element, known[places[1]].element)
        switch Int.random(in: 0..<12, using: &generator) {
        case 0...4: dependent.addDependency(dependency)
        case 5, 6: dependent.removeDependency(dependency)
        case 7: _ = dependent.dependencies
        case 8: if isCancelling { dependent.cancel() }
        case 9:
          let chosen = known.remove(at: places[0])
          // If a thread adds it, no other thread does.
          if adders[chosen.offset] == thread { queue.addOperation(chosen.element) }
        default:
          let index = places[1]
          guard adders[known[index].offset] == thread else { continue }
          queue.addOperation(known.remove(at: index).element)
        }
      }
      // The rest is added, so the operations that wait for it end.
      for (number, operation) in known where adders[number] == thread { queue.addOperation(operation) }
    }
    // Operations that are in no queue end here, so none waits for them.
    for operation in unadded.compactMap(\.operation) {
      operation.cancel()
      operation.end()
    }
    queue.waitUntilAllOperationsAreFinished()
  }
}
