import Foundation
import HeadwayCSV
import Synchronization

/// Collects the rows with which something is wrong in a CSV file of its own: table, line, status, reason and record.
///
/// The file is made when the first row comes; one from an earlier import is removed at the start. Safe to use from any
/// thread.
public final class RejectsFile: Sendable {
  /// Where the file is.
  public let path: String

  // Protected by the lock: the open file. The writing itself is under it too, so that rows stay whole.
  private let handle = Mutex<FileHandle?>(nil)

  /// Prepares the file and removes the one that an earlier import left there.
  ///
  /// - Parameter path: Where the file is to be.
  /// - Throws: ``ImportError`` with the code `cannotWriteRejects`, if the old file can't be removed.
  public init(path: String) throws {
    self.path = path
    var isFolder: ObjCBool = false
    guard FileManager.default.fileExists(atPath: path, isDirectory: &isFolder) else { return }
    // A folder is not ours to remove.
    guard !isFolder.boolValue else {
      throw ImportError(.cannotWriteRejects, path: path, message: "The rejected rows can't be written: it is a folder.")
    }
    do { try FileManager.default.removeItem(atPath: path) } catch { throw failure(error) }
  }

  /// Appends rows.
  ///
  /// - Parameter rows: The rows, in the order of their lines.
  /// - Throws: ``ImportError`` with the code `cannotWriteRejects`.
  public func append(_ rows: [RejectedRow]) throws {
    guard !rows.isEmpty else { return }
    var text = Data()
    for row in rows {
      if row.table.utf8.contains(where: { ",\"\r\n".utf8.contains($0) }) {
        text.appendQuoted(row.table.utf8)
      } else {
        text.append(Data(row.table.utf8))
      }
      text.append(Data(",\(row.line),\(row.status.rawValue),".utf8))
      text.appendQuoted(row.reason.utf8)
      text.append(UInt8(ascii: ","))
      text.appendQuoted(row.record)
      text.append(UInt8(ascii: "\n"))
    }
    do {
      try handle.withLock { handle in
        if handle == nil {
          try Data("table,line,status,reason,record\n".utf8).write(to: URL(fileURLWithPath: path))
          handle = try FileHandle(forWritingTo: URL(fileURLWithPath: path))
          try handle?.seekToEnd()
        }
        try handle?.write(contentsOf: text)
      }
    } catch { throw failure(error) }
  }

  private func failure(_ error: any Error) -> ImportError {
    ImportError(.cannotWriteRejects, path: path, message: "The rejected rows can't be written.", underlying: error)
  }
}

extension Data {
  fileprivate mutating func appendQuoted(_ bytes: some Sequence<UInt8>) {
    let quote = UInt8(ascii: "\"")
    append(quote)
    for byte in bytes {
      if byte == quote { append(quote) }
      append(byte)
    }
    append(quote)
  }
}
