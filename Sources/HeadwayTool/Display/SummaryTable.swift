#if SQLite
/// A table of cells that fits a terminal.
struct SummaryTable {
  struct Row {
    /// The name, and the numbers.
    let cells: [String]
    let isComplete: Bool

    init(_ cells: [String], isComplete: Bool) { (self.cells, self.isComplete) = (cells, isComplete) }
  }

  let titles: [String]
  let rows: [Row]

  private static let note = "  (not complete)"
  private static let gap = 2

  /// Returns the lines.
  ///
  /// If there is not enough room, columns at the end are omitted first, and then names are cut off.
  func lines(columns: Int) -> [String] {
    let widths = titles.indices.map { column in
      ([titles[column]] + rows.map { $0.cells[column] }).map(\.count).max() ?? 0
    }
    func width(_ count: Int) -> Int { widths[..<count].reduce(0, +) + Self.gap * (count - 1) }
    let incomplete = rows.filter { !$0.isComplete }.map { $0.cells[0] }
    let hasNotes = !incomplete.isEmpty && width(titles.count) + Self.note.count <= columns
    let shown = (2...titles.count).last { width($0) <= columns } ?? 2
    let nameWidth = max(1, min(widths[0], columns - width(shown) + widths[0]))
    func line(_ cells: [String]) -> String {
      let name = cells[0].count > nameWidth ? "\(cells[0].prefix(nameWidth - 1))~" : cells[0].padded(to: nameWidth)
      let numbers = (1..<shown).map { cells[$0].leftPadded(to: widths[$0] + Self.gap) }
      return name + numbers.joined()
    }
    let table = [line(titles)] + rows.map { line($0.cells) + (hasNotes && !$0.isComplete ? Self.note : "") }
    return hasNotes || incomplete.isEmpty ? table : table + ["Not complete: \(incomplete.joined(separator: ", "))."]
  }
}
#endif
