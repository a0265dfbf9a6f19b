import HeadwayLines

/// A column of a table that exists, which makes numbers of text although no description of it asks for that.
struct NumberAffinity: Sendable {
  /// The type as the table declares it.
  let declaredType: String
  /// `real`, or `numeric`, as which SQLite treats `INTEGER` here.
  let type: ColumnType
}

/// What a value loses if SQLite makes a number of it.
enum TextLoss {
  case nothing
  /// Zeros at the end of its fraction.
  case zeros
  /// Its text: the number is written in another way, or is not exactly the value of the text.
  case text
}

extension ColumnType {
  /// Compares a value with the number that SQLite makes of it in a column of this type.
  ///
  /// - Parameters:
  ///   - value: The value, which is not empty.
  ///   - decimals: Receives how many decimals the value has, if it is a number that the column keeps exactly.
  /// - Returns: The loss.
  func loss(of value: UnsafeRawBufferPointer, decimals: inout Int?) -> TextLoss {
    guard let exact = exactValue(value) else { return value.isNumberToSQLite ? .text : .nothing }
    guard let fraction = ExactNumber.fraction(value) else {
      decimals = 0
      return .nothing
    }
    decimals = fraction.decimals
    // `3.0` is what SQLite writes for a floating-point number.
    guard fraction.endsWithZero, self != .real || exact.kind != .real || fraction.decimals > 1 else { return .nothing }
    return .zeros
  }
}

/// A value of a batch that SQLite turns into a number which has another text.
struct TextConversion {
  /// The position of the row in its batch.
  let row: Int
  let column: Int
  /// Only zeros at the end of a fraction are lost.
  let isZeros: Bool
  /// The beginning of the value.
  let text: String
}

/// Counts, by column, the values whose text has changed.
struct TextConversions {
  private struct Tally {
    var count = 0
    var first: (line: Int, text: String)?

    mutating func add(_ other: Tally) {
      count += other.count
      if let line = other.first?.line, first.map({ line < $0.line }) != false { first = other.first }
    }

    mutating func add(line: Int, _ text: String) { add(Tally(count: 1, first: (line, text))) }
  }

  private var texts: [Int: Tally] = [:]
  /// Those that lose only zeros at the end of a fraction.
  private var zeros: [Int: Tally] = [:]
  /// Those of rows that may be refused at the end of the import, with their lines.
  private var kept: [(line: Int, conversion: TextConversion)] = []
  private var plan: TablePlan?
  private var uneven: Set<Int> = []

  var isEmpty: Bool { texts.isEmpty && zeros.isEmpty && kept.isEmpty }

  /// Counts the conversions of a batch.
  ///
  /// - Parameters:
  ///   - batch: The batch.
  ///   - keepsEach: Whether rows may be removed from the count.
  ///   - includes: Returns whether the row at a position was written.
  mutating func count(in batch: RowBatch, keepsEach: Bool, where includes: (Int) -> Bool) {
    for conversion in batch.conversions where includes(conversion.row) {
      let line = batch.origins[conversion.row].line
      if keepsEach { kept.append((line, conversion)) } else { count(conversion, line: line) }
    }
  }

  private mutating func count(_ conversion: TextConversion, line: Int) {
    if conversion.isZeros {
      zeros[conversion.column, default: Tally()].add(line: line, conversion.text)
    } else {
      texts[conversion.column, default: Tally()].add(line: line, conversion.text)
    }
  }

  /// Adds the conversions of another count.
  mutating func merge(_ other: TextConversions) {
    guard !other.isEmpty else { return }
    for (column, tally) in other.texts { texts[column, default: Tally()].add(tally) }
    for (column, tally) in other.zeros { zeros[column, default: Tally()].add(tally) }
    kept += other.kept
  }

  /// Removes the rows of some lines from the count.
  mutating func remove(lines: Set<Int>) { kept.removeAll { lines.contains($0.line) } }

  /// Notes what is known when the file has been read.
  ///
  /// - Parameters:
  ///   - plan: The table.
  ///   - uneven: The columns whose values have different numbers of decimals.
  mutating func end(_ plan: TablePlan, uneven: Set<Int>) { (self.plan, self.uneven) = (plan, uneven) }

  /// The columns, in their order; none until the file has been read.
  ///
  /// Zeros at the end of fractions are counted only where they can't be restored, as in columns whose types are found.
  var columns: [ConvertedColumn] {
    var all = self
    for (line, conversion) in kept { all.count(conversion, line: line) }
    return (plan?.columns ?? []).enumerated().compactMap { position, column in
      var tally = all.texts[position] ?? Tally()
      if uneven.contains(position), let zeros = all.zeros[position] { tally.add(zeros) }
      guard let affinity = column.affinity, let first = tally.first else { return nil }
      return ConvertedColumn(
        column: column.name, declaredType: affinity.declaredType, count: tally.count, firstLine: first.line,
        firstValue: first.text)
    }
  }
}

extension UnsafeRawBufferPointer {
  /// Whether a column of numeric affinity makes a number of the text: a decimal number of any size, with or without
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
