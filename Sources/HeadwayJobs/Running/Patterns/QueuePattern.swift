/// A pattern for the names of queues: a string with stars.
///
/// Each star represents any number of characters.
struct QueuePattern: Sendable {
  let text: String
  /// The parts between the stars, at least two.
  private let parts: [[UInt8]]

  /// Creates a pattern.
  ///
  /// - Parameter text: At least one star, and any other characters.
  init(_ text: String) {
    self.text = text
    parts = text.utf8.split(separator: UInt8(ascii: "*"), omittingEmptySubsequences: false).map(Array.init)
  }

  /// Whether a string is a pattern instead of a single name.
  static func isPattern(_ text: String) -> Bool { text.utf8.contains(UInt8(ascii: "*")) }

  /// Returns whether the pattern matches a name.
  func matches(_ name: String) -> Bool {
    var rest = Array(name.utf8)[...]
    guard let first = parts.first, let last = parts.last, parts.count > 1 else { return name == text }
    guard rest.count >= first.count + last.count, rest.starts(with: first), rest.suffix(last.count).elementsEqual(last)
    else { return false }
    rest = rest.dropFirst(first.count).dropLast(last.count)
    // The earliest match of each part leaves the most room for the parts after it.
    for part in parts.dropFirst().dropLast() {
      guard let end = Self.end(of: part, in: rest) else { return false }
      rest = rest[end...]
    }
    return true
  }

  /// Finds the end of the first match of a part.
  private static func end(of part: [UInt8], in text: ArraySlice<UInt8>) -> Int? {
    guard text.count >= part.count else { return nil }
    for start in text.startIndex...text.endIndex - part.count where text[start...].starts(with: part) {
      return start + part.count
    }
    return nil
  }
}
