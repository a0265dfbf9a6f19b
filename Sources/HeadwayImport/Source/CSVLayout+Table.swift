import HeadwayCSV

extension CSVLayout {
  /// Whether a file has a header of several names without blanks, and its records have as many fields.
  static func looksLikeTable(_ path: String) -> Bool {
    guard let records = try? RecordSource(path: path, options: ImportOptions(), findsLayout: false),
      let header = try? records.readHeader(), header.count > 1, records.renamedColumns.isEmpty,
      header.allSatisfy({ $0.allSatisfy { $0.isLetter || $0.isNumber || "_-.".contains($0) } })
    else { return false }
    // Enough to distinguish a table from prose.
    let most = 64
    var (count, agreeing) = (0, 0)
    func next(isAgreeing: Bool) -> CSVParser.IterationControl {
      count += 1
      if isAgreeing { agreeing += 1 }
      return count < most ? .continue : .stop
    }
    try? records.forEach { record in
      next(isAgreeing: record.count == header.count)
    } malformed: { _ in
      next(isAgreeing: false)
    }
    return agreeing * 10 >= count * 9
  }
}
