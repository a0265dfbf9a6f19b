import Dispatch
import Synchronization

/// A thread's visit to a queue: it runs operations until there are none, or others have waited for their turn.
struct Visit {
  private unowned let queue: OperationQueue
  private let worker: Worker?
  private let run: OperationRun
  /// The thread holds one of the queue's permissions.
  private var holdsPermission: Bool
  private var pace = Pace()

  init(of queue: OperationQueue, by worker: Worker?, holdsPermission: Bool) {
    self.queue = queue
    self.worker = worker
    self.holdsPermission = holdsPermission
    run = worker?.operationRun ?? OperationRun()
  }

  /// What the queue has for the thread.
  private enum Next: Sendable {
    case run(count: Int)
    case operation(Operation, WorkerClass?)
    case nothing
  }

  /// Runs operations, `mostCount` at most.
  ///
  /// - Returns: Whether there was one.
  mutating func run(atMost mostCount: Int) -> Bool {
    var count = 0
    while count < mostCount {
      switch next(atMost: mostCount - count) {
      case .run(let taken):
        count += queue.runAll(of: run, taken, worker)
        pace.hasRun(taken)
      case .operation(let operation, let workerClass):
        count += 1
        queue.startUnit(of: operation)
        if let workerClass, workerClass != worker?.pool.workerClass {
          HandOver(operation, of: queue).send()
        } else {
          holdsPermission = queue.run(operation, comesBack: true)
        }
        pace.hasRun(1)
      case .nothing:
        return count > 0
      }
      worker?.beginsNext()
      guard let worker else { continue }
      if worker.leavesSoon.load(ordering: .relaxed) || worker.isWornOut { break }
      if worker.pool.workWaits.load(ordering: .relaxed), pace.isTurnOver { break }
    }
    // The permission, or a new one if there is work left, brings another thread, behind the other work.
    let (run, holdsPermission) = (run, holdsPermission)
    settle { books in
      if holdsPermission { books.admission.usePermission() }
      books.admission.close(run)
    }
    return true
  }

  private mutating func next(atMost mostCount: Int) -> Next {
    let (run, workerClass, allowance) = (run, worker?.pool.workerClass, min(mostCount, pace.allowance))
    let usesPermission = holdsPermission
    holdsPermission = false
    let tracksProgress = queue.progress.tracksOperations
    return settle { [queue] books in
      if usesPermission { books.admission.usePermission() }
      books.admission.close(run)
      let quality = books.qualityOfService
      let classes = books.underlyingQueue == nil && books.executor == nil
      let isFit = { (operation: Operation) in
        operation.isPlainBlock && (!classes || operation.effectiveQuality(in: quality).workerClass == workerClass)
      }
      run.reset(for: queue, books.executor)
      for isSecondTry in [false, true] {
        if books.allowsRuns, !tracksProgress, books.admission.fill(run, atMost: allowance, where: isFit) {
          return .run(count: run.count)
        }
        if let operation = books.admission.next() {
          if operation.admission.place == .running { books.record { .started(operation) } }
          return .operation(operation, classes ? operation.effectiveQuality(in: quality).workerClass : nil)
        }
        guard books.admission.hasRuns, !isSecondTry else { break }
        // Others have taken more than they have come to.
        books.admission.takeBackRuns()
      }
      return .nothing
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

/// How fast a visit goes: how many operations to take at a time, and when others have their turn.
private struct Pace {
  /// What a thread takes at a time is to be run in this time.
  private static let longestRun: UInt64 = 200_000
  /// Others have their turn after this time.
  private static let longestTurn: UInt64 = 1_000_000

  private let begin = DispatchTime.now().uptimeNanoseconds
  private var last: UInt64

  /// How many operations to take.
  private(set) var allowance = 1

  init() { last = begin }

  /// The thread has run so many operations since it was last asked.
  mutating func hasRun(_ count: Int) {
    let now = DispatchTime.now().uptimeNanoseconds
    let each = max(1, (now - last) / UInt64(max(1, count)))
    last = now
    allowance = max(1, min(Int(Self.longestRun / each), allowance * 2, OperationRun.capacity))
  }

  var isTurnOver: Bool { last - begin > Self.longestTurn }
}

extension OperationQueue {
  /// Runs the operations of a run, on its thread; fewer than it has, if others took some back.
  ///
  /// - Returns: How many were run.
  final func runAll(of run: OperationRun, _ count: Int, _ worker: Worker?) -> Int {
    var number = 0
    ThreadContext.run(in: self, run) { context in
      while let reference = run.next(of: count) {
        run.announce(reference)
        worker?.beginsNext()
        reference._withUnsafeGuaranteedRef { operation in
          guard operation.state.beginPlainly() else {
            run.withdraw()
            if runTaken(operation) { number += 1 }
            return
          }
          number += 1
          context.pointee.enter(reference)
          operation.callMain()
          operation.end(in: run)
        }
        if let worker, worker.leavesSoon.load(ordering: .relaxed) { break }
      }
    }
    return number
  }

  /// Runs an operation of a run that does not start plainly: it was cancelled, say, or is observed; false if it can't be
  /// started, since it was given a dependency.
  private func runTaken(_ operation: Operation) -> Bool {
    let claimed = change { books in
      guard books.admission.claimTaken(operation) else { return Optional<Operation>.none }
      books.record { .started(operation) }
      return operation
    }
    guard let claimed else { return false }
    startUnit(of: claimed)
    self.run(claimed, comesBack: false)
    return true
  }
}
