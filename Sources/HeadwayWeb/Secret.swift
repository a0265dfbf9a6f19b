#if Web
/// Text that only the server and a browser know.
package enum Secret {
  /// Returns new text with 128 random bits.
  ///
  /// - Returns: Letters and digits.
  package static func make() -> String {
    var generator = SystemRandomNumberGenerator()
    return String(generator.next(), radix: 36) + String(generator.next(), radix: 36)
  }

  /// Compares two strings and takes the same time wherever the difference is.
  ///
  /// - Parameters:
  ///   - one: One of the strings.
  ///   - other: Another text.
  /// - Returns: Whether they are equal.
  package static func areEqual(_ one: String, _ other: String) -> Bool {
    guard one.utf8.count == other.utf8.count else { return false }
    return zip(one.utf8, other.utf8).reduce(0) { $0 | ($1.0 ^ $1.1) } == 0
  }
}
#endif
