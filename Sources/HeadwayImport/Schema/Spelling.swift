/// Finds the name that a misspelled name was probably meant to be.
package enum Spelling {
  /// The name that differs from `word` in the fewest letters and digits, ignoring case.
  ///
  /// Other characters decide between names that differ equally.
  ///
  /// - Parameters:
  ///   - word: The name that might be misspelled.
  ///   - names: The names that exist.
  /// - Returns: The first of the nearest names; nil if there are no names.
  /// - Complexity: O(*n* · *l*²) for *n* names of *l* characters.
  package static func nearest(to word: String, among names: [String]) -> String? {
    let distances = names.map { name in
      (name: name, letters: distance(letters(word), letters(name)), all: distance(Array(word), Array(name)))
    }
    return distances.min { ($0.letters, $0.all) < ($1.letters, $1.all) }?.name
  }

  /// The nearest name if it differs in few letters, or the first that begins with `word`; nil if there is none.
  ///
  /// - Parameters:
  ///   - word: The name that might be misspelled.
  ///   - names: The names that exist.
  /// - Returns: The name that was probably meant.
  /// - Complexity: O(*n* · *l*²) for *n* names of *l* characters.
  package static func suggestion(for word: String, among names: [String]) -> String? {
    let word = word.lowercased()
    if word.count > 1, let longer = names.first(where: { $0.hasPrefix(word) }) { return longer }
    let close = names.filter { distance(Array(word), Array($0.lowercased())) <= max(1, max(word.count, $0.count) / 3) }
    return nearest(to: word, among: close)
  }

  /// Sentences that list the missing name, the name that was probably meant, and the existing names.
  ///
  /// - Parameters:
  ///   - beginning: The beginning of the first sentence, such as `The header has no column`.
  ///   - word: The name that was not found.
  ///   - names: The names that exist; if there are many, only the first names are listed.
  ///   - introduction: The text before these names, such as `Its columns are`.
  /// - Returns: One to three sentences.
  package static func missing(
    _ beginning: String, _ word: String, among names: [String], _ introduction: String
  ) -> String {
    var sentences = ["\(beginning) “\(word)”."]
    // Any other name is near a short word.
    let nearest = word.count > 2 ? suggestion(for: word, among: names) : nil
    if let nearest { sentences.append("Did you mean “\(nearest)”?") }
    if let last = names.last, nearest == nil || names.count > 1 {
      let isLong = names.count > mostListed + 1
      let listed = isLong ? names.prefix(mostListed) : names.dropLast()
      let end = isLong ? "\(names.count - mostListed) others" : last
      let all = listed.isEmpty ? end : "\(listed.joined(separator: ", ")) and \(end)"
      sentences.append(names.count == 1 ? "The only one is \(all)." : "\(introduction) \(all).")
    }
    return sentences.joined(separator: " ")
  }

  /// More names than this do not help in a message.
  private static let mostListed = 12

  private static func letters(_ text: String) -> [Character] {
    text.lowercased().filter { $0.isLetter || $0.isNumber }
  }

  /// The number of characters to insert, remove, or replace, or of pairs to swap, that turns one word into the other.
  private static func distance(_ word: [Character], _ other: [Character]) -> Int {
    var rows = [Array(0...other.count)]
    for (i, letter) in word.enumerated() {
      var row = [i + 1]
      for (j, otherLetter) in other.enumerated() {
        var least = min(rows[i][j] + (letter == otherLetter ? 0 : 1), rows[i][j + 1] + 1, row[j] + 1)
        if i > 0, j > 0, letter == other[j - 1], word[i - 1] == otherLetter {
          least = min(least, rows[i - 1][j - 1] + 1)
        }
        row.append(least)
      }
      rows.append(row)
    }
    return rows[word.count][other.count]
  }
}
