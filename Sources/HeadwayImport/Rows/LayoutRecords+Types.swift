import HeadwayCSV

extension LayoutRecords {
  /// The types of the columns, by the rows behind the header.
  func types(behind headerRecords: Int, _ options: ImportOptions) -> [FoundType] {
    var types = Array(repeating: FoundType(), count: width)
    let nullText = options.nullText.map { Array($0.utf8) }
    for record in records.dropFirst(headerRecords) where record.count == width {
      for (column, field) in record.fields.enumerated() where !field.isEmpty && field != nullText {
        field.withUnsafeBytes { types[column].meet($0) }
      }
    }
    return types
  }
}
