#if PostgreSQL
import CPostgreSQL
@_spi(JobStore) import HeadwayJobs

/// The rows of a statement, in binary format unless the statement requires text.
final class QueryResult {
  let handle: OpaquePointer

  init(_ handle: OpaquePointer) { self.handle = handle }

  deinit { PQclear(handle) }

  var count: Int { Int(PQntuples(handle)) }

  var isEmpty: Bool { count == 0 }

  var rows: [ResultRow] { (0..<count).map { ResultRow(result: self, index: Int32($0)) } }

  var first: ResultRow? { isEmpty ? nil : ResultRow(result: self, index: 0) }

  /// The number of rows that the statement has changed.
  var changeCount: Int { PQcmdTuples(handle).flatMap { Int(String(cString: $0)) } ?? 0 }
}

/// A row of a result.
struct ResultRow: StoredRow {
  let result: QueryResult
  let index: Int32

  func isNull(_ column: Int) -> Bool { PQgetisnull(result.handle, index, Int32(column)) != 0 }

  func raw(_ column: Int) -> UnsafeRawBufferPointer {
    UnsafeRawBufferPointer(
      start: PQgetvalue(result.handle, index, Int32(column)),
      count: Int(PQgetlength(result.handle, index, Int32(column))))
  }

  /// An integer of 2, 4 or 8 bytes; 0 for null.
  func int64(_ column: Int) -> Int64 {
    let raw = raw(column)
    switch raw.count {
    case 8: return Int64(bigEndian: raw.loadUnaligned(as: Int64.self))
    case 4: return Int64(Int32(bigEndian: raw.loadUnaligned(as: Int32.self)))
    case 2: return Int64(Int16(bigEndian: raw.loadUnaligned(as: Int16.self)))
    default: return 0
    }
  }

  func bool(_ column: Int) -> Bool { raw(column).first == 1 }

  func double(_ column: Int) -> Double {
    let raw = raw(column)
    return raw.count == 8 ? Double(bitPattern: UInt64(bigEndian: raw.loadUnaligned(as: UInt64.self))) : 0
  }

  func text(_ column: Int) -> String { String(decoding: raw(column), as: UTF8.self) }

  func bytes(_ column: Int) -> [UInt8] { [UInt8](raw(column)) }

  func time(_ column: Int) -> StoreTime { StoreTime(binary: int64(column)) }

  /// The elements of a one-dimensional array of 64-bit integers.
  func int64s(_ column: Int) -> [Int64] {
    let raw = raw(column)
    // The header contains the number of dimensions, whether there are null elements, the type, the length, and the
    // first index.
    let head = 20
    guard raw.count > head else { return [] }
    return stride(from: head, to: raw.count, by: 12).map { offset in
      Int64(bigEndian: raw.loadUnaligned(fromByteOffset: offset + 4, as: Int64.self))
    }
  }

  /// The elements of a one-dimensional array of booleans.
  func bools(_ column: Int) -> [Bool] {
    let raw = raw(column)
    return raw.count > 20 ? stride(from: 20, to: raw.count, by: 5).map { raw[$0 + 4] == 1 } : []
  }
}
#endif
