import Foundation
import Headway
import HeadwayLines
import HeadwayTestKit
import Synchronization

/// A task that follows a file, and the file's writer.
final class Follower: Sendable {
  static let interval = Duration.milliseconds(250)

  let path: String
  let clock: ManualClock
  private let seen: Seen
  private let task: Task<Void, any Error>

  private final class Seen: Sendable {
    let lines = Mutex<[SeenLine]>([])
  }

  init(
    _ path: String, from start: LineReader.StartPosition = .beginning, mustExist: Bool = true,
    options: LineReader.Options = .init(), queue: Headway.OperationQueue? = nil, clock: ManualClock = ManualClock()
  ) {
    let reader = LineReader(
      following: path, from: start, mustExist: mustExist, checkInterval: Self.interval, options: options,
      queue: queue, clock: clock)
    let seen = Seen()
    (self.path, self.clock, self.seen) = (path, clock, seen)
    task = Task {
      for try await batch in reader.batches {
        batch.forEach { line in
          let line = SeenLine(line)
          seen.lines.withLock { $0.append(line) }
        }
      }
    }
  }

  deinit { task.cancel() }

  /// The delivered lines.
  var lines: [SeenLine] { seen.lines.withLock { $0 } }

  /// The contents of the delivered lines.
  var texts: [String] { lines.map { String(decoding: $0.bytes, as: UTF8.self) } }

  /// Waits until the reader has found all there is.
  func untilWaiting() async { await clock.waitForSleepers(count: 1) }

  /// Waits until the reader has checked the file a number of times.
  func check(times: Int = 1) async {
    for _ in 0..<times {
      await untilWaiting()
      clock.advance(by: Self.interval)
    }
    await untilWaiting()
  }

  /// Returns the error that ends the reading.
  func error() async -> (any Error)? {
    switch await task.result {
    case .success: nil
    case .failure(let error): error
    }
  }

  func cancel() { task.cancel() }
}

/// Adds text to the end of a file, which is created if necessary.
func append(_ text: some Sequence<UInt8>, to path: String) throws {
  if !FileManager.default.fileExists(atPath: path) { try Data().write(to: URL(fileURLWithPath: path)) }
  guard let handle = FileHandle(forWritingAtPath: path) else { throw CocoaError(.fileNoSuchFile) }
  try handle.seekToEnd()
  try handle.write(contentsOf: Data(text))
  try handle.close()
}

func append(_ text: String, to path: String) throws { try append(text.utf8, to: path) }
