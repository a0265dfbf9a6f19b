// Tools for the programs.

#if HEADWAY
import HeadwayFoundation
#else
import Foundation
#endif

/// The events of a program, in order, from any thread.
final class Log: @unchecked Sendable {  // The lines are accessed only under the lock.
  private let lock = NSLock()
  private var stored: [String] = []

  var lines: [String] { lock.withLock { stored } }

  func note(_ line: String) { lock.withLock { stored.append(line) } }

  /// Removes and returns the recorded lines, for events without a fixed order.
  func take() -> [String] {
    lock.withLock {
      defer { stored = [] }
      return stored
    }
  }
}

/// A gate that threads wait at until it is opened.
///
/// It stays open.
final class Gate: Sendable {
  private let semaphore = DispatchSemaphore(value: 0)

  func open() { semaphore.signal() }

  func wait() {
    semaphore.wait()
    semaphore.signal()
  }
}

/// Counts the current and the maximum number of callers inside at the same time.
final class Gauge: @unchecked Sendable {  // The numbers are accessed only under the lock.
  private let lock = NSLock()
  private var inside = 0
  private var most = 0

  var highest: Int { lock.withLock { most } }

  func enter() {
    lock.withLock {
      inside += 1
      most = max(most, inside)
    }
  }

  func leave() { lock.withLock { inside -= 1 } }
}

/// Responds to requests when the program requests it: the program determines when asynchronous work ends.
final class Server: @unchecked Sendable {  // The answers are accessed only under the lock.
  private let condition = NSCondition()
  private var answers: [String: @Sendable (String) -> Void] = [:]

  func request(_ path: String, answer: @escaping @Sendable (String) -> Void) {
    condition.lock()
    answers[path] = answer
    condition.broadcast()
    condition.unlock()
  }

  /// Waits until the request has been sent, then returns a closure that responds to it.
  func awaitRequest(_ path: String) -> @Sendable (String) -> Void {
    condition.lock()
    defer { condition.unlock() }
    while answers[path] == nil { condition.wait() }
    return answers[path]!
  }

  func answer(_ path: String, with text: String = "ok") { awaitRequest(path)(text) }

  var hasNoRequest: Bool {
    condition.lock()
    defer { condition.unlock() }
    return answers.isEmpty
  }
}

extension Operation {
  var flags: String {
    let all = [
      (isReady, "ready"), (isExecuting, "executing"), (isFinished, "finished"), (isCancelled, "cancelled"),
    ]
    let set = all.filter(\.0).map(\.1)
    return set.isEmpty ? "none" : set.joined(separator: ", ")
  }

  /// The same as ``flags``, but without `isReady`: after an operation has started, a subclass can return any value for
  /// it.
  var outcomeFlags: String {
    let all = [(isExecuting, "executing"), (isFinished, "finished"), (isCancelled, "cancelled")]
    let set = all.filter(\.0).map(\.1)
    return set.isEmpty ? "none" : set.joined(separator: ", ")
  }
}

func makeQueue(limit: Int = OperationQueue.defaultMaxConcurrentOperationCount, isSuspended: Bool = false)
  -> OperationQueue
{
  let queue = OperationQueue()
  queue.maxConcurrentOperationCount = limit
  queue.isSuspended = isSuspended
  return queue
}

/// Gives other threads time for forbidden actions: runs many operations one after another in a separate queue.
func letOthersRun() {
  let queue = OperationQueue()
  for _ in 0..<200 { queue.addOperations([BlockOperation {}], waitUntilFinished: true) }
}
