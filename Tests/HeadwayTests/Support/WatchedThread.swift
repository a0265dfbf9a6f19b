#if os(Linux)
import Glibc
import HeadwayTestKit
import Synchronization

@testable import Headway

/// Shows a test whether a thread waits where it must, or continues.
///
/// A waiting thread goes to sleep again and again, so the test needs no time limit: it observes either outcome.
final class WatchedThread: Sendable {
  private let folder = Mutex<String?>(nil)
  private let begun = Gate()
  private let end = Gate()

  /// Runs `body`, which other threads can watch.
  func run(_ body: () -> Void) {
    folder.withLock { $0 = Self.currentFolder }
    begun.open()
    body()
    end.open()
  }

  /// Whether the thread waits in its body.
  ///
  /// Returns when the thread has gone to sleep several times, or its body has returned.
  var waits: Bool {
    begun.wait()
    let first = sleepCount
    while !end.isOpen {
      if sleepCount >= first + 5 { return true }
      pauseThread()
    }
    return false
  }

  /// How often the thread has gone to sleep.
  private var sleepCount: Int {
    guard let folder = folder.withLock({ $0 }), let status = SmallFile.text(at: "\(folder)/status") else { return 0 }
    let line = status.split(separator: "\n").first { $0.hasPrefix("voluntary_ctxt_switches:") }
    return line?.split(separator: "\t").last.flatMap { Int($0) } ?? 0
  }

  /// The folder in `/proc` of the calling thread.
  private static var currentFolder: String? {
    withUnsafeTemporaryAllocation(of: CChar.self, capacity: 256) { buffer in
      let count = readlink("/proc/thread-self", buffer.baseAddress!, buffer.count)
      guard count > 0 else { return nil }
      return "/proc/" + String(decoding: buffer[..<count].map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
  }
}
#endif
