/// Where the columns are that a type asks for, in the order in which it asks.
///
/// A type asks for the same keys in the same order for each row, so one comparison of names is enough in place of a
/// look into the header's dictionary.
final class KeyPositions {
  private let header: CSVHeader
  private var known: [(name: String, position: Int?)] = []
  private var next = 0

  init(_ header: CSVHeader) { self.header = header }

  /// Begins with a row.
  func restart() { next = 0 }

  /// The position of the column; nil if there is none.
  func position(of name: String) -> Int? {
    if next < known.count, known[next].name == name {
      next += 1
      return known[next - 1].position
    }
    let position = header.position(of: name)
    // A key may be asked for more than once, and others left out: what follows is looked for again.
    known.removeSubrange(min(next, known.count)...)
    known.append((name, position))
    next = known.count
    return position
  }
}
