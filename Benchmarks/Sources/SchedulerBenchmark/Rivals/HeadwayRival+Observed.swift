import Headway

extension HeadwayRival: ObservableRival {
  func runUnobserved(_ observation: Observation, count: Int, body: @escaping Body) {
    guard observation == .keyPath else { return run(count: count, body: body) }
    let queue = OperationQueue()
    for _ in 0..<count { queue.addOperation(BlockOperation(block: body)) }
    queue.waitUntilAllOperationsAreFinished()
  }

  func runObserved(_ observation: Observation, count: Int, body: @escaping Body) {
    switch observation {
    case .keyPath: runWithKeyPaths(count: count, body: body)
    case .events: runWithEvents(count: count, body: body)
    case .progress: runWithProgress(count: count, body: body)
    }
  }

  private func runWithKeyPaths(count: Int, body: @escaping Body) {
    let queue = OperationQueue()
    let ends = Counter()
    var tokens: [KeyValueObservation] = []
    tokens.reserveCapacity(count)
    for _ in 0..<count {
      let operation = BlockOperation(block: body)
      tokens.append(operation.observe(\.isFinished) { _, _ in ends.increment() })
      queue.addOperation(operation)
    }
    queue.waitUntilAllOperationsAreFinished()
    ends.wait(for: count)
  }

  private func runWithEvents(count: Int, body: @escaping Body) {
    let queue = OperationQueue()
    let (listens, heardAll) = (Semaphore(), Semaphore())
    Task.detached {
      var events = queue.events.makeAsyncIterator()
      listens.signal()
      var ends = 0
      while ends < count, let event = await events.next() {
        if case .finished = event { ends += 1 }
      }
      heardAll.signal()
    }
    listens.wait()
    for _ in 0..<count { queue.addOperation(body) }
    queue.waitUntilAllOperationsAreFinished()
    heardAll.wait()
  }

  private func runWithProgress(count: Int, body: @escaping Body) {
    let queue = OperationQueue()
    let hundredths = Counter()
    queue.progress.totalUnitCount = Int64(count)
    let token = queue.progress.onChange { _ in hundredths.increment() }
    for _ in 0..<count { queue.addOperation(body) }
    queue.waitUntilAllOperationsAreFinished()
    precondition(queue.progress.isFinished, "The progress has not counted all operations.")
    token.invalidate()
  }
}
