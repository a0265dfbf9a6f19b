import HeadwayCSV

extension TablePlan {
  /// Finds the types of columns without a description, from the first rows of the file.
  ///
  /// - Parameters:
  ///   - records: The file, with its sample.
  ///   - options: How it is imported.
  ///   - described: The columns that have types.
  ///   - existing: The types that earlier imports found for existing columns, by the column's name in lower case.
  /// - Returns: Notes about the columns of a new table.
  mutating func findTypes(
    in records: RecordSource, _ options: ImportOptions, described: [ColumnSchema], existing: [String: ColumnType]
  ) -> [String] {
    let layout = records.layout
    let headerRecords = layout.hasHeader ? layout.headerRecords : 0
    let types = records.takeSample()?.types(behind: headerRecords, options, isJSON: records.isJSONLines) ?? []
    setFound(types.map(\.type), described: described, existing: existing)
    guard existingColumns.isEmpty else { return [] }
    let names = Set(described.map(\.name.lowercasedAsName))
    return columns.compactMap { column in
      guard !column.isKey, !names.contains(column.name.lowercasedAsName), let field = column.field, field < types.count
      else { return nil }
      return types[field].note(on: column.name)
    }
  }
}

extension LayoutRecords {
  /// The types of the columns, from the rows after the header.
  func types(behind headerRecords: Int, _ options: ImportOptions, isJSON: Bool) -> [FoundType] {
    var types = Array(repeating: FoundType(options.numberFormat), count: width)
    let (nullTexts, numbers) = (NullTexts(options), PlainNumbers(options.numberFormat))
    for record in records.dropFirst(headerRecords) where record.count == width {
      for (column, field) in record.fields.enumerated() where !field.isEmpty && !nullTexts.contains(field) {
        field.withUnsafeBytes { value in
          // All JSON numbers have the same format.
          if isJSON, !record.wasQuoted(at: column) { return types[column].meetPlain(value) }
          guard let numbers else { return types[column].meet(value, plain: value) }
          withUnsafeTemporaryAllocation(byteCount: PlainNumbers.mostBytes, alignment: 1) { buffer in
            types[column].meet(value, plain: numbers.plain(value, in: buffer))
          }
        }
      }
    }
    return types
  }
}
