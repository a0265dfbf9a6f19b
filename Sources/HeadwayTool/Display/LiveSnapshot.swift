#if SQLite
import HeadwayImport

/// The last rows of a table as lines.
enum LiveSnapshot {
  private static let widestColumn = 28

  static func lines(_ snapshot: LiveTable.Snapshot, of table: String, isUnicode: Bool) -> [String] {
    let rule = isUnicode ? "─" : "-"
    let title = "\(rule)\(rule) \(table): \(snapshot.count.groupedRows), the last ones "
    var lines = [title + String(repeating: rule, count: max(0, 78 - title.count))]
    // Columns without any value would only take up room.
    let filled = snapshot.columns.indices.filter { column in snapshot.rows.contains { $0[column]?.isEmpty == false } }
    guard !filled.isEmpty else { return lines }
    for row in [snapshot.columns.map { $0 }] + snapshot.rows {
      lines.append(
        filled.map { column in
          let texts = [snapshot.columns[column]] + snapshot.rows.map { $0[column] }
          return text(row[column]).padded(to: texts.map { text($0).count }.max() ?? 0)
        }.joined(separator: "  "))
    }
    return lines
  }

  /// Returns a value as it can be shown in a line, because a line ending or an escape in it would damage the snapshot.
  private static func text(_ value: String?) -> String {
    let scalars = (value ?? "").unicodeScalars.prefix(4 * widestColumn)
    let shown = scalars.map { $0.properties.generalCategory == .control ? " " : Character($0) }
    return String(String(shown).prefix(widestColumn))
  }
}
#endif
