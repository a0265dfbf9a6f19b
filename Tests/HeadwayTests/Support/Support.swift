import Dispatch
import HeadwayTestKit
import HeadwayTestSupport
import Synchronization

@testable import Headway

/// Counts how many are inside at once, and remembers the most.
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

/// Lets all through once `size` have come: proof that so many run at the same time.
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

/// The identity of the thread that made it.
struct ThreadIdentity: Sendable {
  private let identifier = currentThreadIdentifier()

  var isCurrent: Bool { currentThreadIdentifier() == identifier }
}

extension Crowd {
  /// Whether all have left, now or as soon as the pool's threads have let go of what they hold.
  func eventuallyEmpty() -> Bool { eventually { now == 0 } }
}

/// Whether `condition` comes true, now or as soon as other threads have done what they are at.
///
/// Gives it `patience` pauses of a millisecond: by default so many that only what never comes true is false, however
/// slow the machine is. On a machine whose processors others use, each pause is longer.
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

/// Notes that a test that lasts long goes on: see `Watchdog`.
func noteProgress(of test: String, _ progress: String) { Watchdog.shared.note(test, progress) }

extension OperationQueue {
  /// A queue of this library's threads that runs so many operations at once.
  convenience init(limit: Int) {
    self.init()
    maxConcurrentOperationCount = limit
  }

  /// Occupies one place of the queue's limit until the gate that it returns is opened.
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

/// Counts, on several threads at once.
final class Counter: Sendable {
  private let count = Atomic<Int>(0)
  var value: Int { count.load(ordering: .acquiring) }
  @discardableResult func increment() -> Int { count.add(1, ordering: .acquiringAndReleasing).newValue }
  func decrement() { count.subtract(1, ordering: .acquiringAndReleasing) }
}

/// A weak reference that several threads may use.
final class WeakReference<Object: AnyObject & Sendable>: Sendable {
  private let reference = Mutex<Weak?>(nil)
  private struct Weak { weak var object: Object? }
  var object: Object? {
    get { reference.withLock { $0?.object } }
    set { reference.withLock { $0 = Weak(object: newValue) } }
  }
}

extension StepExecutor {
  /// A queue whose operations it runs.
  func queue(_ name: String) -> OperationQueue {
    let queue = OperationQueue()
    queue.name = name
    attach(queue)
    return queue
  }
}
