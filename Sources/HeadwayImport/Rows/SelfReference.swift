import HeadwayCSV

/// A column that refers to a column of the same table.
///
/// The row that a value refers to can come later in the file, so values that were not met yet are kept until the end.
struct SelfReference {
  /// A value that had not been met when its row was read.
  struct Unresolved {
    let lineNumber: Int
    let value: [UInt8]
    let record: [UInt8]
  }

  let reference: ColumnReference
  let columnName: String
  private let field: Int
  private let referredField: Int
  private var met = KeySet()
  private var waiting: [Unresolved] = []

  /// Creates an instance; nil if the column does not refer to its own table, or if the file lacks one of the two
  /// columns.
  init?(_ plan: TablePlan, column: Int) {
    guard let reference = plan.columns[column].reference, reference.table == plan.table,
      let field = plan.columns[column].field,
      let referredField = plan.columns.first(where: { $0.name == reference.column })?.field
    else { return nil }
    self.reference = reference
    self.field = field
    self.referredField = referredField
    columnName = plan.columns[column].name
  }

  /// Processes a record.
  ///
  /// - Parameters:
  ///   - record: The next record of the file.
  ///   - value: Returns the bytes of the field at a position; empty if the field has no value.
  mutating func meet(
    _ record: borrowing CSVRecord, _ value: (borrowing CSVRecord, _ field: Int) -> UnsafeRawBufferPointer
  ) {
    let referred = value(record, referredField)
    if !referred.isEmpty { _ = met.insert(KeySet.hash(referred)) }
    let value = value(record, field)
    guard !value.isEmpty, !met.contains(KeySet.hash(value)) else { return }
    waiting.append(Unresolved(lineNumber: record.lineNumber, value: Array(value), record: Array(record.rawBytes)))
  }

  /// The values that were not met in the whole file.
  ///
  /// They might be in the database from an earlier import.
  var unresolved: [Unresolved] {
    waiting.filter { entry in entry.value.withUnsafeBytes { !met.contains(KeySet.hash($0)) } }
  }
}
