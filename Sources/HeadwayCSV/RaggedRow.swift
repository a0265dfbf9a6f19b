/// The error message for a row whose number of fields differs from the number of columns.
enum RaggedRow {
  static func message(fields count: Int, columns: Int) -> String {
    let fields = count == 1 ? "1 field" : "\(count) fields"
    let names = columns == 1 ? "there is 1 column" : "there are \(columns) columns"
    return "The row has \(fields), and \(names)."
  }
}
