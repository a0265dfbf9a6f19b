/// Finds the name that was probably meant by a misspelled one.
package enum Spelling {
  /// The name that differs from `word` by the fewest letters and digits, in any case; other characters decide between
  /// equal ones.
  ///
  /// - Parameters:
  ///   - word: The misspelled name.
  ///   - names: The names that exist.
  /// - Returns: The first of the nearest; nil if there are no names.
  /// - Complexity: O(*n* · *l*²) for *n* names of *l* characters.
  package static func nearest(to word: String, among names: [String]) -> String? {
    let distances = names.map { name in
      (name: name, letters: distance(letters(word), letters(name)), all: distance(Array(word), Array(name)))
    }
    return distances.min { ($0.letters, $0.all) < ($1.letters, $1.all) }?.name
  }

  /// The nearest name if few letters differ, or the first that begins with `word`; nil if there is none.
  ///
  /// - Parameters:
  ///   - word: The misspelled name.
  ///   - names: The names that exist.
  /// - Returns: The name that was probably meant.
  /// - Complexity: O(*n* · *l*²) for *n* names of *l* characters.
  package static func suggestion(for word: String, among names: [String]) -> String? {
    let word = word.lowercased()
    if word.count > 1, let longer = names.first(where: { $0.hasPrefix(word) }) { return longer }
    let close = names.filter { distance(Array(word), Array($0.lowercased())) <= max(1, max(word.count, $0.count) / 3) }
    return nearest(to: word, among: close)
  }

  /// Sentences that say which name is missing, which one was probably meant, and which there are.
  ///
  /// - Parameters:
  ///   - beginning: What lacks it, such as `The header has no column`.
  ///   - word: The missing name.
  ///   - names: The names that exist; of many, only the first ones are listed.
  ///   - introduction: What comes before these names, such as `Its columns are`.
  /// - Returns: One to three sentences.
  package static func missing(
    _ beginning: String, _ word: String, among names: [String], _ introduction: String
  ) -> String {
    var sentences = ["\(beginning) “\(word)”."]
    // Of short words, any other is near.
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

  /// How many characters must be inserted, removed or replaced, or pairs swapped, to make one word of the other.
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
