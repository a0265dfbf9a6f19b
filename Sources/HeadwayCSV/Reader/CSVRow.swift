/// A row of a CSV file.
///
/// ```swift
/// try CSVReader(path: "stations.csv").forEachRow { row in
///   let height: Double? = try row.value("height")
///   print(row.lineNumber, try row["name"], height ?? 0)
/// }
/// ```
///
/// Its fields are not converted before you request them. You select a column by name, by its position starting at 0, or
/// with a ``CSVColumn``, which is the fastest way to select by name.
///
/// A row never changes. You can keep it and send it to other threads and tasks. It keeps the memory of the rows around
/// it, up to 64 KB, so keep values rather than rows.
///
/// `@unchecked Sendable`, because its pointers refer to memory of the batch, which does not change while a row refers
/// to it.
public struct CSVRow: @unchecked Sendable {
  @usableFromInline let bytes: UnsafeRawPointer
  @usableFromInline let fieldTable: UnsafePointer<RowBatch.Field>

  /// The number of fields, at least one.
  public let count: Int

  /// The physical line of the file where the row starts, starting at one.
  public let lineNumber: Int

  /// The number of the row, starting at one.
  ///
  /// The header, blank lines and comments do not count.
  public let rowNumber: Int

  @usableFromInline let batch: RowBatch

  init(
    bytes: UnsafeRawPointer, fields: UnsafePointer<RowBatch.Field>, count: Int, lineNumber: Int, rowNumber: Int,
    batch: RowBatch
  ) {
    (self.bytes, fieldTable, self.count) = (bytes, fields, count)
    (self.lineNumber, self.rowNumber, self.batch) = (lineNumber, rowNumber, batch)
  }

  /// The column names.
  @inlinable public var header: CSVHeader { batch.header }

  /// Returns a field as text.
  ///
  /// - Parameter column: The column's name, its position starting at 0, or a ``CSVColumn``.
  /// - Returns: The text, without the quotes around it. Empty for an empty field.
  /// - Throws: ``CSVReaderError`` with the code `noSuchColumn`, `missingField` or `invalidUTF8`.
  /// - Complexity: O(*n*) in the length of the field.
  @inlinable
  public subscript(column: some CSVColumnSelector) -> String {
    get throws(CSVReaderError) { try value(column) }
  }

  /// Returns a field as a value.
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
  ///   - column: The column's name, its position starting at 0, or a ``CSVColumn``.
  ///   - type: The type of the value. The value of an optional type is nil for an empty field, and for a field that a
  ///     short row lacks.
  /// - Returns: The converted content of the field.
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

  /// Calls a closure with the bytes of a field, without copying them.
  ///
  /// - Parameters:
  ///   - column: The column's name, its position starting at 0, or a ``CSVColumn``.
  ///   - body: A closure that receives the bytes, without the quotes around them, in UTF-8 if the file is valid. They
  ///     are valid until it returns.
  /// - Returns: The value that the closure returns.
  /// - Throws: ``CSVReaderError`` with the code `noSuchColumn` or `missingField`, or the error that the closure throws.
  /// - Complexity: O(1). Nothing is copied.
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

  /// All fields as text, in file order.
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

  /// Returns the bytes of a field.
  ///
  /// Nil if the row is too short.
  ///
  /// They are valid as long as the batch is.
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
