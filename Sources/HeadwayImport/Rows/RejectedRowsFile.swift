import Foundation
import Headway
import HeadwayCSV
import HeadwayFiles
import Synchronization

/// Receives rows that have problems, on any thread.
protocol RowIssueHandler: Sendable {
  /// The path of the file that contains the rows; nil if there is none.
  var rejectedRowsPath: String? { get }

  /// Adds rows, ordered by line.
  func append(_ rows: [RowIssue]) throws
}

/// Collects the rows that have problems in a separate CSV file with the columns table, line, status, reason, and
/// record.
///
/// The file and its folder are created when the first row is added. An existing file, for example of an earlier import,
/// is left unchanged; the new file gets a number, as in `stops-2.csv`. You can use an instance from any thread.
public final class RejectedRowsFile: RowIssueHandler {
  private struct State {
    var path: String
    var handle: FileHandle?
  }

  // Protected by the lock. Rows are also written under the lock, so that they stay whole.
  private let state: Mutex<State>

  /// Prepares the file.
  ///
  /// It is created when the first row is added.
  ///
  /// - Parameter path: The path of the file.
  public init(path: String) { state = Mutex(State(path: path)) }

  /// Prepares the file for a table.
  ///
  /// It is created when the first row is added.
  ///
  /// - Parameters:
  ///   - table: The table that gives the file its name, with `_` instead of characters that a file name can't have.
  ///   - folder: The folder of the file.
  public convenience init(forTable table: String, inFolder folder: String) {
    let name = String(table.map { $0 == "/" || $0 == "\0" ? "_" : $0 })
    // A file name has at most 255 bytes, and this one must not be hidden.
    let start = String(decoding: (name.hasPrefix(".") ? "_\(name)" : name).utf8.prefix(200), as: UTF8.self)
    self.init(path: "\(folder)/\(start).csv")
  }

  /// The path of the file.
  ///
  /// Until the first row is added, the name can still change if another file gets it first.
  public var path: String { state.withLock { $0.path } }

  var rejectedRowsPath: String? { path }

  /// Appends rows.
  ///
  /// - Parameter rows: The rows, ordered by line.
  /// - Throws: ``ImportError`` with the code `cannotWriteRejectedRows`.
  public func append(_ rows: [RowIssue]) throws {
    guard !rows.isEmpty else { return }
    var text = Data()
    var rowEnds: [Int] = []
    for row in rows {
      if row.table.utf8.contains(where: { ",\"\r\n".utf8.contains($0) }) {
        text.appendQuoted(row.table.utf8)
      } else {
        text.append(Data(row.table.utf8))
      }
      text.append(Data(",\(row.lineNumber),\(row.status.rawValue),".utf8))
      text.appendQuoted(row.reason.utf8)
      text.append(UInt8(ascii: ","))
      text.appendQuoted(row.record)
      text.append(UInt8(ascii: "\n"))
      rowEnds.append(text.count)
    }
    try state.withLock { state throws(ImportError) in
      do {
        let handle = try state.handle ?? Self.make(&state)
        try Self.write(text, rowEnds: rowEnds, to: handle)
      } catch {
        throw ImportError(
          .cannotWriteRejectedRows, path: state.path, context: "The rejected rows can't be written.",
          underlyingError: error)
      }
    }
  }

  /// Writes whole rows, even if the disk has space for only part of them.
  private static func write(_ text: Data, rowEnds: [Int], to handle: FileHandle) throws {
    let start = try handle.offset()
    do {
      try handle.write(contentsOf: text)
    } catch {
      let written = try handle.offset() - start
      try handle.truncate(atOffset: start + UInt64(rowEnds.last { $0 <= written } ?? 0))
      throw error
    }
  }

  /// Creates the file under the first free name.
  private static func make(_ state: inout State) throws -> FileHandle {
    let path = state.path
    let folder = FileSystem.folder(of: path)
    guard FileSystem.kind(of: folder) != nil || folder.withPathBytes({ mkdir($0, 0o777) }) == 0 else {
      throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO)
    }
    let name = path.split(separator: "/").last ?? ""
    let ending = name.lastIndex(of: ".").map { $0 == name.startIndex ? "" : String(name[$0...]) } ?? ""
    var number = 1
    var descriptor: Int32
    repeat {
      descriptor = state.path.withPathBytes { open($0, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o666) }
      guard descriptor < 0 else { break }
      guard errno == EEXIST else { throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO) }
      number += 1
      state.path = "\(path.dropLast(ending.count))-\(number)\(ending)"
    } while true
    let handle = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
    try handle.write(contentsOf: Data("table,line,status,reason,record\n".utf8))
    state.handle = handle
    return handle
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
