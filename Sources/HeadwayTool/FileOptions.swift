#if SQLite
import ArgumentParser
import HeadwayCSV
import HeadwayImport

/// The options of `headway import` and `headway check` that describe a file.
///
/// Properties that are not specified are detected.
struct FileOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "The character that separates fields, or 'tab'. Detected by default.", valueName: "character"))
  var delimiter: String?

  @Option(
    help: ArgumentHelp(
      "The character that quotes fields. By default, \" or ' is detected.", valueName: "character"))
  var quote: String?

  @Option(
    help: ArgumentHelp(
      "The character that, like a second quote, escapes a quote in a quoted field. Detected by default.",
      valueName: "character"))
  var escape: String?

  @Option(
    help: ArgumentHelp(
      "The first character of comment lines. By default, # is detected before the header.", valueName: "character"
    ))
  var comment: String?

  @Option(
    help: ArgumentHelp(
      """
      The encoding: UTF-8, UTF-16, Windows-1252, or another name that 'iconv -l' lists. Detected by default.
      """, valueName: "name"))
  var encoding: String?

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

  // Unconditional, so that a dash is accepted as a value.
  @Option(
    parsing: .unconditionalSingleValue,
    help: ArgumentHelp(
      "A text that represents a missing value, such as NULL or \\N. This option can be repeated.", valueName: "text"))
  var nullText: [String] = []

  @Flag(help: "Apply --null-text to fields in quotes as well.")
  var nullTextInQuotes = false

  @Option(
    help: ArgumentHelp(
      "The decimal separator: a point (default) or a comma. In JSON Lines, it applies only to strings.",
      valueName: "character"))
  var decimal = "."

  @Option(
    help: ArgumentHelp(
      "The character between groups of three digits, such as a comma, a point, an apostrophe or a space.",
      valueName: "character"))
  var thousands: String?

  @Option(
    parsing: .unconditional,
    help: ArgumentHelp(
      "The maximum size of a record in megabytes. Longer records are rejected.", valueName: "megabytes"))
  var maxRecord = 16

  @Option(
    help: ArgumentHelp(
      "The columns to import in addition to the key, separated by commas; all columns by default.",
      valueName: "column,..."))
  var columns: [String] = []

  @Option(
    help: ArgumentHelp(
      """
      What to do with rows that have too many or too few fields: reject them, or pad missing fields and drop surplus \
      fields that are empty.
      """, valueName: "reject or pad"))
  var raggedRows = ImportOptions.RaggedRowPolicy.reject

  @Option(
    help: ArgumentHelp(
      """
      The types of the columns of a new table that --column-type does not specify: inferred from the first rows \
      without loss of digits, or text.
      """, valueName: "inferred or text"))
  var columnTypePolicy = ImportOptions.ColumnTypePolicy.inferred

  func validate() throws {
    let characters = [
      ("--delimiter", delimiter == "tab" ? nil : delimiter), ("--quote", quote), ("--escape", escape),
      ("--comment", comment),
    ]
    for case (let option, let text?) in characters
    where text.utf8.count != 1 || "\r\n".utf8.contains(text.utf8.first ?? 0)
      || (option == "--delimiter" && text == "\"" && quote == nil)
    {
      let alternative = option == "--delimiter" ? ", or 'tab'" : ""
      throw ValidationError("\(option) '\(text)': use one ASCII character\(alternative).")
    }
    let given = [delimiterByte, quote?.utf8.first, escape?.utf8.first].compactMap { $0 }
    guard Set(given).count == given.count else {
      throw ValidationError("--delimiter, --quote and --escape: use different characters.")
    }
    guard decimal.count == 1, thousands?.count ?? 1 == 1, decimal != thousands,
      !(decimal + (thousands ?? "")).contains(where: { $0.isNumber || "+-".contains($0) })
    else {
      throw ValidationError(
        "--decimal '\(decimal)'\(thousands.map { ", --thousands '\($0)'" } ?? ""): use two different characters "
          + "that are not digits or signs.")
    }
    guard [".", ","].contains(decimal) else {
      throw ValidationError("--decimal '\(decimal)': use a point or a comma.")
    }
    for text in columns { _ = try ColumnNames.names(in: text) }
    guard (1..<1024).contains(maxRecord) else {
      throw ValidationError("--max-record \(maxRecord): use 1 to 1023.")
    }
    if let skipLines, skipLines < 0 { throw ValidationError("--skip-lines \(skipLines): use 0 or more.") }
    if let encoding, CSVTextEncoding(encoding) == nil {
      throw ValidationError("--encoding \(encoding): no such encoding is known; see 'iconv -l'.")
    }
  }

  private var delimiterByte: UInt8? { delimiter == "tab" ? UInt8(ascii: "\t") : delimiter?.utf8.first }

  /// Whether an option is set that does not apply to the files of a feed.
  var areForOneFile: Bool { skipLines != nil || header != nil || !columns.isEmpty }

  /// The values, as options of an import.
  var options: ImportOptions {
    ImportOptions(
      encoding: encoding.flatMap { CSVTextEncoding($0) }, delimiter: delimiterByte, quote: quote?.utf8.first,
      escape: escape?.utf8.first, comment: comment?.utf8.first, hasHeader: header, skippedLineCount: skipLines,
      raggedRowPolicy: raggedRows, nullTexts: nullText, nullTextsInQuotes: nullTextInQuotes,
      numberFormat: NumberFormat(
        decimalSeparator: decimal.first ?? ".", groupSeparator: thousands?.first),
      columns: columns.flatMap { (try? ColumnNames.names(in: $0)) ?? [] },
      maxRecordLength: maxRecord << 20, columnTypePolicy: columnTypePolicy)
  }

  /// Returns the unusual properties that were detected in a file.
  func findings(_ layout: CSVLayout) -> [String] {
    guard !layout.isJSONLines else { return ["JSON Lines"] + Self.renamings(layout) }
    func name(_ byte: UInt8) -> String { byte == UInt8(ascii: "\t") ? "tab" : "'\(Unicode.Scalar(byte))'" }
    var findings: [String] = []
    let dialect = layout.dialect
    if delimiter == nil, dialect.delimiter != UInt8(ascii: ",") {
      findings.append("delimiter \(name(dialect.delimiter))")
    }
    if dialect.skipsSpacesAfterDelimiter { findings.append("spaces behind delimiters") }
    if quote == nil, dialect.quote != UInt8(ascii: "\"") {
      findings.append("quote \(Unicode.Scalar(dialect.quote))")
    }
    if escape == nil, let escape = dialect.escape { findings.append("escape \(name(escape))") }
    if encoding == nil, layout.encoding != .utf8 {
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
      "\(old) twice among the names, called \(new)"
    }
  }
}

/// The names of columns in an option.
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
