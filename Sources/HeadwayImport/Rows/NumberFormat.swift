import Headway

/// The format of the numbers in a file, for example `1.234,56` in German.
///
/// ```swift
/// var options = ImportOptions()
/// options.numberFormat = NumberFormat(decimalSeparator: ",", groupSeparator: ".")
/// ```
///
/// Numbers in another format stay text: with a decimal comma, `1.5` is text, and `1.500` is a number only if the point
/// separates groups.
public struct NumberFormat: Sendable, Hashable {
  /// The character between the whole number and the decimals.
  public var decimalSeparator: Character
  /// The character between groups of three digits; nil if there is none.
  ///
  /// If it is a space, no-break spaces also separate groups.
  public var groupSeparator: Character?

  /// Describes a format; the default is `1234.56`.
  ///
  /// - Parameters:
  ///   - decimalSeparator: The character between the whole number and the decimals. It can't be a digit.
  ///   - groupSeparator: The character between groups of three digits. It must differ from `decimalSeparator`.
  public init(decimalSeparator: Character = ".", groupSeparator: Character? = nil) {
    (self.decimalSeparator, self.groupSeparator) = (decimalSeparator, groupSeparator)
    requireDifference()
  }

  fileprivate func requireDifference() {
    require(
      decimalSeparator != groupSeparator,
      "NumberFormat: “\(decimalSeparator)” separates both decimals and groups. Use another character for the groups.")
  }
}

/// Converts numbers of a format to the format that SQLite reads.
struct PlainNumbers {
  private let decimalSeparator: [UInt8]
  private let groupSeparators: [[UInt8]]

  /// The longest number that is converted: no number with more bytes fits in 64 bits.
  static let mostBytes = 64

  /// Creates a converter; nil if the format is the one that SQLite reads.
  init?(_ format: NumberFormat) {
    guard format != NumberFormat() else { return nil }
    format.requireDifference()
    decimalSeparator = Array(String(format.decimalSeparator).utf8)
    let group = format.groupSeparator.map { [$0] } ?? []
    groupSeparators = (group == [" "] ? [" ", "\u{A0}", "\u{202F}"] : group).map { Array(String($0).utf8) }
  }

  /// Converts a field to a number in the format that SQLite reads.
  ///
  /// - Parameters:
  ///   - field: The bytes of the field, as the file contains them.
  ///   - buffer: The memory for the number, of ``mostBytes`` bytes.
  /// - Returns: The bytes of the number; empty if the field is not a number of the format.
  func plain(_ field: UnsafeRawBufferPointer, in buffer: UnsafeMutableRawBufferPointer) -> UnsafeRawBufferPointer {
    let count = field.count <= Self.mostBytes ? write(field[...], to: buffer) ?? 0 : 0
    return UnsafeRawBufferPointer(rebasing: buffer[..<count])
  }

  /// - Returns: The number of bytes written; nil if the field is not a number of the format.
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
    // The rest can be an exponent but can't contain a point.
    guard !rest.contains(UInt8(ascii: ".")) else { return nil }
    copy(rest.count)
    return count
  }
}
