#if SQLite
package import Headway
import HeadwayCSV

/// Imports files as operations on a queue: each into its own table, or all into one.
///
/// Files with their own tables succeed or fail separately, each after the tables that its table refers to. Files for
/// one table are one import: they are read one after the other, and when one fails, the remaining ones are cancelled.
/// If their rows replace others, either all of them do, in one transaction, or none. If several files have rows with
/// the same key, the first row is imported, and later ones are rejected.
package struct FilesImport: Sendable {
  /// A file and its table.
  package struct File: Sendable {
    /// The path of the file.
    package let path: String
    /// The table to import the file into.
    package let table: TableSchema
    /// The size of the file in bytes; nil if it is not a regular file.
    package let size: Int?

    package init(path: String, table: TableSchema, size: Int?) {
      (self.path, self.table, self.size) = (path, table, size)
    }
  }

  /// One operation per file, in the order of the files.
  package let operations: [ImportOperation]
  /// The progress of the whole import, in bytes.
  package let progress: OperationProgress

  /// Creates the operations for files that each have their own table.
  ///
  /// - Parameters:
  ///   - files: The files, each with its table.
  ///   - database: The database to import into.
  ///   - options: How the files are imported.
  ///   - rejectedRowsFolder: The folder for rows that have problems.
  /// - Throws: ``ImportError`` with the code `database`.
  package init(_ files: [File], into database: ImportDatabase, options: ImportOptions, rejectedRowsFolder: String)
    throws
  {
    let run = try Self.run(of: files, options, database)
    operations = files.enumerated().map { position, file in
      ImportOperation(
        readingFrom: file.path, into: file.table, of: database, options: options,
        issueHandler: RejectedRowsFile(forTable: file.table.name, inFolder: rejectedRowsFolder), run: run?.identifier,
        finishedEntry: run?.finished[position])
    }
    progress = OperationProgress(totalUnitCount: 0)
    connect(sizes: files.map { Int64(max(1, $0.size ?? 1)) })
    let byTable = Dictionary(operations.map { ($0.table.name.lowercasedAsName, $0) }) { first, _ in first }
    for operation in operations {
      for parent in operation.table.dependencies.sorted() {
        if let parent = byTable[parent.lowercasedAsName] { operation.addDependency(parent) }
      }
    }
    // Existing tables can refer to each other without a description.
    let references = try database.read { connection in
      try operations.map { try ForeignKey.keys(of: $0.table.name, connection).map(\.parent.lowercasedAsName) }
    }
    for (operation, parents) in zip(operations, references) {
      for parent in parents.compactMap({ byTable[$0] }) where !parent.isAfter(operation) {
        operation.addDependency(parent)
      }
    }
    guard options.existingRowPolicy == .replace else { return }
    for operation in operations { operation.tablesReplacedTogether = Set(byTable.keys) }
  }

  /// The run that the files belong to; nil if the files are not appended, if there is only one file, or if a file is
  /// not regular.
  private static func run(
    of files: [File], _ options: ImportOptions, _ database: ImportDatabase
  ) throws -> AppendingRun? {
    // A pipe provides other rows when it is read again, and a single file is completed without a run.
    guard options.existingRowPolicy == .append, files.count > 1, files.allSatisfy({ $0.size != nil }) else {
      return nil
    }
    return try database.appendingRun(
      of: files.map { ($0.table.name, $0.path) }, completesLast: options.completesAppend)
  }

  private init(_ operations: [ImportOperation], _ progress: OperationProgress) {
    (self.operations, self.progress) = (operations, progress)
  }

  private func connect(sizes: [Int64]) {
    for (operation, size) in zip(operations, sizes) {
      progress.addChild(operation.progress, withPendingUnitCount: size)
    }
    progress.totalUnitCount = sizes.reduce(0, +)
  }

  /// Creates the operations for files that all go into one table.
  ///
  /// Columns are matched by name. In a table without a key, the rows of each file follow the rows of the previous file.
  /// If you import the same files again, in the same or another order, their rows replace the earlier rows.
  ///
  /// - Parameters:
  ///   - files: The files, all with the same table.
  ///   - database: The database to import into.
  ///   - options: How the files are imported.
  ///   - rejectedRowsFolder: The folder for rows that have problems.
  /// - Returns: An import of all files into one table.
  /// - Throws: ``ImportError``. The code is `badHeader` if the files have different columns, or `foreignRows` if the
  ///   table has no key and has rows of other files. Other codes describe errors in reading a file.
  package static func intoOneTable(
    _ files: [File], into database: ImportDatabase, options: ImportOptions, rejectedRowsFolder: String
  ) throws -> FilesImport {
    let (hasHeader, columns) = try requireSameColumns(of: files, options)
    guard let table = files.first?.table else { return FilesImport([], OperationProgress(totalUnitCount: 0)) }
    let (policies, group) = try database.existingRowPolicies(
      of: table, forFiles: files, hasHeader: hasHeader, columns: columns, options)
    let rejectedRows = RejectedRowsFile(forTable: table.name, inFolder: rejectedRowsFolder)
    let run = try run(of: files, options, database)
    let operations = zip(files, policies).enumerated().map { position, file in
      var options = options
      options.existingRowPolicy = file.1
      return ImportOperation(
        readingFrom: file.0.path, into: table, of: database, options: options,
        issueHandler: files.count > 1 ? SharedRejectedRowsFile(of: file.0.path, in: rejectedRows) : rejectedRows,
        run: run?.identifier,
        finishedEntry: run?.finished[position], group: group)
    }
    let made = FilesImport(operations, OperationProgress(totalUnitCount: 0))
    made.connect(sizes: files.map { Int64(max(1, $0.size ?? 1)) })
    for (operation, next) in zip(operations, operations.dropFirst()) { next.addDependency(operation) }
    for operation in operations { operation.failureHandler = { [progress = made.progress] _ in progress.cancel() } }
    return made
  }

  /// - Returns: Whether the files begin with a header, and their columns; no columns if all files are pipes.
  private static func requireSameColumns(
    of files: [File], _ options: ImportOptions
  ) throws -> (hasHeader: Bool, columns: [String]?) {
    var first: (path: String, columns: [String])?
    var hasHeader = options.hasHeader ?? true
    // Pipes are skipped, because data read from a pipe can't be read again.
    for file in files where file.size != nil {
      let layout = try CSVLayout(ofFile: file.path, table: file.table, options: options)
      let columns = layout.columns
      if layout.headerRecordCount == 0 { hasHeader = false }
      guard let known = first else {
        first = (file.path, columns)
        continue
      }
      let (names, knownNames) = (Set(columns.map(\.lowercasedAsName)), Set(known.columns.map(\.lowercasedAsName)))
      guard names != knownNames else { continue }
      let lacking = known.columns.filter { !names.contains($0.lowercasedAsName) }
      let additional = columns.filter { !knownNames.contains($0.lowercasedAsName) }
      let differences = [
        lacking.isEmpty ? nil : "missing: \(lacking.joined(separator: ", "))",
        additional.isEmpty ? nil : "additional: \(additional.joined(separator: ", "))",
      ].compactMap { $0 }
      throw ImportError(
        .badHeader, path: file.path, lineNumber: 1,
        context: "The columns differ from \(known.path), which is for the same table "
          + "(\(differences.joined(separator: "; "))).")
    }
    return (hasHeader, first?.columns)
  }
}

extension Headway.Operation {
  /// Whether an operation is this operation, or one that it waits for.
  fileprivate func isAfter(_ other: Headway.Operation) -> Bool {
    self === other || dependencies.contains { $0.isAfter(other) }
  }
}

extension ImportDatabase {
  /// For several files that go into one table, one after the other, determines how each file treats the existing rows,
  /// and which group the imports share; nil if they share none.
  ///
  /// - Throws: ``ImportError`` with the code `foreignRows` or `database`.
  fileprivate func existingRowPolicies(
    of table: TableSchema, forFiles files: [FilesImport.File], hasHeader: Bool, columns: [String]?,
    _ options: ImportOptions
  ) throws -> (policies: [ImportOptions.ExistingRowPolicy], group: FileGroup?) {
    let existing = try read { try ExistingTable(named: table.name, $0) }
    func all(_ policy: ImportOptions.ExistingRowPolicy) -> [ImportOptions.ExistingRowPolicy] {
      files.map { _ in policy }
    }
    switch options.existingRowPolicy {
    case .append, .ignore: return (all(options.existingRowPolicy), nil)
    case .replace: return (all(.replace), FileGroup(count: files.count, replaces: true, of: self))
    case .update:
      let completed = columns.flatMap { existing?.completing(table, header: $0) } ?? table
      if !completed.key.isEmpty { return (all(.update), FileGroup(count: files.count, replaces: false, of: self)) }
      guard let existing, try read({ try $0.hasRows(in: existing.name) }) else {
        return ([.update] + files.dropFirst().map { _ in .append }, nil)
      }
      try read { connection in
        try ImportHistory.requireOwnRows(
          of: files.map { (path: $0.path, isRegular: $0.size != nil) }, in: existing.name,
          rowIdentifier: SQL.rowIdentifier(besideColumns: existing.columnNames), hasHeader: hasHeader, connection)
      }
      return (all(.replace), FileGroup(count: files.count, replaces: true, replacesOwn: true, of: self))
    }
  }
}
#endif
