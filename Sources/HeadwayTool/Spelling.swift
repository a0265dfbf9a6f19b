#if SQLite
  /// Finds the name that was probably meant.
  enum Spelling {
    /// The name among `names` that differs from `word` by few letters, or that begins with it; nil if none does.
    static func nearest(to word: String, among names: [String]) -> String? {
      let word = word.lowercased()
      if word.count > 1, let longer = names.first(where: { $0.hasPrefix(word) }) { return longer }
      let distances = names.map { (name: $0, distance: distance(word, $0.lowercased())) }
      return distances.filter { $0.distance <= max(1, max(word.count, $0.name.count) / 3) }
        .min { $0.distance < $1.distance }?.name
    }

    /// How many letters must be inserted, removed or replaced, or pairs swapped, to make one word of the other.
    private static func distance(_ word: String, _ other: String) -> Int {
      let (word, other) = (Array(word), Array(other))
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
#endif
