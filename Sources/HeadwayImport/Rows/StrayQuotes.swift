import HeadwayCSV

extension CSVDialect {
  /// How many fields a record has if each quote in it begins or ends a stretch without delimiters, wherever it is.
  ///
  /// Where a file has fields in quotes, and this is another number than that of its fields, a delimiter may have been
  /// lost before a quoted field: `Office"Cable, 2 m"` was meant as two fields, and looks like two others.
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
