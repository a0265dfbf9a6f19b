import Headway

extension Model {
  // MARK: Misuse

  /// Whether the command is not misuse, and would not block, in the current state.
  func isLegal(_ command: Command) -> Bool {
    switch command {
    case .add(let number, _): mayBeAdded(number)
    case .addBatch(let numbers, _):
      Set(numbers).count == numbers.count && numbers.allSatisfy { mayBeAdded($0) && operations[$0].exists }
    case .waitForAll(let queue): queues[queue].operations.isEmpty
    default: command.operations.allSatisfy { operations[$0].exists } && isLegalForExisting(command)
    }
  }

  /// Q2, C4.
  private func mayBeAdded(_ number: Int) -> Bool {
    let operation = operations[number]
    return !operation.wasAdded
      && (operation.phase == .pending || operation.phase == .finished && operation.isCancelled)
  }

  private func isLegalForExisting(_ command: Command) -> Bool {
    switch command {
    // D5.
    case .depend(let number, let other, _): number != other && operations[number].phase == .pending
    // O5; after the end, an overridden `start()` would have to detect this itself.
    case .start(let number):
      operations[number].phase == .pending
        ? !operations[number].wasAdded && isReady(number)
        : operations[number].phase == .finished && operations[number].kind != .posting
    case .finish(let number, _):
      operations[number].kind == .asynchronous
        || operations[number].kind == .posting && operations[number].phase == .executing
    case .allow(let number, _): operations[number].kind == .held
    case .wait(let number): operations[number].phase == .finished
    default: true
    }
  }

  // MARK: Effects

  /// Executes a legal command.
  mutating func perform(_ command: Command) {
    switch command {
    case .depend(let number, let other, let requiresSuccess): depend(number, on: other, requiresSuccess)
    case .removeDependency(let number, let other):
      // D4, D5.
      guard operations[number].dependencies.contains(other) else { return }
      operations[number].dependencies.removeAll { $0 == other }
      operations[other].successDependents.removeAll { $0 == number }
    case .cancel(let number): cancel(number)
    case .setPriority(let number, let priority): operations[number].priority = priority
    case .setCompletionBlock(let number, let label):
      // C4: or it was cancelled in no queue, and can be added to one.
      let operation = operations[number]
      let mayBeAdded = operation.isCancelled && !operation.wasAdded
      if operation.phase != .finished || mayBeAdded { operations[number].completionBlock = label }
    case .onCancel(let number): addCancellationHandler(number)
    case .fail(let number): fail(number, Failure(mishap: "recorded"))
    case .setName(let number): operations[number].name = "name of \(number)"
    case .start(let number): startByHand(number)
    case .finish(let number, let isFailure):
      if isFailure { fail(number, Failure(mishap: "finish")) }
      finish(number)
    case .allow(let number, let isAllowed): operations[number].isAllowed = isAllowed
    case .observe(let number): operations[number].observation.begin(values(of: number))
    case .add(let number, let queue): add([number], to: queue)
    case .addBatch(let numbers, let queue): add(numbers, to: queue)
    case .cancelAll(let queue): for number in queues[queue].operations { cancel(number) }
    case .suspend(let queue, let isSuspended): queues[queue].isSuspended = isSuspended
    case .limit(let queue, let limit): if queues[queue].order == .priority { queues[queue].limit = limit }
    case .setTotal(let queue, let total): queues[queue].total = total
    case .observeQueue(let queue): queues[queue].observation.begin(values(ofQueue: queue))
    case .step(let queue): if let number = next(of: queue) { start(number) }
    case .callCompletionBlock(let queue): callCompletionBlock(of: queue)
    case .run(let queue):
      while let number = next(of: queue) { start(number) }
      while !queues[queue].completionBlocks.isEmpty { callCompletionBlock(of: queue) }
    case .wait, .waitForAll: break
    }
    tell()
  }

  private mutating func startByHand(_ number: Int) {
    if operations[number].phase == .pending {
      start(number)
    } else if operations[number].isCancelled, !operations[number].wasAdded {
      // C4: the completion block that was set since it was cancelled.
      sendCompletionBlock(of: number, to: nil)
    }
  }

  private mutating func depend(_ number: Int, on other: Int, _ requiresSuccess: Bool) {
    if !operations[number].dependencies.contains(other) { operations[number].dependencies.append(other) }
    tell()
    guard requiresSuccess else { return }
    if operations[other].phase != .finished {
      if !operations[other].successDependents.contains(number) { operations[other].successDependents.append(number) }
    } else if let failure = requirementFailure(of: other) {
      scheduleCancellation(number, failure, by: other)
      cancel(number)
    }
  }

  /// C7: the handler is called immediately, on cancellation, or, after the end, never.
  private mutating func addCancellationHandler(_ number: Int) {
    if operations[number].isCancelled {
      operations[number].cancellations += 1
    } else if operations[number].phase != .finished {
      operations[number].cancellationHandlers += 1
    }
  }

  /// Q1; and C4: operations that were cancelled, and so have finished, are ignored, except for their completion blocks.
  private mutating func add(_ numbers: [Int], to queue: Int) {
    for number in numbers where operations[number].phase == .finished { sendCompletionBlock(of: number, to: queue) }
    for number in numbers where operations[number].phase == .pending {
      operations[number].exists = true
      operations[number].wasAdded = true
      operations[number].queue = queue
      queues[queue].operations.append(number)
    }
  }

  private mutating func callCompletionBlock(of queue: Int) {
    guard !queues[queue].completionBlocks.isEmpty else { return }
    let (number, label) = queues[queue].completionBlocks.removeFirst()
    operations[number].completions.append(label)
    operations[number].dependencies = []
  }
}
