import HeadwayCSV

extension CSVDialect {
  /// The number of fields that a record has if each quote, at any position, begins, or ends a range without delimiters.
  ///
  /// If a file has quoted fields, and this differs from the record's number of fields, a delimiter before a quoted
  /// field might be missing. For example, `Office"Cable, 2 m"` was meant as two fields, but reads as two different
  /// ones.
  func fieldCountTakingQuotes(in record: UnsafeRawBufferPointer) -> Int {
    var count = 1
    var isQuoted = false
    for byte in record {
      if byte == quote {
        isQuoted.toggle()
      } else if byte == delimiter, !isQuoted {
        count += 1
      }
    }
    return count
  }
}
