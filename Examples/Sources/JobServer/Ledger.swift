import Headway
import Synchronization

import class Foundation.JSONEncoder
import struct Foundation.URL

/// Records how each accepted job ends, because no job may be lost.
final class Ledger: Sendable {
  /// How a job ended.
  enum End: String, Codable, CodingKeyRepresentable {
    case run, failed, left
  }

  private struct State {
    var last = 0
    /// The accepted jobs that have not ended.
    var unfinished: Set<Int> = []
    var ends: [End: [Int]] = [:]
  }

  // Nothing is called under the lock.
  private let state = Mutex(State())
  /// Where to write the report; nil if the server keeps no list of all jobs.
  private let path: String?

  init(path: String?) { self.path = path }

  /// Assigns a number to a job.
  func makeNumber() -> Int {
    state.withLock { state in
      state.last += 1
      state.unfinished.insert(state.last)
      return state.last
    }
  }

  /// Notes the end of a job.
  func end(_ job: Int, _ outcome: OperationOutcome?) {
    let keepsNumbers = path != nil
    state.withLock { state in
      guard state.unfinished.remove(job) != nil, keepsNumbers else { return }
      switch outcome {
      case .success: state.ends[.run, default: []].append(job)
      case .failure(is QueueClosedError): break  // The job was not accepted.
      case .failure(is TimeLimitError), .cancelled, nil: state.ends[.left, default: []].append(job)
      case .failure: state.ends[.failed, default: []].append(job)
      }
    }
  }

  /// Writes how each job ended.
  ///
  /// Jobs that are still running are reported as left.
  func writeReport() throws {
    guard let path else { return }
    let ends = state.withLock { state in
      state.ends.merging([.left: Array(state.unfinished)]) { $0 + $1 }
    }
    try JSONEncoder().encode(ends).write(to: URL(filePath: path))
  }
}
