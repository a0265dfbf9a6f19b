/// How the numbers of a file are written, for instance `1.234,56` in German.
///
/// ```swift
/// var options = ImportOptions()
/// options.numberFormat = NumberFormat(decimalSeparator: ",", groupSeparator: ".")
/// ```
///
/// Numbers that are written in another way stay text: with a decimal comma, `1.5` is text, and `1.500` is a number only
/// if the point separates groups.
public struct NumberFormat: Sendable, Hashable {
  /// The character before the decimals.
  public var decimalSeparator: Character
  /// The character between groups of three digits; nil if there is none.
  ///
  /// If it is a space, spaces that do not break a line separate groups, too.
  public var groupSeparator: Character?

  /// Describes a format; the default is `1234.56`.
  ///
  /// - Parameters:
  ///   - decimalSeparator: The character before the decimals, which is no digit.
  ///   - groupSeparator: The character between groups of three digits, another one.
  public init(decimalSeparator: Character = ".", groupSeparator: Character? = nil) {
    precondition(decimalSeparator != groupSeparator, "The separators must differ: \(decimalSeparator)")
    (self.decimalSeparator, self.groupSeparator) = (decimalSeparator, groupSeparator)
  }
}

/// Turns numbers of a format into those that SQLite reads.
struct PlainNumbers {
  private let decimalSeparator: [UInt8]
  private let groupSeparators: [[UInt8]]

  /// More bytes are no number that 64 bits hold.
  static let mostBytes = 64

  /// Nil for the format that SQLite reads.
  init?(_ format: NumberFormat) {
    guard format != NumberFormat() else { return nil }
    decimalSeparator = Array(String(format.decimalSeparator).utf8)
    let group = format.groupSeparator.map { [$0] } ?? []
    groupSeparators = (group == [" "] ? [" ", "\u{A0}", "\u{202F}"] : group).map { Array(String($0).utf8) }
  }

  /// Writes the number that a field is, as SQLite reads it.
  ///
  /// - Parameters:
  ///   - field: The field.
  ///   - buffer: Where the number is written; ``mostBytes``.
  /// - Returns: The bytes of the number; none if the field is no number of the format.
  func plain(_ field: UnsafeRawBufferPointer, in buffer: UnsafeMutableRawBufferPointer) -> UnsafeRawBufferPointer {
    let count = field.count <= Self.mostBytes ? write(field[...], to: buffer) ?? 0 : 0
    return UnsafeRawBufferPointer(rebasing: buffer[..<count])
  }

  /// - Returns: How many bytes were written; nil if the field is no number of the format.
  private func write(_ field: Slice<UnsafeRawBufferPointer>, to plain: UnsafeMutableRawBufferPointer) -> Int? {
    var (rest, count) = (field, 0)
    func isDigit(_ byte: UInt8) -> Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) }
    func copy(_ length: Int) {
      for byte in rest.prefix(length) {
        plain[count] = byte
        count += 1
      }
      rest.removeFirst(length)
    }
    if rest.first == UInt8(ascii: "-") || rest.first == UInt8(ascii: "+") { copy(1) }
    let first = rest.prefix(while: isDigit).count
    copy(first)
    var isGrouped = false
    while let separator = groupSeparators.first(where: { rest.starts(with: $0) }) {
      let group = rest.dropFirst(separator.count).prefix(while: isDigit).count
      guard group == 3, isGrouped || (1...3).contains(first) else { return nil }
      rest.removeFirst(separator.count)
      copy(group)
      isGrouped = true
    }
    if rest.starts(with: decimalSeparator) {
      rest.removeFirst(decimalSeparator.count)
      plain[count] = UInt8(ascii: ".")
      count += 1
      copy(rest.prefix(while: isDigit).count)
    }
    // The rest may be an exponent, and has no point.
    guard !rest.contains(UInt8(ascii: ".")) else { return nil }
    copy(rest.count)
    return count
  }
}
