#if !SQLite
// The main types that need the trait SQLite, so that the compiler names it where a program uses them without it. They
// have the initializers of the types themselves. Otherwise, the compiler would report the missing initializer instead.

/// The database that imports write to; enable the trait `SQLite` to use it.
@available(*, unavailable, message: "Enable the trait SQLite: .package(url: …, from: …, traits: [\"SQLite\"])")
public struct ImportDatabase {
  /// Unavailable.
  public init(
    path: String, durability: Durability = .normal, busyTimeout: Duration = .seconds(10),
    onBusy: (@Sendable () -> Void)? = nil
  ) throws {}
}

/// An import of a file; enable the trait `SQLite` to use it.
@available(*, unavailable, message: "Enable the trait SQLite: .package(url: …, from: …, traits: [\"SQLite\"])")
public struct ImportOperation {
  /// Unavailable.
  public init(
    file: String, table: TableSchema? = nil, into database: ImportDatabase, options: ImportOptions = ImportOptions(),
    rejectedRows: RejectedRowsFile? = nil
  ) {}
}

/// An import of a feed; enable the trait `SQLite` to use it.
@available(*, unavailable, message: "Enable the trait SQLite: .package(url: …, from: …, traits: [\"SQLite\"])")
public struct FeedImport {
  /// Unavailable.
  public init(
    folder: String, into database: ImportDatabase, options: ImportOptions = ImportOptions(),
    tablePrefix: String = "", rejectedRowsFolder: String? = nil
  ) throws {}
}

/// A check of a feed; enable the trait `SQLite` to use it.
@available(*, unavailable, message: "Enable the trait SQLite: .package(url: …, from: …, traits: [\"SQLite\"])")
public struct FeedValidator {
  /// Unavailable.
  public init(folder: String, options: ImportOptions = ImportOptions()) throws {}
}

/// A table that is watched; enable the trait `SQLite` to use it.
@available(*, unavailable, message: "Enable the trait SQLite: .package(url: …, from: …, traits: [\"SQLite\"])")
public struct LiveTable {
  /// Unavailable.
  public init(path: String, table: String, columns: [String] = [], rowRange: Range<Int> = 0..<20) {}
}

/// An export of a table; enable the trait `SQLite` to use it.
@available(*, unavailable, message: "Enable the trait SQLite: .package(url: …, from: …, traits: [\"SQLite\"])")
public struct ExportOperation {
  /// Unavailable.
  public init(table: String, ofDatabase database: String, to file: String, options: ExportOptions = ExportOptions()) {}
}
#endif
