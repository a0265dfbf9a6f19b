#if HTTP
import Foundation
import Headway
import HeadwayHTTP
import HeadwayTestSupport

typealias OperationQueue = Headway.OperationQueue
typealias Server = LoopbackServer

extension HTTPLimits {
  /// Failed requests are not repeated.
  static var once: HTTPLimits {
    var limits = attempts(1)
    limits.retryPolicy = .never
    return limits
  }

  /// Failed requests are repeated immediately.
  static func attempts(_ count: Int) -> HTTPLimits {
    var limits = HTTPLimits()
    limits.retryPolicy.maxAttemptCount = count
    limits.retryPolicy.backoff = .constant(.zero)
    // No test depends on how fast a body arrives.
    limits.errorBodyTimeout = .seconds(600)
    return limits
  }
}

extension HTTPField.Name {
  static let test = HTTPField.Name("X-Test")!
}

extension HTTPOperation {
  /// Runs the operation in its own queue, and waits until it has finished.
  func run() async throws {
    let queue = OperationQueue()
    queue.addOperation(self)
    try await untilFinished()
  }

  var httpError: RequestError? { error as? RequestError }
}

/// Calls `body` with an empty folder that is removed afterwards.
func withFolder(_ body: (String) async throws -> Void) async throws {
  let folder = try TemporaryFolder()
  defer { withExtendedLifetime(folder) {} }
  try await body(folder.path)
}

func files(_ folder: String) -> [String] {
  ((try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []).sorted()
}

/// Whether this process has a file open; true if the system does not provide this information.
func isOpen(_ path: String) -> Bool {
  guard let descriptors = try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd") else { return true }
  return descriptors.contains {
    (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\($0)")) == path
  }
}

func bytes(_ path: String) -> [UInt8]? { FileManager.default.contents(atPath: path).map { Array($0) } }

func content(_ count: Int) -> [UInt8] { (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 >> 8) } }
#endif
