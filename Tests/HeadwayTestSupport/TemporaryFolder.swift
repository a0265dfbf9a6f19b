package import Foundation

/// A folder that is removed with the value.
package final class TemporaryFolder: Sendable {
  package let path: String

  package init() throws {
    path = FileManager.default.temporaryDirectory.appendingPathComponent("headway-\(UUID().uuidString)").path
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
  }

  deinit { try? FileManager.default.removeItem(atPath: path) }

  /// The names of the folder's contents, in order.
  package var names: [String] { get throws { try FileManager.default.contentsOfDirectory(atPath: path).sorted() } }

  /// Writes a file, and creates its folder; returns its path.
  @discardableResult
  package func write(_ bytes: some Sequence<UInt8>, to name: String = "file") throws -> String {
    let url = URL(fileURLWithPath: path).appendingPathComponent(name)
    try FileManager.default.createDirectory(at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
    try Data(bytes).write(to: url)
    return url.path
  }

  /// Writes a text file, and creates its folder; returns its path.
  @discardableResult
  package func write(_ text: String, to name: String) throws -> String { try write(text.utf8, to: name) }

  /// Removes the files and folders that exist.
  package func remove(_ names: String...) throws {
    for name in names where has(name) { try FileManager.default.removeItem(atPath: "\(path)/\(name)") }
  }

  /// Whether a file or folder exists.
  package func has(_ name: String) -> Bool { FileManager.default.fileExists(atPath: "\(path)/\(name)") }

  /// Reads a file.
  package func bytes(of name: String) throws -> Data { try Data(contentsOf: URL(fileURLWithPath: "\(path)/\(name)")) }

  /// Reads a file of text.
  package func text(of name: String) throws -> String { String(decoding: try bytes(of: name), as: UTF8.self) }
}
