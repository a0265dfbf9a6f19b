#if SQLite
import ArgumentParser
import HeadwayCSV
import HeadwayImport

/// The options of `headway import` and `headway check` that describe the files.
///
/// Properties that are not specified are detected.
struct FormatOptions: ParsableArguments {
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
      """
      What to do with rows that have too many or too few fields: reject them, or pad missing fields and drop surplus \
      fields that are empty.
      """, valueName: "reject or pad"))
  var raggedRows = ImportOptions.RaggedRowPolicy.reject

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
      throw ValidationError("--delimiter, --quote, and --escape: use different characters.")
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
    guard (1..<1024).contains(maxRecord) else {
      throw ValidationError("--max-record \(maxRecord): use 1 to 1023.")
    }
    if let encoding, CSVTextEncoding(encoding) == nil {
      throw ValidationError("--encoding \(encoding): no such encoding is known; see 'iconv -l'.")
    }
  }

  private var delimiterByte: UInt8? { delimiter == "tab" ? UInt8(ascii: "\t") : delimiter?.utf8.first }

  /// The values, as options of an import.
  var options: ImportOptions {
    ImportOptions(
      encoding: encoding.flatMap { CSVTextEncoding($0) }, delimiter: delimiterByte, quote: quote?.utf8.first,
      escape: escape?.utf8.first, comment: comment?.utf8.first, raggedRowPolicy: raggedRows,
      nullTexts: nullText, nullTextsInQuotes: nullTextInQuotes,
      numberFormat: NumberFormat(decimalSeparator: decimal.first ?? ".", groupSeparator: thousands?.first),
      maxRecordLength: maxRecord << 20)
  }
}
#endif
