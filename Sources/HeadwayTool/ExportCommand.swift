#if SQLite
import ArgumentParser
import Foundation
import Headway
import HeadwayCSV
import HeadwayImport

struct ExportCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "export",
    abstract: "Write a table of an SQLite database as CSV.",
    discussion: """
      All rows are from the same state of the database, even if other programs write to it. A file appears under its \
      name only when it is complete.

      EXAMPLES:
        headway export vbb.sqlite stops > stops.csv
        headway export vbb.sqlite stops -o stops.csv --columns stop_id,stop_name
        headway export vbb.sqlite stops -o stops.tsv --delimiter tab --null-text '\\N'

      EXIT CODES:
        0    all rows were written
        64   a usage error
        65   the file is not a database, or lacks the table or a column
        66   the database does not exist
        70   an error in headway itself
        73   the file cannot be created
        74   reading or writing failed, for example because the disk is full
        75   another program has locked the database
        130  SIGINT stopped the export; 129 and 143 are the codes for SIGHUP and SIGTERM
      """)

  @Argument(help: "The database file.", completion: .file())
  var database: String

  @Argument(help: "The table or view.")
  var table: String

  @Option(
    name: .shortAndLong, help: ArgumentHelp("The file to write; standard output by default.", valueName: "file"),
    completion: .file())
  var output = "-"

  @Option(help: ArgumentHelp("The columns to write, separated by commas; all columns by default.", valueName: "names"))
  var columns: String?

  @Option(help: ArgumentHelp("The character that separates fields, or 'tab'.", valueName: "character"))
  var delimiter = ","

  @Flag(inversion: .prefixedNo, help: "Write the column names as the first line.")
  var header = true

  @Option(help: ArgumentHelp("The text for NULL values.", valueName: "text"))
  var nullText = ""

  @Flag(help: "End lines with CR and LF, as Excel does.")
  var crlf = false

  @Flag(name: .shortAndLong, help: "Print only errors.")
  var quiet = false

  func validate() throws {
    guard delimiter == "tab" || (delimiter.utf8.count == 1 && !"\"\r\n".contains(delimiter)) else {
      throw ValidationError("--delimiter '\(delimiter)': use one ASCII character, or 'tab'.")
    }
    if let columns { _ = try ColumnNames.names(in: columns) }
  }

  func run() async throws {
    let export = ExportOperation(table: table, ofDatabase: database, to: output, options: options)
    let queue = OperationQueue()
    queue.name = "export"
    let signals = Signals { queue.cancelAllOperations() }
    queue.addOperation(export)
    try await queue.untilAllOperationsAreFinished()
    if let error = export.error { throw ToolExit.report(error) }
    if let signal = signals.stopSignal, export.isCancelled { throw ExitCode(128 + signal) }
    if output != "-", !quiet {
      StandardStream.output.writeLine("\(output): \(export.rowCount) \(export.rowCount == 1 ? "row" : "rows").")
    }
  }

  private var options: ExportOptions {
    let byte = delimiter == "tab" ? UInt8(ascii: "\t") : delimiter.utf8.first ?? UInt8(ascii: ",")
    let names = columns.flatMap { try? ColumnNames.names(in: $0) } ?? []
    return ExportOptions(
      columns: names, nullText: nullText,
      csv: CSVWriter.Options(
        dialect: CSVDialect(delimiter: byte), lineEnding: crlf ? .crlf : .lf, writesHeader: header))
  }
}
#endif
