import HeadwayCSV

extension TablePlan {
  /// Infers the types of columns that have no description, based on the file's first rows.
  ///
  /// - Parameters:
  ///   - records: The file, with its sample.
  ///   - options: How it is imported.
  ///   - described: The columns that have types.
  ///   - existing: The types that earlier imports inferred for existing columns, by the column's name in lower case.
  /// - Returns: Notes about the columns of a new table.
  mutating func inferTypes(
    in records: RecordSource, _ options: ImportOptions, described: [ColumnSchema], existing: [String: ColumnType]
  ) -> [String] {
    let layout = records.layout
    let headerRecordCount = layout.hasHeader ? layout.headerRecordCount : 0
    let types = records.takeSample()?.types(behind: headerRecordCount, self, options) ?? []
    setInferred(types.map(\.type), described: described, existing: existing)
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
  /// The types of the columns, from the rows after the header that are not rejected.
  fileprivate func types(
    behind headerRecordCount: Int, _ plan: TablePlan, _ options: ImportOptions
  ) -> [InferredType] {
    var types = Array(repeating: InferredType(options.numberFormat), count: width)
    let (nullTexts, numbers) = (NullTexts(options), PlainNumbers(options.numberFormat))
    let header = headerRecordCount > 0 && width > 1 ? records.first?.fields : nil
    let key = plan.key.compactMap { plan.columns[$0].field }
    var keys: Set<[[UInt8]]> = []
    for record in records.dropFirst(headerRecordCount) where record.count == width && record.fields != header {
      let isText = record.fields.allSatisfy {
        $0.allSatisfy { $0 < 0x80 } || String(validating: $0, as: UTF8.self) != nil
      }
      guard isText, key.isEmpty || keys.insert(key.map { record.fields[$0] }).inserted else { continue }
      for (column, field) in record.fields.enumerated() where !field.isEmpty && !nullTexts.contains(field) {
        field.withUnsafeBytes { value in
          // All JSON numbers have the same format.
          if plan.isJSONLines, !record.wasQuoted(at: column) { return types[column].meetPlain(value) }
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
