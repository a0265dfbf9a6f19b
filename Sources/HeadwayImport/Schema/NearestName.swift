extension Sequence<String> {
  /// The name that differs least from another: by letters and digits first, then by all characters.
  ///
  /// - Parameter name: What somebody has written.
  /// - Returns: The first of the nearest; nil if there is none.
  func nearest(to name: String) -> String? {
    func letters(_ text: String) -> [Character] { text.lowercased().filter { $0.isLetter || $0.isNumber } }
    let wanted = letters(name)
    return self.min { first, second in
      let (one, other) = (Self.distance(letters(first), wanted), Self.distance(letters(second), wanted))
      return one != other ? one < other : Self.distance(Array(first), Array(name)) < Self.distance(Array(second), Array(name))
    }
  }

  /// How many characters are to be added, removed or changed to make one text of another.
  private static func distance(_ one: [Character], _ other: [Character]) -> Int {
    var row = Array(0...other.count)
    for (line, character) in one.enumerated() {
      var diagonal = row[0]
      row[0] = line + 1
      for (column, wanted) in other.enumerated() {
        let changed = diagonal + (character == wanted ? 0 : 1)
        diagonal = row[column + 1]
        row[column + 1] = Swift.min(changed, diagonal + 1, row[column] + 1)
      }
    }
    return row[other.count]
  }
}
