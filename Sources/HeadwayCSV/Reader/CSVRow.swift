/// A row of a CSV file.
///
/// ```swift
/// try CSVReader(path: "stations.csv").forEachRow { row in
///   let height: Double? = try row.value("height")
///   print(row.lineNumber, try row["name"], height ?? 0)
/// }
/// ```
///
/// Nothing is made of its fields before you ask. Columns are meant by name, by position from 0, or by a ``CSVColumn``,
/// which is the fastest of the names.
///
/// A row never changes, and may be kept and sent to other threads and tasks. It keeps the memory of the rows around it,
/// up to 64 KB: keep values rather than rows.
///
/// `@unchecked Sendable`: what its pointers refer to is the batch's, which does not change while a row refers to it.
public struct CSVRow: @unchecked Sendable {
  @usableFromInline let bytes: UnsafeRawPointer
  @usableFromInline let fieldTable: UnsafePointer<RowBatch.Field>

  /// The number of fields, at least one.
  public let count: Int

  /// The physical line of the file, counted from one, on which the row starts.
  public let lineNumber: Int

  /// The number of the row, counted from one; the header does not count, and neither do blank lines and comments.
  public let number: Int

  @usableFromInline let batch: RowBatch

  init(
    bytes: UnsafeRawPointer, fields: UnsafePointer<RowBatch.Field>, count: Int, lineNumber: Int, number: Int,
    batch: RowBatch
  ) {
    (self.bytes, fieldTable, self.count) = (bytes, fields, count)
    (self.lineNumber, self.number, self.batch) = (lineNumber, number, batch)
  }

  /// The names of the columns.
  @inlinable public var header: CSVHeader { batch.header }

  /// A field as text.
  ///
  /// - Parameter column: The name of the column, its position from 0, or a ``CSVColumn``.
  /// - Returns: The text, without quotes around it; empty for an empty field.
  /// - Throws: ``CSVReaderError`` with the code `noSuchColumn`, `missingField` or `invalidUTF8`.
  /// - Complexity: O(*n*) in the length of the field.
  @inlinable
  public subscript(column: some CSVColumnSelector) -> String {
    get throws(CSVReaderError) { try value(column) }
  }

  /// A field as a value.
  ///
  /// ```swift
  /// let rows = CSVReader(path: path)
  /// try rows.forEachRow { row in
  ///   let platforms = try row.value("platforms", as: Int.self)
  ///   let height: Double? = try row.value("height")
  ///   print(platforms, height ?? 0)
  /// }
  /// ```
  ///
  /// - Parameters:
  ///   - column: The name of the column, its position from 0, or a ``CSVColumn``.
  ///   - type: What to make of the field. An optional type is nil for an empty field, and for one that a short row
  ///     lacks.
  /// - Returns: The value.
  /// - Throws: ``CSVReaderError`` with the code `noSuchColumn`, `missingField`, `invalidUTF8` or `invalidValue`.
  /// - Complexity: O(*n*) in the length of the field. No allocation for numbers and `Bool`.
  @inlinable
  public func value<Value: CSVFieldConvertible>(
    _ column: some CSVColumnSelector, as type: Value.Type = Value.self
  ) throws(CSVReaderError) -> Value {
    guard let position = column.csvPosition(in: batch.header) else {
      throw noSuchColumn(column.csvColumnName)
    }
    return try value(at: position, column.csvColumnName)
  }

  /// Calls a closure with the bytes of a field, where they are.
  ///
  /// - Parameters:
  ///   - column: The name of the column, its position from 0, or a ``CSVColumn``.
  ///   - body: Receives the bytes, without quotes around them, in UTF-8 where the file is valid; they are there until
  ///     it returns.
  /// - Returns: What the closure returns.
  /// - Throws: ``CSVReaderError`` with the code `noSuchColumn` or `missingField`, and what the closure throws.
  /// - Complexity: O(1), nothing is copied.
  @inlinable
  public func withUnsafeBytes<Result>(
    of column: some CSVColumnSelector, _ body: (UnsafeRawBufferPointer) throws -> Result
  ) throws -> Result {
    guard let position = column.csvPosition(in: batch.header) else {
      throw noSuchColumn(column.csvColumnName)
    }
    guard let bytes = unsafeBytes(at: position) else { throw missingField(column.csvColumnName) }
    defer { withExtendedLifetime(batch) {} }
    return try body(bytes)
  }

  /// All fields as text, in the order of the file.
  ///
  /// - Throws: ``CSVReaderError`` with the code `invalidUTF8`.
  /// - Complexity: O(*n*) in the length of the row.
  public var fields: [String] {
    get throws(CSVReaderError) {
      var fields: [String] = []
      fields.reserveCapacity(count)
      for position in 0..<count { fields.append(try value(position)) }
      return fields
    }
  }

  /// The bytes of a field; nil if the row is too short.
  ///
  /// They are valid while the batch is.
  @inlinable
  func unsafeBytes(at position: Int) -> UnsafeRawBufferPointer? {
    guard position < count else { return nil }
    let field = fieldTable[position]
    return UnsafeRawBufferPointer(start: bytes + Int(field.start), count: Int(field.end &- field.start))
  }

  @inlinable
  func value<Value: CSVFieldConvertible>(
    at position: Int, _ name: @autoclosure () -> String
  ) throws(CSVReaderError) -> Value {
    defer { withExtendedLifetime(batch) {} }
    if let field = unsafeBytes(at: position), let value = Value(csvField: field) { return value }
    return try valueOfUnusualField(at: position, name())
  }
}
