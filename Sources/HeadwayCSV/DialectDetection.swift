/// Finds the dialect that fits a sample best, by parsing the sample with each possible dialect.
struct DialectDetection {
  let bytes: UnsafeRawBufferPointer
  /// The known properties of the dialect.
  let known: CSVDialect
  /// Whether the quote and the escape are detected.
  let findsQuote: Bool
  let findsEscape: Bool
  /// The number of physical lines at the start that are not records.
  let skippedLineCount: Int
  /// The last of the lines at the start that begin with `#`, which might be the header.
  let lastComment: [UInt8]?

  private static let (apostrophe, backslash, space) = (UInt8(ascii: "'"), UInt8(ascii: "\\"), UInt8(ascii: " "))

  /// Returns the best dialect that uses one of the given delimiters.
  ///
  /// - Parameters:
  ///   - delimiters: The delimiters, with the preferred one first.
  ///   - isKnown: Whether the delimiter is not detected.
  /// - Returns: The best dialect for the sample.
  func best(among delimiters: [UInt8], isKnown: Bool) -> CSVDialect {
    let possible = delimiters.filter { isKnown || ($0 != known.quote && $0 != known.escape) }
    let mayHaveApostrophes = findsQuote && known.escape != Self.apostrophe && beginsFieldsWithApostrophes
    let samples = possible.map { best(with: $0, mayHaveApostrophes: mayHaveApostrophes) }
    guard var best = samples.first else { return known }
    for next in samples.dropFirst() where isBetter(next, than: best) { best = next }
    if !isKnown, best.firstFieldCount <= 1, ![known.quote, known.escape].contains(Self.space) {
      let spaced = sample(known.with(\.delimiter, Self.space))
      if spaced.quotedCount > 0, spaced.dividesAll || spaced.dividesRows { best = spaced }
    }
    return best.dialect
  }

  private func sample(_ dialect: CSVDialect) -> DialectSample {
    DialectSample(bytes, dialect, skippedLineCount: skippedLineCount)
  }

  private func isBetter(_ next: DialectSample, than best: DialectSample) -> Bool {
    guard next.score.isEqual(to: best.score) else { return best.score < next.score }
    let areNames = [next, best].map { lastCommentNames($0) }
    // Without a space after it, the `#` is more likely the start of a name.
    if areNames[0] != areNames[1], lastComment?.dropFirst().first != Self.space { return areNames[0] }
    let shares = [next, best].map { $0.typedShare(of: bytes, skippedLineCount: skippedLineCount) }
    guard shares[0] == shares[1] else { return shares[0] > shares[1] }
    return areNames[0] == areNames[1] ? next.score.fieldCount > best.score.fieldCount : areNames[0]
  }

  /// Whether the last comment has as many names as the records of a sample have fields.
  private func lastCommentNames(_ sample: DialectSample) -> Bool {
    guard let lastComment else { return false }
    let names = lastComment.dropFirst().split(separator: sample.dialect.delimiter, omittingEmptySubsequences: false)
    return names.count == sample.score.fieldCount && names.allSatisfy { !$0.isEmpty }
  }

  /// Returns the best dialect with a delimiter.
  private func best(with delimiter: UInt8, mayHaveApostrophes: Bool) -> DialectSample {
    var best = sample(known.with(\.delimiter, delimiter))
    if mayHaveApostrophes, best.quotedCount == 0, delimiter != Self.apostrophe {
      best = withApostrophes(best) ?? best
    }
    if findsEscape, best.dialect.escape == nil, best.malformedCount > 0,
      ![delimiter, best.dialect.quote].contains(Self.backslash)
    {
      let next = sample(best.dialect.with(\.escape, Self.backslash))
      if next.malformedCount == 0 { best = next }
    }
    return withoutSpaces(best) ?? best
  }

  /// Returns the sample with apostrophes as quotes, if they are used as quotes.
  private func withApostrophes(_ plain: DialectSample) -> DialectSample? {
    let alone = plain.dialect.with(\.quote, Self.apostrophe)
    let mayHaveEscape = findsEscape && alone.delimiter != Self.backslash
    for dialect in mayHaveEscape ? [alone, alone.with(\.escape, Self.backslash)] : [alone] {
      let next = sample(dialect)
      let isPlausible =
        next.malformedCount == 0
        ? plain.score < next.score || next.hasQuotedColumn
        : next.score.agreement > 0 && next.score.agreement >= 2 * plain.score.agreement
      if next.quotedCount > 0, isPlausible { return next }
    }
    return nil
  }

  /// Returns the sample with spaces around fields ignored, if the spaces are not part of the fields.
  private func withoutSpaces(_ plain: DialectSample) -> DialectSample? {
    guard plain.dialect.delimiter != Self.space,
      plain.beginsFieldsWithSpaces || plain.malformedCount > 0 || plain.strayCount > 0
    else { return nil }
    let next = sample(plain.dialect.with(\.skipsSpacesAfterDelimiter, true))
    if plain.beginsFieldsWithSpaces { return next.malformedCount <= plain.malformedCount ? next : nil }
    let isSound = next.malformedCount == 0 && next.strayCount == 0
    // If the spaces are ignored, quotes enclose fields.
    return isSound && next.quotedCount > 0 && (plain.malformedCount > 0 || next.score.protectsDelimiters) ? next : nil
  }

  /// Whether an apostrophe is at a place where a field might begin.
  private var beginsFieldsWithApostrophes: Bool {
    let places = CSVDialect.usualDelimiters + [known.delimiter, Self.space, UInt8(ascii: "\n"), UInt8(ascii: "\r")]
    return bytes.indices.contains { index in
      bytes[index] == Self.apostrophe && (index == 0 || places.contains(bytes[index - 1]) || bytes[index - 1] >= 0x80)
    }
  }
}
