import Dispatch
import HeadwayTestKit
import HeadwayTestSupport
import Synchronization

@testable import Headway

/// Counts how many are inside at the same time and remembers the maximum.
final class Crowd: Sendable {
  private let state = Mutex((now: 0, most: 0))

  func enter() {
    state.withLock { state in
      state.now += 1
      state.most = max(state.most, state.now)
    }
  }

  func leave() { state.withLock { $0.now -= 1 } }

  var most: Int { state.withLock { $0.most } }
  var now: Int { state.withLock { $0.now } }
}

/// Lets all threads through once `size` have arrived: proof that so many run at the same time.
final class Meeting: Sendable {
  private let missing: Mutex<Int>
  private let gate = Gate()

  init(of size: Int) { missing = Mutex(size) }

  func attend() {
    let isComplete = missing.withLock { missing in
      missing -= 1
      return missing == 0
    }
    if isComplete { gate.open() }
    gate.wait()
  }
}

struct Mishap: Error, Equatable {
  var name = "mishap"
}

extension BlockOperation {
  convenience init(name: String, block: @escaping @Sendable () throws -> Void = {}) {
    self.init(block: block)
    self.name = name
  }
}

/// The identity of the thread that created it.
struct ThreadIdentity: Sendable {
  private let identifier = currentThreadIdentifier()

  var isCurrent: Bool { currentThreadIdentifier() == identifier }
}

extension Crowd {
  /// Whether all have left, now or as soon as the pool's threads have released the objects that they hold.
  func eventuallyEmpty() -> Bool { eventually { now == 0 } }
}

/// Whether `condition` becomes true, now or as soon as other threads have finished their current work.
///
/// Allows it `patience` pauses of a millisecond. By default, there are so many that the result is false only if the
/// condition never becomes true, no matter how slow the machine is. On a machine whose processors are busy with other
/// work, each pause is longer.
func eventually(patience: Int = 240_000, _ condition: () -> Bool) -> Bool {
  for _ in 0..<1_000 {
    if condition() { return true }
    yieldThread()
  }
  // Leave the processor to the threads that this one waits for.
  for _ in 0..<patience {
    if condition() { return true }
    pauseThread()
  }
  return condition()
}

/// Blocks the thread until a gate is open, even in asynchronous code.
///
/// Used by tests in their own processes that check the number of threads: a task could resume on a new thread.
func blockThread(until gate: Gate) { gate.wait() }

/// Records that a long test makes progress: see `Watchdog`.
func noteProgress(of test: String, _ progress: String) { Watchdog.shared.note(test, progress) }

extension OperationQueue {
  /// A queue with Headway's threads that runs the given number of operations at the same time.
  convenience init(limit: Int) {
    self.init()
    maxConcurrentOperationCount = limit
  }

  /// Occupies one concurrency slot of the queue until the gate that it returns is opened.
  func occupy() -> Gate {
    let (started, end) = (Gate(), Gate())
    addOperation {
      started.open()
      end.wait()
    }
    started.wait()
    return end
  }
}

extension OperationOutcome? {
  var isSuccess: Bool {
    if case .success? = self { true } else { false }
  }

  var isCancelled: Bool {
    if case .cancelled? = self { true } else { false }
  }
}

/// Counts, on several threads at the same time.
final class Counter: Sendable {
  private let count = Atomic<Int>(0)
  var value: Int { count.load(ordering: .acquiring) }
  @discardableResult func increment() -> Int { count.add(1, ordering: .acquiringAndReleasing).newValue }
  func decrement() { count.subtract(1, ordering: .acquiringAndReleasing) }
}

/// A weak reference that several threads can use.
final class WeakReference<Object: AnyObject & Sendable>: Sendable {
  private let reference = Mutex<Weak?>(nil)
  private struct Weak { weak var object: Object? }
  var object: Object? {
    get { reference.withLock { $0?.object } }
    set { reference.withLock { $0 = Weak(object: newValue) } }
  }
}

extension StepExecutor {
  /// The queue whose operations it runs.
  func queue(_ name: String) -> OperationQueue {
    let queue = OperationQueue()
    queue.name = name
    control(queue)
    return queue
  }
}
