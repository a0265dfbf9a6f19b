import HeadwayTestKit

@testable import Headway

/// A thread that takes batches, from the view of a program.
struct AdmissionThread {
  let batch = Batch()
  /// The operations of the batch that were not removed from it, in their order.
  var waiting: [Int] = []
  /// Removed from the batch, and about to be started.
  var popped: Int?
  /// Started in the batch.
  var current: Int?
  /// The thread has continued with that one.
  var isContinued = false
  /// None has been removed from it.
  var isFresh = false
}

/// An object that an operation's block holds, so it is freed with the operation.
final class CountedMember: Sendable {
  private let census: Crowd

  init(_ census: Crowd) {
    self.census = census
    census.enter()
  }

  deinit { census.leave() }
}

/// The commands for batches: threads take them, and start and end their operations, in any order among all of them. As
/// a result, anything else can happen between any two steps of a thread.
extension AdmissionProgram {
  mutating func takeBatchCommand() throws -> String {
    let number = random(0...threads.count - 1)
    if threads[number].current != nil {
      try endCurrent(of: number)
      return "end in batch \(number)"
    }
    if threads[number].popped != nil {
      try startPopped(of: number)
      return "start in batch \(number)"
    }
    // A thread takes the first operation of its batch before it does anything else.
    if threads[number].batch.isActive, threads[number].isFresh || random(0...7) > 0 {
      try pop(of: number)
      return "pop of batch \(number)"
    }
    if random(0...9) == 0 {
      admission.reclaimBatches()
      noteReclaimed()
      return "reclaim"
    }
    try fill(number)
    return "fill \(number)"
  }

  /// The operations that the threads will start first, from batches that are still complete.
  var firstOfBatches: Set<Int> {
    var numbers: Set<Int> = []
    for thread in threads {
      if thread.isFresh, let first = thread.waiting.first, isTaken(first) { numbers.insert(first) }
      if let popped = thread.popped { numbers.insert(popped) }
    }
    return numbers
  }

  private func isTaken(_ number: Int) -> Bool { operations[number].admission.place == .taken }

  /// The queue decides whether operations are in a batch; ``endBatches()`` checks that none is lost there.
  mutating func noteReclaimed() {
    for (position, thread) in threads.enumerated() {
      for number in thread.waiting where !isTaken(number) { model.entries[number].isTaken = false }
      threads[position].waiting = thread.waiting.filter { isTaken($0) }
    }
  }

  /// Does the same as `update(collectingBatches:)`.
  mutating func collect() {
    admission.noteNewlyReady()
    var count = admission.count
    var isExact = true
    admission.collectFinished(isObserved: true) { admission, operation, isContinued in
      count -= 1
      isExact = isExact && admission.count == count
      if isContinued { operation?.release() }
    }
    admission.collectNewlyReady { operation, _ in operation.release() }
    isMiscounted = isMiscounted || !isExact
    hasUncollected = false
    noteReclaimed()
  }

  private mutating func fill(_ number: Int) throws {
    collect()
    close(number)
    let batch = threads[number].batch
    batch.reset(for: home, nil, admission.placement, .normal)
    let (mostCount, refused) = (random(1...8), random(0...20))
    let misfit = operations[min(refused, operations.count - 1)]
    let hasTaken = admission.fill(batch, atMost: mostCount, indivisible: 1, at: 0) { $0 !== misfit && $0.fitsBatch }
    findMade()
    let operations = operations
    // These include operations that were given a dependency after they had become ready: that is detected when they
    // start.
    let isNew = { [model] in operations[$0].admission.place == .taken && !model.entries[$0].isTaken }
    let taken = model.unfinished.filter { model.entries[$0].state == .waiting && isNew($0) }.sorted(by: model.precedes)
    let left = model.candidates.filter { !model.entries[$0].isTaken && !isNew($0) }.min(by: model.precedes)
    guard hasTaken == !taken.isEmpty, taken.count == batch.count, taken.count <= mostCount else {
      throw Divergence(description: "a batch of \(batch.count) was taken, and \(taken) are marked so")
    }
    if let left, let last = taken.last, model.precedes(left, last) {
      throw Divergence(
        description: "number \(last) was taken into a batch, and number \(left) left, which is before it")
    }
    guard hasTaken else { return }
    guard !model.isSuspended, model.running < model.limit, !model.hasCancelled else {
      throw Divergence(description: "a batch was taken where none may be")
    }
    for operation in taken { model.entries[operation].isTaken = true }
    threads[number].waiting = taken
    threads[number].isFresh = true
    model.runs += 1
  }

  private mutating func close(_ number: Int) {
    guard threads[number].batch.isActive else { return }
    admission.close(threads[number].batch)
    model.runs -= 1
    noteReclaimed()
  }

  /// The thread removes the next operation from its batch, or leaves the batch.
  private mutating func pop(of number: Int) throws {
    noteReclaimed()
    let expected = threads[number].waiting.first
    let reference = threads[number].batch.next()
    guard reference.map({ $0.operation === expected.map { operations[$0] } }) ?? (expected == nil) else {
      throw Divergence(description: "\(text(expected)) should have been taken out of the batch, and was not")
    }
    guard let expected else {
      collect()
      return close(number)
    }
    // P2 and Q4: nothing is suspended, and the queue has nothing more urgent.
    let others = model.candidates.filter { !model.entries[$0].isTaken && operations[$0].admission.place == .ready }
    let isMoreUrgent = others.contains { model.entries[$0].priority > model.entries[expected].priority }
    // The first operation of a batch belongs to the thread immediately.
    let isFirst = !model.isSuspended && model.running <= model.limit && !isMoreUrgent
    guard threads[number].isFresh || isFirst && model.leavingWithinLimit.isEmpty else {
      throw Divergence(description: "number \(expected) continues in a batch, and should stand back")
    }
    threads[number].waiting.removeFirst()
    threads[number].isFresh = false
    threads[number].popped = expected
  }

  private mutating func startPopped(of number: Int) throws {
    guard let popped = threads[number].popped else { return }
    threads[number].popped = nil
    let operation = operations[popped]
    model.entries[popped].isTaken = false
    let mayStart = model.isReady(popped)
    if operation.state.beginPlainly() {
      guard mayStart, !model.entries[popped].isCancelled else {
        throw Divergence(description: "number \(popped) was started, and may not be")
      }
      threads[number].batch.noteCurrent(OperationReference(operation))
      model.entries[popped].state = .started
      model.entries[popped].isInRun = true
      threads[number].current = popped
      threads[number].isContinued = false
      return
    }
    collect()
    let isClaimed = admission.claimTaken(operation, of: threads[number].batch)
    model.runs -= 1
    noteReclaimed()
    guard isClaimed == mayStart else {
      throw Divergence(description: "number \(popped) was started: \(isClaimed), and should not be so")
    }
    if isClaimed {
      model.entries[popped].state = .started
      started.append(popped)
    }
  }

  /// Acts as the batch's thread does when an operation's work is done: the queue is updated later.
  private mutating func endCurrent(of number: Int) throws {
    guard let current = threads[number].current else { return }
    threads[number].current = nil
    let wereReady = model.entries.indices.filter { model.isReady($0) }
    let collectsLater = random(0...2) > 0
    for operation in operations where collectsLater { operation.queueLinks.home = .passUnretained(home) }
    let next = operations[current].end(
      in: threads[number].batch, isContinued: threads[number].isContinued, continues: true)
    threads[number].batch.effects.perform()
    threads[number].batch.releaseDeferred()
    // The thread owns the operations that it has run.
    OperationReference(operations[current]).release()
    for operation in operations { operation.queueLinks.home = nil }
    for operation in home.takeTold() where collectsLater { admission.becameReady(operation) }
    model.entries[current].state = .finished
    if !collectsLater { notifyReady(except: wereReady) }
    hasUncollected = true
    if let next {
      try continueRun(with: operations.firstIndex { $0 === next.operation }!, in: number)
    }
  }

  /// The thread continues on its own with an operation that it has made ready.
  private mutating func continueRun(with operation: Int, in number: Int) throws {
    let candidates = model.candidates.filter { !model.entries[$0].isTaken }
    // P2, Q4 and Q8: no other operation could be started.
    guard !model.isSuspended, model.running <= model.limit, candidates == [operation],
      model.leavingWithinLimit.isEmpty
    else {
      throw Divergence(description: "number \(operation) continues in a batch, and there are \(candidates)")
    }
    threads[number].batch.noteCurrent(OperationReference(operations[operation]))
    model.entries[operation].state = .started
    model.entries[operation].isInRun = true
    threads[number].current = operation
    threads[number].isContinued = true
  }

  /// Makes all threads finish the operations that they have begun and leave their batches.
  mutating func endBatches() throws {
    for number in threads.indices {
      if threads[number].batch.isActive, threads[number].isFresh { try pop(of: number) }
      if threads[number].popped != nil { try startPopped(of: number) }
      while threads[number].current != nil { try endCurrent(of: number) }
      collect()
      close(number)
    }
    if let lost = model.unfinished.first(where: { isTaken($0) || model.entries[$0].isTaken }) {
      throw Divergence(description: "number \(lost) was lost in a batch")
    }
  }
}
