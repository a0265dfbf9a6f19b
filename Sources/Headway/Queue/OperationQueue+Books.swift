import Dispatch
import Synchronization

extension OperationQueue {
  /// What the queue's lock protects.
  struct Books {
    var admission = Admission()
    var name: String?
    var maxConcurrentOperationCount = OperationQueue.defaultMaxConcurrentOperationCount
    var qualityOfService = QualityOfService.default
    var underlyingQueue: DispatchQueue?
    /// What runs the operations in place of the pool.
    var executor: (any WorkExecutor)?
    var waiters = WaiterList()
    /// A thread that has found nothing to do looks for more at ``OperationQueue/lingererSignal``.
    var hasLingerer = false
    /// What ``OperationQueue/isAttended`` says.
    var isAttended = false
    /// Nil while nobody observes: one branch for each change.
    var observers: ObserverList?
    var observation = Observation()

    /// Whether threads may take runs of operations: nobody wants to know of each one by itself.
    var allowsRuns: Bool { observers == nil && underlyingQueue == nil }

    /// Whether operations may come in by way of the inbox: nobody wants to know of each one at once.
    private var allowsInbox: Bool { observers == nil && underlyingQueue == nil && executor == nil }

    /// Puts what is in the inbox into the books.
    mutating func takeIn(_ inbox: borrowing Inbox) {
      inbox.takeAll { operation in
        let count = admission.count
        add(operation, isBarrier: false)
        if observers != nil { noteCount(since: count) }
      }
    }

    /// Works out for how many more workers to send, and so whether the queue is attended.
    ///
    /// Whoever pushes to the inbox looks afterwards whether the queue is attended; when it no longer is, the inbox is
    /// looked into after that was said. All four are in one order (sequentially consistent), so either the one sees
    /// that the queue is not attended, or the other what was pushed.
    mutating func takeNewPermissions(_ inbox: borrowing Inbox, _ attendance: borrowing Atomic<Bool>) -> Int {
      var permissions = admission.takeNewPermissions()
      let wasAttended = isAttended
      isAttended = allowsInbox && admission.isAttended
      guard isAttended != wasAttended else { return permissions }
      attendance.store(isAttended, ordering: .sequentiallyConsistent)
      if !isAttended, !inbox.isEmpty {
        takeIn(inbox)
        permissions += takeNewPermissions(inbox, attendance)
      }
      return permissions
    }

    /// Adds an operation that was reserved, and takes over its ownership; returns the level of the queue's quality of
    /// service.
    @discardableResult
    mutating func add(_ operation: OperationReference, isBarrier: Bool) -> Int {
      admission.add(operation, isBarrier: isBarrier)
      record { .added(operation.operation) }
      if operation._withUnsafeGuaranteedRef({ $0.admission.place == .ready }) { record { .ready(operation.operation) } }
      return qualityOfService.level
    }

    /// Books what runs have come to.
    ///
    /// - Parameter released: What the caller must release, once no lock is held.
    mutating func bookRuns(_ released: inout ReleasedOperations) {
      guard admission.hasRuns else { return }
      admission.bookReadied { released.append(readied: $0) }
      let (isObserved, observers, observation) = (observers != nil, observers, observation)
      admission.bookFinished { admission, operation in
        released.append(finished: operation)
        guard isObserved else { return }
        Self.tell(observers, observation, of: admission, since: admission.count + 1)
        if observation.listeners > 0 { observers?.append(ObservedChange(.event, Event.finished(operation.operation))) }
      }
    }

    /// Notes an event, if somebody listens to them.
    mutating func record(_ event: () -> Event) {
      if observers != nil, observation.listeners > 0 { note(.event, event()) }
    }

    /// Notes a change, if somebody observes.
    mutating func note(_ key: ObservedKey, _ value: (any Sendable)?) {
      observers?.append(ObservedChange(key, value))
    }

    /// Notes how the number of operations has changed.
    mutating func noteCount(since count: Int) { Self.tell(observers, observation, of: admission, since: count) }

    private static func tell(
      _ observers: ObserverList?, _ observation: Observation, of admission: Admission, since count: Int
    ) {
      guard admission.count != count else { return }
      observers?.append(ObservedChange(.operationCount, admission.count))
      if observation.observersOfOperations > 0 {
        observers?.append(ObservedChange(.operations, admission.operations))
      }
    }
  }

  /// Whom to send for, after the books were changed.
  struct Call {
    let permissions: Int
    let underlyingQueue: DispatchQueue?
    let executor: (any WorkExecutor)?
    let workerClass: WorkerClass
  }

  /// What runs the operations in place of the pool, for instance step by step.
  ///
  /// It can be set while the queue is empty.
  package final var executor: (any WorkExecutor)? {
    get { books.withLock { $0.executor } }
    set {
      let isEmpty = look { books in
        guard books.admission.count == 0 else { return false }
        books.executor = newValue
        return true
      }
      require(isEmpty && !isMain, "The executor of \(label) was set while it held operations: set it first.")
    }
  }

  /// What is left to do when the books' lock has been released.
  private struct AfterChange {
    var call: Call?
    var observers: ObserverList?
    var released = ReleasedOperations()
    /// The queue has begun, or ceased, to hold operations: while it does, it owns itself.
    var ownership = 0
  }

  /// Changes the books under the lock; then, outside it, sends for the workers that the change calls for, and tells the
  /// observers.
  ///
  /// - Parameters:
  ///   - booksRuns: First, books what runs have come to; always so when somebody observes.
  ///   - body: Makes the change.
  /// - Returns: What `body` returns.
  final func change<Answer>(
    bookingRuns booksRuns: Bool = false, _ body: (inout sending Books) -> sending Answer
  ) -> sending Answer {
    let (answer, after) = books.withLock { books in
      var after = AfterChange()
      let wasEmpty = books.admission.count == 0
      after.observers = books.observers
      books.takeIn(inbox)
      if booksRuns || after.observers != nil {
        books.bookRuns(&after.released)
        // What those added that have finished, before they did.
        books.takeIn(inbox)
      }
      let count = books.admission.count
      let answer = body(&books)
      let permissions = books.takeNewPermissions(inbox, isAttended)
      if books.hasLingerer, books.admission.hasStartable { lingererSignal.store(true, ordering: .releasing) }
      if permissions > 0 {
        after.call = Call(
          permissions: permissions, underlyingQueue: books.underlyingQueue, executor: books.executor,
          workerClass: books.qualityOfService.workerClass)
      }
      if after.observers != nil { books.noteCount(since: count) }
      after.ownership = (wasEmpty ? 1 : 0) - (books.admission.count == 0 ? 1 : 0)
      if after.ownership > 0 { _ = Unmanaged.passRetained(self) }
      return (answer, after)
    }
    if let call = after.call { sendForWorkers(call) }
    after.released.release()
    if let observers = after.observers {
      observers.tell(of: self)
      lookForStallIfIdle()
    }
    if after.ownership < 0 { Unmanaged.passUnretained(self).release() }
    return answer
  }

  /// Looks at the books, in which all stands that has happened.
  final func look<Answer>(_ body: (inout sending Books) -> sending Answer) -> sending Answer {
    change(bookingRuns: true, body)
  }

  // MARK: Settings

  /// The implementation of ``maxConcurrentOperationCount``.
  final func setLimit(_ limit: Int) {
    require(
      limit >= Self.defaultMaxConcurrentOperationCount,
      "maxConcurrentOperationCount of \(label) was set to \(limit): use a count, 0, or -1 for the default.")
    guard !isMain else { return }
    change { books in
      books.maxConcurrentOperationCount = limit
      books.admission.limit = limit == Self.defaultMaxConcurrentOperationCount ? .max : limit
      books.note(.maxConcurrentOperationCount, limit)
    }
  }

  /// The implementation of ``isSuspended``.
  final func setSuspended(_ isSuspended: Bool) {
    change { books in
      books.admission.isSuspended = isSuspended
      books.note(.isSuspended, isSuspended)
    }
  }

  /// The implementation of ``underlyingQueue``.
  final func setUnderlyingQueue(_ queue: DispatchQueue?) {
    require(!isMain, "The underlying queue of the main queue can't be changed.")
    require(queue.map(MainDispatchQueue.isSame) != true, "Use OperationQueue.main to run operations on the main queue.")
    let isEmpty = look { books in
      guard books.admission.count == 0 else { return false }
      books.underlyingQueue = queue
      return true
    }
    require(isEmpty, "The underlying queue of \(label) was set while it held operations: set it first.")
  }

  /// The implementation of ``qualityOfService``.
  final func setQuality(_ quality: QualityOfService) {
    guard !isMain else { return }
    let isRaised = change { books in
      defer { books.qualityOfService = quality }
      books.admission.takeBackRuns()
      return quality.level > books.qualityOfService.level && books.admission.count > 0
    }
    guard isRaised else { return }
    for operation in operations { operation.raiseDependencies(level: quality.level) }
    // Workers of the old class have been sent for; others come without a permission, and need not wait behind them.
    guard executor == nil, underlyingQueue == nil else { return }
    WorkerPool.shared.submit(QueueVisit(self), count: ProcessorCount.usable, on: quality.workerClass)
  }
}

/// Operations to let go of when no lock is held, since that may run the code of their owners.
struct ReleasedOperations {
  /// Those that have left the queue, joined by the links of the list in which they stood there.
  private var finished: OperationReference?
  /// Mostly there is one, which takes no memory of its own.
  private var readied: OperationReference?
  private var othersReadied: [OperationReference] = []

  mutating func append(finished operation: OperationReference) {
    operation.heldNext = finished
    finished = operation
  }

  mutating func append(readied operation: OperationReference) {
    if readied == nil { readied = operation } else { othersReadied.append(operation) }
  }

  func release() {
    var position = finished
    while let operation = position {
      position = operation.heldNext
      operation.release()
    }
    readied?.release()
    for operation in othersReadied { operation.release() }
  }
}
