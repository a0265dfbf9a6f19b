import Foundation
import HeadwayTestSupport
import Testing

extension TemporaryFolder {
  /// Writes a file that contains the given number of copies of a block, one block at a time.
  func write(repeating block: [UInt8], times: Int) throws -> String {
    let path = try write([UInt8](), to: "large")
    let handle = try #require(FileHandle(forWritingAtPath: path))
    let data = Data(block)
    for _ in 0..<times { try handle.write(contentsOf: data) }
    try handle.close()
    return path
  }

  /// Creates a FIFO in the folder.
  func fifo() throws -> String {
    let path = self.path + "/fifo"
    try #require(mkfifo(path, 0o600) == 0)
    return path
  }
}

/// Runs blocking code on its own thread.
func onThread<Value: Sendable>(_ body: @escaping @Sendable () -> Value) async -> Value {
  await withCheckedContinuation { continuation in
    Thread.detachNewThread { continuation.resume(returning: body()) }
  }
}
