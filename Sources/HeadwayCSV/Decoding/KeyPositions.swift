/// The positions of the columns that a type decodes, in request order.
///
/// A type requests the same keys in the same order for each row. Therefore, a single comparison of names is enough, and
/// no lookup in the header's dictionary is needed.
final class KeyPositions {
  private let header: CSVHeader
  private var known: [(name: String, position: Int?)] = []
  private var next = 0

  init(_ header: CSVHeader) { self.header = header }

  /// Prepares for the next row.
  func restart() { next = 0 }

  /// Returns the position of the column.
  ///
  /// Nil if there is none.
  func position(of name: String) -> Int? {
    if next < known.count, known[next].name == name {
      next += 1
      return known[next - 1].position
    }
    let position = header.position(of: name)
    // A type might request a key more than once or omit keys, so the positions after this one are looked up again.
    known.removeSubrange(min(next, known.count)...)
    known.append((name, position))
    next = known.count
    return position
  }
}
