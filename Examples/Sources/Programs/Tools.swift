// What the programs use.

#if HEADWAY
import HeadwayFoundation
#else
import Foundation
#endif

/// What happened, in order, from any thread.
final class Log: @unchecked Sendable {  // The lines are touched under the lock only.
  private let lock = NSLock()
  private var stored: [String] = []

  var lines: [String] { lock.withLock { stored } }

  func note(_ line: String) { lock.withLock { stored.append(line) } }

  /// Removes and returns what has been noted, for what happens in no order.
  func take() -> [String] {
    lock.withLock {
      defer { stored = [] }
      return stored
    }
  }
}

/// A door that threads wait at until it is opened; it stays open.
final class Gate: Sendable {
  private let semaphore = DispatchSemaphore(value: 0)

  func open() { semaphore.signal() }

  func wait() {
    semaphore.wait()
    semaphore.signal()
  }
}

/// How many are inside at once, and how many were at most.
final class Gauge: @unchecked Sendable {  // The numbers are touched under the lock only.
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

/// Answers requests when the program says so: the order in which asynchronous work ends is the program's.
final class Server: @unchecked Sendable {  // The answers are touched under the lock only.
  private let condition = NSCondition()
  private var answers: [String: @Sendable (String) -> Void] = [:]

  func request(_ path: String, answer: @escaping @Sendable (String) -> Void) {
    condition.lock()
    answers[path] = answer
    condition.broadcast()
    condition.unlock()
  }

  /// Waits until the request has been made, and returns what answers it.
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

  /// As ``flags`` without `isReady`, which subclasses define as they like once they have started.
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

/// Gives other threads the time in which they would do what they must not do: runs many operations one after another
/// in a queue of its own.
func letOthersRun() {
  let queue = OperationQueue()
  for _ in 0..<200 { queue.addOperations([BlockOperation {}], waitUntilFinished: true) }
}
