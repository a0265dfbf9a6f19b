import Synchronization

/// A thread's visit to a queue: it runs operations until there are none, or until others have waited for their turn.
struct Visit {
  private let queue: OperationQueue
  private let worker: Worker?
  private let run: OperationRun
  /// The queue's permission that the thread holds.
  private var permission: Admission.Permission?
  /// The thread is the queue's lingerer.
  private var isLingerer = false
  private var pace = Pace()

  init(of queue: OperationQueue, by worker: Worker?, holdsPermission: Bool) {
    self.queue = queue
    self.worker = worker
    permission = holdsPermission ? .sent : nil
    // The worker's own is at work when an operation in it visits another queue: one that is run step by step.
    run = worker.flatMap { $0.operationRun.isActive ? nil : $0.operationRun } ?? OperationRun()
  }

  /// What the queue has for the thread.
  private enum Next: Sendable {
    /// Some, which stand in the thread's run.
    case run
    case operation(Operation, WorkerClass?)
    case nothing
    /// Nothing now, but the thread holds a permission, and may wait a little for what comes.
    case nothingYet
  }

  /// Runs operations, `mostCount` at most.
  ///
  /// - Returns: Whether there was one.
  mutating func run(atMost mostCount: Int) -> Bool {
    var count = 0
    var mayLinger = false
    while count < mostCount {
      switch next(atMost: mostCount - count, mayLinger: mayLinger) {
      case .run:
        let number = queue.runAll(of: run, worker)
        count += number
        pace.hasRun(number)
      case .operation(let operation, let workerClass):
        count += 1
        queue.startUnit(of: operation)
        if let workerClass, workerClass != worker?.pool.workerClass {
          HandOver(operation, of: queue).send()
        } else {
          permission = queue.run(operation, comesBack: true) ? .kept : nil
        }
        pace.hasRun(1)
      case .nothing:
        return count > 0
      case .nothingYet:
        permission = .sent
        isLingerer = true
        mayLinger = false
        worker?.linger(for: queue)
        continue
      }
      guard let worker else { continue }
      worker.beginsNext()
      mayLinger = true
      if worker.leavesSoon.load(ordering: .relaxed) || worker.isWornOut { break }
      if worker.pool.workWaits.load(ordering: .relaxed), pace.isTurnOver { break }
    }
    // The permission, or a new one if there is work left, brings another thread, behind the other work.
    let (run, permission) = (run, permission)
    settle { books in
      if let permission { books.admission.take(permission) }
      books.admission.close(run)
    }
    return true
  }

  /// Asks the queue what to run.
  ///
  /// - Parameters:
  ///   - mostCount: How many operations at most.
  ///   - mayLinger: The thread may wait for more if there are none.
  /// - Returns: What there is.
  private mutating func next(atMost mostCount: Int, mayLinger: Bool) -> Next {
    let (run, workerClass) = (run, worker?.pool.workerClass)
    let (allowance, indivisible) = (min(mostCount, pace.allowance), pace.indivisible)
    let (permission, wasLingerer) = (permission, isLingerer)
    self.permission = nil
    isLingerer = false
    let tracksProgress = queue.trackedProgress != nil
    return settle { [queue] books in
      if let permission { books.admission.take(permission) }
      if wasLingerer { books.hasLingerer = false }
      books.admission.close(run)
      let quality = books.qualityOfService
      let hasClasses = books.underlyingQueue == nil && books.executor == nil
      let isFit = { (operation: Operation) in
        operation.isPlainBlock && (!hasClasses || operation.effectiveQuality(in: quality).workerClass == workerClass)
      }
      run.reset(for: queue, books.executor, placement: hasClasses ? (quality, workerClass) : nil)
      for isSecondTry in [false, true] {
        if books.allowsRuns, !tracksProgress,
          books.admission.fill(run, atMost: allowance, indivisible: indivisible, where: isFit)
        {
          return .run
        }
        if let operation = books.admission.next() {
          if operation.admission.place == .running { books.record { .started(operation) } }
          return .operation(operation, hasClasses ? operation.effectiveQuality(in: quality).workerClass : nil)
        }
        guard books.admission.hasRuns, !isSecondTry else { break }
        // Others have taken more than they have come to.
        books.admission.takeBackRuns()
      }
      guard mayLinger, !books.hasLingerer else { return .nothing }
      books.admission.give(.sent)
      books.hasLingerer = true
      queue.lingererSignal.store(false, ordering: .relaxed)
      return .nothingYet
    }
  }

  /// Changes the books when all that runs have come to stands in them, and wakes those who wait for the queue to be
  /// empty.
  private func settle<Answer: Sendable>(_ body: (inout sending OperationQueue.Books) -> Answer) -> Answer {
    let (answer, waiters) = queue.look { books in
      let answer = body(&books)
      return (answer, books.admission.count == 0 ? books.waiters.removeAll() : [])
    }
    for waiter in waiters { waiter.wake() }
    return answer
  }
}
