import Foundation
import Headway
import HeadwayCSV
import Synchronization

/// What takes the rows with which something is wrong, from any thread.
protocol RejectedRowReceiver: Sendable {
  /// Where they can be read; nil if that is nowhere.
  var rejectsPath: String? { get }

  /// Takes rows, in the order of their lines.
  func append(_ rows: [RejectedRow]) throws
}

/// Collects the rows with which something is wrong in a CSV file of its own: table, line, status, reason and record.
///
/// The file is made when the first row comes, and its folder with it. A file that is there, for instance from an
/// earlier import, is left alone: then this one gets a number, as in `rejects-2.csv`. Safe to use from any thread.
public final class RejectsFile: RejectedRowReceiver {
  private struct State {
    var path: String
    var handle: FileHandle?
  }

  // Protected by the lock. The writing itself is under it too, so that rows stay whole.
  private let state: Mutex<State>

  /// Prepares the file.
  ///
  /// - Parameter path: Where the file is to be.
  public init(path: String) { state = Mutex(State(path: path)) }

  /// Prepares the file for a table.
  ///
  /// - Parameters:
  ///   - table: The table, whose name the file gets; with `_` in place of what can't be in the name of a file.
  ///   - folder: The folder.
  public convenience init(forTable table: String, inFolder folder: String) {
    let name = String(table.map { $0 == "/" || $0 == "\0" ? "_" : $0 })
    // A name has 255 bytes at most, and is not hidden.
    let start = String(decoding: (name.hasPrefix(".") ? "_\(name)" : name).utf8.prefix(200), as: UTF8.self)
    self.init(path: "\(folder)/\(start).csv")
  }

  /// Where the file is or, while it has no row, where it is to be if there is none by then.
  public var path: String { state.withLock { $0.path } }

  var rejectsPath: String? { path }

  /// Appends rows.
  ///
  /// - Parameter rows: The rows, in the order of their lines.
  /// - Throws: ``ImportError`` with the code `cannotWriteRejects`.
  public func append(_ rows: [RejectedRow]) throws {
    guard !rows.isEmpty else { return }
    var text = Data()
    var rowEnds: [Int] = []
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
      rowEnds.append(text.count)
    }
    try state.withLock { state throws(ImportError) in
      do {
        let handle = try state.handle ?? Self.make(&state)
        try Self.write(text, rowEnds: rowEnds, to: handle)
      } catch {
        throw ImportError(
          .cannotWriteRejects, path: state.path, message: "The rejected rows can't be written.", underlying: error)
      }
    }
  }

  /// Writes whole rows, also where the disk has room for a part of them only.
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

  /// Makes the file, under the first name that is free.
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
