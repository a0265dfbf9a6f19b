public import Dispatch
import Synchronization

/// Runs operations on threads that it does not own, in an order that depends on their readiness, their priority and
/// when they were added.
///
/// ```swift
/// let queue = OperationQueue()
/// queue.maxConcurrentOperationCount = 4
///
/// let fetch = BlockOperation { … }
/// let parse = BlockOperation { … }
/// parse.addDependency(fetch)
/// queue.addOperations([fetch, parse], waitUntilFinished: true)
/// ```
///
/// A queue owns what it holds until that has finished; the only way to take an operation out is to cancel it. A queue
/// that its user lets go of runs what it holds to the end, and is freed then.
///
/// Every member may be used from any thread.
open class OperationQueue: @unchecked Sendable {
  // What protects the state: `books` has a lock, under which nothing is called that is not in this module and no other
  // lock is taken. `progress` protects itself.

  /// What the lock protects.
  struct Books {
    var admission = Admission()
    var name: String?
    var maxConcurrentOperationCount = OperationQueue.defaultMaxConcurrentOperationCount
    var underlyingQueue: DispatchQueue?
    var waiters = WaiterList()
  }

  let books: Mutex<Books>
  private let isMain: Bool

  /// The progress of what the queue runs.
  ///
  /// With `totalUnitCount` 0, as it is at first, nothing is tracked. Set it, and each operation that finishes completes
  /// one unit; of an operation that runs, its own ``Operation/progress`` counts as a fraction of that unit. Cancelling
  /// it cancels all operations.
  public final let progress = OperationProgress(totalUnitCount: 0)

  /// Creates a queue that holds nothing, is not suspended and lets the system decide how much runs at once.
  public init() {
    books = Mutex(Books())
    isMain = false
    progress.cancellationHandler = { [weak self] in self?.cancelAllOperations() }
  }

  private init(mainName: String) {
    var main = Books()
    main.name = mainName
    main.maxConcurrentOperationCount = 1
    main.admission.limit = 1
    main.underlyingQueue = .main
    books = Mutex(main)
    isMain = true
    progress.cancellationHandler = { [weak self] in self?.cancelAllOperations() }
  }

  // MARK: Queues that are there

  /// The queue of the main dispatch queue, and so of the main actor: its operations run there, one at a time.
  ///
  /// They run while that queue is served: after `dispatchMain()`, in a run loop, or while an asynchronous `main`
  /// awaits. On Linux the thread that serves it then need not be the process's first.
  public static let main = OperationQueue(mainName: "main queue")

  /// The queue that runs the operation from which this is called, or nil outside of operations; on the main thread,
  /// or main queue, outside of operations, ``main``.
  public static var current: OperationQueue? { ThreadContext.queue ?? (MainDispatchQueue.isCurrent ? main : nil) }

  // MARK: Limits

  /// The value of ``maxConcurrentOperationCount`` that lets the system decide.
  public static let defaultMaxConcurrentOperationCount = -1

  /// How many operations run at once, at most.
  ///
  /// -1, the default, lets the system decide: as much as there is processors for, and more when operations block. 1
  /// runs one at a time, *not* in the order of adding, since readiness and priority come first. 0 runs nothing. A
  /// change acts at once: raised, more start; lowered, those running finish. The main queue always runs one at a time.
  ///
  /// - Precondition: It is not below -1.
  public final var maxConcurrentOperationCount: Int {
    get { books.withLock { $0.maxConcurrentOperationCount } }
    set {
      require(
        newValue >= Self.defaultMaxConcurrentOperationCount,
        "maxConcurrentOperationCount of \(label) was set to \(newValue): use a count, 0, or -1 for the default.")
      guard !isMain else { return }
      change { books in
        books.maxConcurrentOperationCount = newValue
        books.admission.limit = newValue == Self.defaultMaxConcurrentOperationCount ? .max : newValue
      }
    }
  }

  /// Whether the starting of operations is stopped.
  ///
  /// Those that run go on, adding goes on, and cancelled operations leave.
  public final var isSuspended: Bool {
    get { books.withLock { $0.admission.isSuspended } }
    set { change { $0.admission.isSuspended = newValue } }
  }

  /// The dispatch queue on which operations run, or nil for the threads of this library.
  ///
  /// - Precondition: When it is set, the queue holds nothing, is not ``main``, and the new value is not the main
  ///   dispatch queue.
  public final var underlyingQueue: DispatchQueue? {
    get { books.withLock { $0.underlyingQueue } }
    set {
      require(!isMain, "The underlying queue of the main queue can't be changed.")
      require(
        newValue.map(MainDispatchQueue.isSame) != true, "Use OperationQueue.main to run operations on the main queue.")
      let isEmpty = books.withLock { books in
        guard books.admission.count == 0 else { return false }
        books.underlyingQueue = newValue
        return true
      }
      require(isEmpty, "The underlying queue of \(label) was set while it held operations: set it first.")
    }
  }

  // MARK: What it holds

  /// The operations that have not finished, in the order in which they were added: a snapshot.
  ///
  /// - Complexity: O(*n*).
  public final var operations: [Operation] { books.withLock { $0.admission.operations } }

  /// How many operations have not finished.
  ///
  /// - Complexity: O(1).
  public final var operationCount: Int { books.withLock { $0.admission.count } }

  /// Cancels all operations that are in the queue at this moment.
  ///
  /// It may be called from inside one of them.
  ///
  /// - Complexity: O(*n*).
  public final func cancelAllOperations() {
    for operation in operations { operation.cancel() }
  }

  // MARK: Changing the books

  /// Changes the books under the lock; then, outside it, sends for the workers that the change calls for.
  final func change<Answer>(_ body: (inout sending Books) -> sending Answer) -> sending Answer {
    let (answer, permissions, underlyingQueue) = books.withLock { books in
      let answer = body(&books)
      return (answer, books.admission.takeNewPermissions(), books.underlyingQueue)
    }
    if permissions > 0 { sendForWorkers(permissions, underlyingQueue) }
    return answer
  }
}

extension OperationQueue: CustomStringConvertible {
  /// What to call the queue, for people: in descriptions and messages.
  ///
  /// Nil by default.
  public final var name: String? {
    get { books.withLock { $0.name } }
    set { books.withLock { $0.name = newValue } }
  }

  /// The queue's name, how much it holds and whether it is suspended.
  public var description: String {
    let (count, isSuspended) = books.withLock { ($0.admission.count, $0.admission.isSuspended) }
    return "\(label) (\(count) operation\(count == 1 ? "" : "s")\(isSuspended ? ", suspended" : ""))"
  }

  /// The name in quotation marks after the word, for messages.
  final var label: String { name.map { "queue ‘\($0)’" } ?? "a queue without a name" }
}
