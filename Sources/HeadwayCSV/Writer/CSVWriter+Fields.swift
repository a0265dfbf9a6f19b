extension CSVWriter {
  /// Writes a row of strings.
  ///
  /// ```swift
  /// let writer = CSVWriter(columns: ["id", "name"])
  /// try writer.write(["1", "Zoo, Berlin"])
  /// print(writer.text)
  /// ```
  ///
  /// - Parameter fields: The fields, as many as there are columns. A row without fields is written as one empty field.
  /// - Throws: ``CSVWriterError`` with the code `raggedRow`, or an error about the file.
  /// - Complexity: O(*n*) in the length of the fields.
  public func write(_ fields: some Collection<some StringProtocol>) throws(CSVWriterError) {
    try writeRow(count: max(fields.count, 1)) {
      for (position, field) in fields.enumerated() { append(String(field), at: position) }
    }
  }

  /// Writes a row of values of several types.
  ///
  /// ```swift
  /// let writer = CSVWriter(columns: ["id", "name", "height"])
  /// try writer.write(fields: 1, "Zoo", 2.5)
  /// ```
  ///
  /// - Parameter field: The values, as many as there are columns. Nil is written as an empty field.
  /// - Throws: ``CSVWriterError`` with the code `raggedRow` or `invalidValue`, or an error about the file.
  /// - Complexity: O(*n*) in the length of the fields.
  public func write<each Field: CSVFieldConvertible>(fields field: repeat each Field) throws(CSVWriterError) {
    var texts: [String] = []
    for field in repeat each field { texts.append(try text(of: field, texts.count)) }
    try write(texts)
  }

  /// Writes a row from a reader unchanged.
  ///
  /// ```swift
  /// let reader = CSVReader(path: path)
  /// let writer = try CSVWriter(path: "open.csv", columns: reader.detectLayout().columns)
  /// try reader.forEachRow { row in
  ///   if try row.value("is_open") { try writer.write(row) }
  /// }
  /// try writer.finish()
  /// ```
  ///
  /// - Parameter row: The row, from a file in any dialect.
  /// - Throws: ``CSVWriterError`` with the code `raggedRow`, or an error about the file.
  /// - Complexity: O(*n*) in the length of the row. No allocation.
  public func write(_ row: CSVRow) throws(CSVWriterError) {
    try writeRow(count: row.count) {
      defer { withExtendedLifetime(row) {} }
      for position in 0..<row.count {
        if let field = row.unsafeBytes(at: position) { append(field, at: position) }
      }
    }
  }

  private func text(of value: some CSVFieldConvertible, _ position: Int) throws(CSVWriterError) -> String {
    if let field = value.writableField { return field }
    let name = columns.flatMap { $0.indices.contains(position) ? $0[position] : nil } ?? "\(position)"
    throw CSVWriterError(notFinite: value, path: path, rowNumber: rowCount + 1, columnName: name)
  }
}

extension CSVWriterError {
  init(notFinite value: Any, path: String, rowNumber: Int, columnName: String) {
    self.init(
      .invalidValue, path: path, rowNumber: rowNumber, columnName: columnName,
      context: "\(value) is not finite, and can't be written as a number.")
  }
}
