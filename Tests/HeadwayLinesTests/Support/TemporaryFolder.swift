import Foundation
import Testing

/// A folder that goes away with the value.
final class TemporaryFolder: Sendable {
  let path: String

  init() throws {
    path = FileManager.default.temporaryDirectory.appendingPathComponent("headway-lines-\(UUID().uuidString)").path
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
  }

  deinit { try? FileManager.default.removeItem(atPath: path) }

  /// Writes a file into the folder.
  func file(_ bytes: some Sequence<UInt8>, name: String = "lines.txt") throws -> String {
    let path = self.path + "/" + name
    try Data(bytes).write(to: URL(fileURLWithPath: path))
    return path
  }

  /// Writes a file of so many copies of a block, a block at a time.
  func file(repeating block: [UInt8], times: Int, name: String = "large.txt") throws -> String {
    let path = try file([], name: name)
    let handle = try #require(FileHandle(forWritingAtPath: path))
    let data = Data(block)
    for _ in 0..<times { try handle.write(contentsOf: data) }
    try handle.close()
    return path
  }

  /// Makes a FIFO in the folder.
  func fifo() throws -> String {
    let path = self.path + "/fifo"
    try #require(mkfifo(path, 0o600) == 0)
    return path
  }
}

/// Runs something that blocks on a thread of its own.
func onThread<Value: Sendable>(_ body: @escaping @Sendable () -> Value) async -> Value {
  await withCheckedContinuation { continuation in
    Thread.detachNewThread { continuation.resume(returning: body()) }
  }
}
