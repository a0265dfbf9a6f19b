#if SQLite
import ArgumentParser
import HeadwayCSV
import HeadwayImport

/// The options of `headway import` that describe a file.
struct FileOptions: ParsableArguments {
  @OptionGroup
  var format: FormatOptions

  @Option(
    parsing: .unconditional,
    help: ArgumentHelp("How many lines precede the header. Detected by default.", valueName: "lines"))
  var skipLines: Int?

  @Flag(
    inversion: .prefixedNo,
    help: """
      Whether the first line, and only that line, contains the names of the columns. Without a header, the names are \
      column_1, column_2 and so on. Detected by default.
      """)
  var header: Bool?

  @Option(
    help: ArgumentHelp(
      "The columns to import in addition to the key, separated by commas; all columns by default.",
      valueName: "column,..."))
  var columns: [String] = []

  @Option(
    help: ArgumentHelp(
      """
      The types of the columns of a new table that --column-type does not specify: inferred from the first rows \
      without loss of digits, or text.
      """, valueName: "inferred or text"))
  var columnTypePolicy = ImportOptions.ColumnTypePolicy.inferred

  func validate() throws {
    for text in columns { _ = try ColumnNames.names(in: text) }
    if let skipLines, skipLines < 0 { throw ValidationError("--skip-lines \(skipLines): use 0 or more.") }
  }

  /// Whether an option is set that does not apply to the files of a feed.
  var areForOneFile: Bool { skipLines != nil || header != nil || !columns.isEmpty }

  /// The values, as options of an import.
  var options: ImportOptions {
    var options = format.options
    (options.hasHeader, options.skippedLineCount, options.columnTypePolicy) = (header, skipLines, columnTypePolicy)
    options.columns = columns.flatMap { (try? ColumnNames.names(in: $0)) ?? [] }
    return options
  }

  /// Returns the unusual properties that were detected in a file.
  func findings(_ layout: CSVLayout) -> [String] {
    guard !layout.isJSONLines else { return ["JSON Lines"] + Self.renamings(layout) }
    func name(_ byte: UInt8) -> String { byte == UInt8(ascii: "\t") ? "tab" : "'\(Unicode.Scalar(byte))'" }
    var findings: [String] = []
    let dialect = layout.dialect
    if format.delimiter == nil, dialect.delimiter != UInt8(ascii: ",") {
      findings.append("delimiter \(name(dialect.delimiter))")
    }
    if dialect.skipsSpacesAfterDelimiter { findings.append("spaces behind delimiters") }
    if format.quote == nil, dialect.quote != UInt8(ascii: "\"") {
      findings.append("quote \(Unicode.Scalar(dialect.quote))")
    }
    if format.escape == nil, let escape = dialect.escape { findings.append("escape \(name(escape))") }
    if format.encoding == nil, layout.encoding != .utf8 {
      findings.append(
        "encoding \(layout.encoding)\(layout.isEncodingAssumed ? " (by its characters; --encoding names another)" : "")"
      )
    }
    if dialect.endsRecordsAtLoneCarriageReturn { findings.append("lines that end with CR") }
    if layout.endsRowsWithDelimiter { findings.append("a delimiter at the end of rows") }
    return findings + headerFindings(layout)
  }

  private func headerFindings(_ layout: CSVLayout) -> [String] {
    var findings: [String] = []
    if let problem = layout.headerProblem {
      findings.append("no header that can be used (\(problem)): columns are called column_1 and so on")
    } else if let line = layout.headerLineNumber {
      if layout.headerRecordCount > 1 {
        findings.append("a header of \(layout.headerRecordCount) lines from line \(line)")
      } else if skipLines == nil, line > 1 {
        findings.append("header in line \(line)")
      }
    } else if header == nil {
      findings.append("no header: columns are called column_1 and so on (use --header if there is one)")
    }
    return findings + Self.renamings(layout)
  }

  private static func renamings(_ layout: CSVLayout) -> [String] {
    layout.renamedColumns.sorted { $0.key < $1.key }.map { new, old in
      "\(old) several times among the column names: one of these columns is called \(new)"
    }
  }
}

/// The column names in an option.
enum ColumnNames {
  /// Splits a list of names at its commas.
  ///
  /// - Throws: `ValidationError` if a name is empty.
  static func names(in text: String) throws -> [String] {
    let names = text.split(separator: ",", omittingEmptySubsequences: false).map(String.init)
    guard !names.contains("") else {
      throw ValidationError("--columns '\(text)': use names with one comma between them.")
    }
    return names
  }
}
#endif
