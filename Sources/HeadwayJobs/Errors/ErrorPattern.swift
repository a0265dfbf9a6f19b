/// The text of an error without the parts that can differ between equal errors.
///
/// The parts are replaced by placeholders: numbers, times, UUIDs, hexadecimal numbers, addresses of mail, and long
/// words with many digits by `#`, and the content of quotes by `…`. A run of white space becomes a space. Three digits
/// after the words HTTP, status, and code remain, because errors with other codes have other causes.
///
/// The idea, and most of the kinds of parts, come from Sentry, which groups messages this way: see
/// `src/sentry/grouping/parameterization.py` in the repository getsentry/sentry. Unlike Sentry, the content of all
/// quotes is replaced, because most errors in Swift put the names of files, keys and hosts in quotes.
package struct ErrorPattern {
  /// The part of the text that is read, in bytes.
  private static let maxReadLength = 2 * 1_024
  /// The length of the longest quote, in scalars.
  private static let maxQuoteLength = 300
  /// The length of each part of the longest address of mail, in scalars.
  private static let maxMailLength = 64
  /// The length of the shortest hexadecimal number without a prefix.
  private static let minHexLength = 8
  /// The length of the shortest word that is replaced because it has many digits.
  private static let minIdentifierLength = 12

  private let scalars: [Unicode.Scalar]
  private var index = 0
  /// The last word without digits.
  private var lastWord = 0..<0
  private var result = String.UnicodeScalarView()

  /// Returns the text of an error with placeholders.
  ///
  /// - Parameter text: The description of an error.
  /// - Returns: One line of at most ``JobErrorGroup/maxTextLength`` bytes.
  package static func pattern(of text: String) -> String {
    var pattern = ErrorPattern(text.shortened(to: maxReadLength))
    return pattern.read().shortened(to: JobErrorGroup.maxTextLength)
  }

  /// Returns the name of an error's type without addresses.
  ///
  /// The name of a local type has the address of its context, such as `(unknown context at $7f3a00)`.
  package static func typeName(_ type: String) -> String {
    guard type.utf8.contains(UInt8(ascii: "$")) else { return type.shortened(to: NameLength.name) }
    var (name, isAddress) = ("", false)
    for character in type {
      if isAddress, character.isASCII, character.isHexDigit { continue }
      isAddress = character == "$"
      name.append(character)
    }
    return name.shortened(to: NameLength.name)
  }

  private init(_ text: String) { scalars = Array(text.unicodeScalars) }

  private mutating func read() -> String {
    while let scalar = scalar(at: index) {
      if Self.isSpace(scalar) {
        if let last = result.last, last != " " { result.append(" ") }
        index += 1
      } else if let end = quoteEnd() {
        result.append(scalar)
        result.append("…")
        result.append(scalars[end])
        index = end + 1
      } else if Self.isPartOfWord(scalar) {
        readWord()
      } else {
        result.append(scalar)
        index += 1
      }
    }
    if result.last == " " { result.removeLast() }
    return String(result)
  }

  private func scalar(at index: Int) -> Unicode.Scalar? { scalars.indices.contains(index) ? scalars[index] : nil }

  // MARK: Quotes

  /// Returns the quotation mark that closes a quote, if a mark opens one.
  private static func closingMark(of mark: Unicode.Scalar) -> Unicode.Scalar? {
    switch mark {
    case "\"", "'", "`": mark
    case "“": "”"
    case "\u{2018}": "\u{2019}"
    case "«": "»"
    case "„": "“"
    default: nil
    }
  }

  /// Returns the index of the closing mark if a quote begins at the current index.
  ///
  /// Some marks are also apostrophes, so no letter precedes the first mark, and none follows the last one.
  private func quoteEnd() -> Int? {
    guard let close = Self.closingMark(of: scalars[index]), !isPartOfWord(at: index - 1) else { return nil }
    let limit = min(scalars.count, index + Self.maxQuoteLength)
    return (index + 1..<max(limit, index + 1)).first { scalars[$0] == close && !isPartOfWord(at: $0 + 1) }
  }

  // MARK: Words

  private static func isPartOfWord(_ scalar: Unicode.Scalar) -> Bool {
    // The properties of other characters are slow to find.
    scalar.isASCII ? isDigit(scalar) || isLetter(scalar) : scalar.properties.isAlphabetic
  }

  private static func isSpace(_ scalar: Unicode.Scalar) -> Bool {
    scalar.isASCII ? scalar.value <= 32 : scalar.properties.isWhitespace
  }

  private static func isLetter(_ scalar: Unicode.Scalar) -> Bool { (97...122).contains(scalar.value | 32) }

  private func isPartOfWord(at index: Int) -> Bool { scalar(at: index).map(Self.isPartOfWord) ?? false }

  private static func isDigit(_ scalar: Unicode.Scalar) -> Bool { (48...57).contains(scalar.value) }

  private func isDigit(at index: Int) -> Bool { scalar(at: index).map(Self.isDigit) ?? false }

  private static func isHexDigit(_ scalar: Unicode.Scalar) -> Bool {
    isDigit(scalar) || (65...70).contains(scalar.value) || (97...102).contains(scalar.value)
  }

  /// Reads a word, or the rest of a word after a number.
  private mutating func readWord() {
    if let end = uuidEnd() ?? mailEnd() { return replace(to: end) }
    var end = index
    while isPartOfWord(at: end) { end += 1 }
    let word = scalars[index..<end]
    if Self.isIdentifier(word) { return replace(to: end) }
    let number = word.firstIndex(where: Self.isDigit) ?? end
    if number > index { lastWord = index..<number }
    result.append(contentsOf: scalars[index..<number])
    index = number
    guard number < end else { return }
    let numberEnd = numberEnd(from: number)
    let digits = scalars[number..<numberEnd]
    guard digits.count == 3, digits.allSatisfy(Self.isDigit), isStatusName(scalars[lastWord]) else {
      return replace(to: numberEnd)
    }
    result.append(contentsOf: digits)
    index = numberEnd
  }

  /// Returns whether the number after a word is a status code.
  private func isStatusName(_ word: ArraySlice<Unicode.Scalar>) -> Bool {
    guard (4...6).contains(word.count) else { return false }
    return ["http", "status", "code"].contains(String(String.UnicodeScalarView(word)).lowercased())
  }

  private mutating func replace(to end: Int) {
    if result.last != "#" { result.append("#") }
    index = end
  }

  /// Returns whether a word is a hexadecimal number, or so long and with so many digits that it is not for people.
  private static func isIdentifier(_ word: ArraySlice<Unicode.Scalar>) -> Bool {
    let digitCount = word.count(where: isDigit)
    guard digitCount > 0 else { return false }
    if word.starts(with: ["0", "x"]) || word.starts(with: ["0", "X"]) {
      return word.dropFirst(2).allSatisfy(isHexDigit)
    }
    if word.count >= minHexLength, word.allSatisfy(isHexDigit) { return true }
    return word.count >= minIdentifierLength && digitCount * 5 >= word.count
  }

  /// Returns the end of a number, time or network address, with its parts.
  private func numberEnd(from start: Int) -> Int {
    var end = start
    while true {
      while isDigit(at: end) { end += 1 }
      switch scalar(at: end) {
      case ".", ",", ":", "-", "/", "T": break
      default: return end
      }
      guard isDigit(at: end + 1) else { return end }
      end += 1
    }
  }

  /// Returns the end of a UUID that begins at the current index.
  private func uuidEnd() -> Int? {
    var end = index
    for (number, length) in [8, 4, 4, 4, 12].enumerated() {
      if number > 0 {
        guard scalar(at: end) == "-" else { return nil }
        end += 1
      }
      guard scalars.count >= end + length, scalars[end..<end + length].allSatisfy(Self.isHexDigit) else { return nil }
      end += length
    }
    return isPartOfWord(at: end) ? nil : end
  }

  private func isMailMark(at index: Int) -> Bool {
    switch scalar(at: index) {
    case ".", "_", "+", "-": true
    default: false
    }
  }

  /// Returns the end of an address of mail that begins at the current index.
  private func mailEnd() -> Int? {
    func end(from start: Int) -> Int {
      var end = start
      while end - start < Self.maxMailLength, isPartOfWord(at: end) || isMailMark(at: end) { end += 1 }
      return end
    }
    let at = end(from: index)
    guard scalar(at: at) == "@", isPartOfWord(at: at + 1) else { return nil }
    let last = end(from: at + 1)
    // A period can also end the sentence.
    return isPartOfWord(at: last - 1) ? last : last - 1
  }
}
