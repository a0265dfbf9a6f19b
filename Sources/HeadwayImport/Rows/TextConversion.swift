import HeadwayLines

/// A column of an existing table that converts text to numbers although the import does not describe it as a number.
struct NumberAffinity: Sendable {
  /// The type that the table declares.
  let declaredType: String
  /// `real`, or `numeric`, which SQLite treats like `INTEGER` here.
  let type: ColumnType
}

/// The information that a value loses if SQLite converts it to a number.
enum TextLoss {
  case nothing
  /// Only the trailing zeros of its fraction.
  case zeros
  /// Its text: the number is written in another way, or does not exactly equal the value of the text.
  case text
}

extension ColumnType {
  /// Compares a value with the number that SQLite converts it to in a column of this type.
  ///
  /// - Parameters:
  ///   - value: The value, which is not empty.
  ///   - decimals: Receives the number of decimal places of the value, if it is a number that the column stores
  ///     exactly.
  /// - Returns: What SQLite's conversion loses of the text.
  func loss(of value: UnsafeRawBufferPointer, decimals: inout Int?) -> TextLoss {
    guard let exact = exactValue(value) else { return value.isNumberToSQLite ? .text : .nothing }
    guard let fraction = ExactNumber.fraction(value) else {
      decimals = 0
      return .nothing
    }
    decimals = fraction.decimals
    // SQLite writes this floating-point number as `3.0` itself.
    guard fraction.endsWithZero, self != .real || exact.kind != .real || fraction.decimals > 1 else { return .nothing }
    return .zeros
  }
}

/// A value of a batch that SQLite converts to a number with a different text.
struct TextConversion {
  /// The position of the row in its batch.
  let row: Int
  let column: Int
  /// Whether only trailing zeros of a fraction are lost.
  let isZeros: Bool
  /// The beginning of the value.
  let text: String
}

/// Counts the values whose text has changed, by column.
struct TextConversions {
  private struct Tally {
    var count = 0
    var first: (lineNumber: Int, text: String)?

    mutating func add(_ other: Tally) {
      count += other.count
      if let number = other.first?.lineNumber, first.map({ number < $0.lineNumber }) != false { first = other.first }
    }

    mutating func add(lineNumber: Int, _ text: String) { add(Tally(count: 1, first: (lineNumber, text))) }
  }

  private var texts: [Int: Tally] = [:]
  /// The values that lose only trailing zeros of a fraction.
  private var zeros: [Int: Tally] = [:]
  /// The values, with their lines, of rows that might be rejected at the end of the import.
  private var kept: [(lineNumber: Int, conversion: TextConversion)] = []
  private var plan: TablePlan?
  private var uneven: Set<Int> = []

  var isEmpty: Bool { texts.isEmpty && zeros.isEmpty && kept.isEmpty }

  /// Counts the conversions of a batch.
  ///
  /// - Parameters:
  ///   - batch: The batch that was written.
  ///   - keepsEach: Whether rows may be removed from the count.
  ///   - includes: Returns whether the row at a position was written.
  mutating func count(in batch: RowBatch, keepsEach: Bool, where includes: (Int) -> Bool) {
    for conversion in batch.conversions where includes(conversion.row) {
      let lineNumber = batch.origins[conversion.row].lineNumber
      if keepsEach { kept.append((lineNumber, conversion)) } else { count(conversion, lineNumber: lineNumber) }
    }
  }

  private mutating func count(_ conversion: TextConversion, lineNumber: Int) {
    if conversion.isZeros {
      zeros[conversion.column, default: Tally()].add(lineNumber: lineNumber, conversion.text)
    } else {
      texts[conversion.column, default: Tally()].add(lineNumber: lineNumber, conversion.text)
    }
  }

  /// Adds the conversions of another count.
  mutating func merge(_ other: TextConversions) {
    guard !other.isEmpty else { return }
    for (column, tally) in other.texts { texts[column, default: Tally()].add(tally) }
    for (column, tally) in other.zeros { zeros[column, default: Tally()].add(tally) }
    kept += other.kept
  }

  /// Removes the rows on some lines from the count.
  mutating func remove(lines: Set<Int>) { kept.removeAll { lines.contains($0.lineNumber) } }

  /// Sets the information that is known when the file has been read.
  ///
  /// - Parameters:
  ///   - plan: The plan of the table.
  ///   - uneven: The columns whose values have different numbers of decimal places.
  mutating func end(_ plan: TablePlan, uneven: Set<Int>) { (self.plan, self.uneven) = (plan, uneven) }

  /// The columns with changed values, in table order; empty until the file has been read.
  ///
  /// Trailing zeros of fractions are counted only if they can't be restored, as for columns whose types are inferred.
  var columns: [ConvertedColumn] {
    var all = self
    for (lineNumber, conversion) in kept { all.count(conversion, lineNumber: lineNumber) }
    return (plan?.columns ?? []).enumerated().compactMap { position, column in
      var tally = all.texts[position] ?? Tally()
      if uneven.contains(position), let zeros = all.zeros[position] { tally.add(zeros) }
      guard let affinity = column.affinity, let first = tally.first else { return nil }
      return ConvertedColumn(
        column: column.name, declaredType: affinity.declaredType, count: tally.count, firstLineNumber: first.lineNumber,
        firstValue: first.text)
    }
  }
}

extension UnsafeRawBufferPointer {
  /// Whether a column of numeric affinity converts the text to a number: a decimal number of any size, with or without
  /// blanks around it.
  fileprivate var isNumberToSQLite: Bool {
    func isBlank(_ byte: UInt8) -> Bool { byte == UInt8(ascii: " ") || (9...13).contains(byte) }
    func isDigit(_ byte: UInt8) -> Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) }
    func isSign(_ byte: UInt8?) -> Bool { byte == UInt8(ascii: "-") || byte == UInt8(ascii: "+") }
    var rest = drop(while: isBlank)
    func skipDigits() -> Int {
      let digits = rest.prefix(while: isDigit).count
      rest.removeFirst(digits)
      return digits
    }
    if isSign(rest.first) { rest.removeFirst() }
    var digits = skipDigits()
    if rest.first == UInt8(ascii: ".") {
      rest.removeFirst()
      digits += skipDigits()
    }
    guard digits > 0 else { return false }
    if rest.first == UInt8(ascii: "e") || rest.first == UInt8(ascii: "E") {
      rest.removeFirst()
      if isSign(rest.first) { rest.removeFirst() }
      guard skipDigits() > 0 else { return false }
    }
    return rest.allSatisfy(isBlank)
  }
}
