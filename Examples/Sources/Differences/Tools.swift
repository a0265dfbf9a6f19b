// Tools for the cases.

#if HEADWAY
import HeadwayFoundation
#else
import Foundation
#endif

/// A value that threads share.
final class Shared<Value>: @unchecked Sendable {  // The value is accessed only under the lock.
  private let lock = NSLock()
  private var stored: Value

  init(_ value: Value) { stored = value }

  var value: Value { lock.withLock { stored } }

  func change(_ body: (inout Value) -> Void) { lock.withLock { body(&stored) } }
}

/// Runs `body` on its own thread.
///
/// Returns false if it has not returned within that many seconds.
func returns(within seconds: Double = 2, _ body: @escaping @Sendable () -> Void) -> Bool {
  let done = DispatchSemaphore(value: 0)
  Thread.detachNewThread {
    body()
    done.signal()
  }
  return done.wait(timeout: .now() + seconds) == .success
}

/// Checks the condition every few milliseconds.
///
/// Returns false if it has not become true within that many seconds.
func becomesTrue(within seconds: Double = 2, _ condition: () -> Bool) -> Bool {
  let end = Date(timeIntervalSinceNow: seconds)
  while Date() < end {
    if condition() { return true }
    usleep(2_000)
  }
  return condition()
}

func secondsTaken(_ body: () -> Void) -> Double {
  let start = DispatchTime.now().uptimeNanoseconds
  body()
  return Double(DispatchTime.now().uptimeNanoseconds - start) / 1e9
}

func rounded(_ seconds: Double, digits: Int = 1) -> String { String(format: "%.\(digits)f s", seconds) }

func serialQueue() -> OperationQueue {
  let queue = OperationQueue()
  queue.maxConcurrentOperationCount = 1
  return queue
}
