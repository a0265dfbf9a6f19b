#if SQLite
  public import ArgumentParser
  import Foundation
  import Headway
  import HeadwayCSV
  public import HeadwayImport

  struct ImportCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "import",
      abstract: "Import a GTFS feed, or one CSV file, into an SQLite database.",
      discussion: """
        Readers of the database see the rows arrive. Importing again updates rows in place: by their key, or, in a \
        table without one, the rows of this very file; with others in such a table, say --append or --replace. For a \
        newer release of a feed, --replace leaves nothing of the older one. Ctrl-C stops: what was committed stays, \
        and running the same command again completes it. Rows that can't be taken are written to a file a table and \
        import in the folder DATABASE.rejects.

        EXAMPLES:
          headway import vbb-2020 vbb.sqlite
          headway import vbb-2020 vbb.sqlite --watch stops
          headway import stops.txt vbb.sqlite --batch-size 1000 --durability full
          headway import vbb-2021 vbb.sqlite --replace
          headway import people.csv people.sqlite --key id --column-type id:integer
          headway import more.csv people.sqlite --table people --append
          headway import people.csv people.sqlite --delimiter ';' --table staff
          headway import people.csv people.sqlite --progress json | jq .
        """)

    @Argument(help: "The folder of a GTFS feed, or a CSV file.", completion: .file())
    var feed: String

    @Argument(help: "The database file, made if it is not there.", completion: .file())
    var database: String

    // Unconditional, so that a negative number is taken for the value that it is.
    @Option(parsing: .unconditional, help: "How many rows are committed at once.")
    var batchSize = 250

    @Flag(help: "Add the rows to those that the table has.")
    var append = false

    @Flag(
      help: "Put the rows in place of those that the table has, in one transaction for each table, at its end.")
    var replace = false

    @Flag(help: "End with 0 even if not one row of a file could be taken.")
    var allowRejects = false

    @Flag(help: "Stop at the first malformed row.")
    var strict = false

    @Option(help: "What a committed batch survives: a crash of the process (normal), or a loss of power too (full).")
    var durability = Durability.normal

    @Option(
      parsing: .unconditional,
      help: "How many tables are imported at once; -1 for as many as the system sees fit.")
    var maximumConcurrency = OperationQueue.defaultMaxConcurrentOperationCount

    @Option(help: "What separates fields: one character, or 'tab'. Found in the file if not given.")
    var delimiter: String?

    @Option(
      help: """
        The encoding: UTF-8, UTF-16, Windows-1252, or another name that 'iconv -l' lists. Found in the file if not \
        given.
        """)
    var encoding: String?

    @Option(
      help: """
        For one CSV file: the table. Without this, --key and --column-type, a file that is called like one of GTFS \
        gets that table with its key and types, and any other a table of its name.
        """)
    var table: String?

    @Option(help: "For one CSV file: the column that identifies a row. Give it again for each column of the key.")
    var key: [String] = []

    @Option(help: "For one CSV file: the type of a column, as NAME:text, NAME:integer or NAME:real.")
    var columnType: [String] = []

    @Flag(help: "The first line is data; columns are called column_1, column_2 and so on.")
    var noHeader = false

    @Option(help: "How to show progress: bars, plain (a line every 10 %), json (a line an object) or none.")
    var progress: ProgressStyle?

    @Option(help: "Show the last rows of this table while they arrive (with bars).")
    var watch: String?

    func validate() throws {
      guard batchSize > 0 else { throw ValidationError("--batch-size \(batchSize): use 1 or more.") }
      guard maximumConcurrency == -1 || maximumConcurrency > 0 else {
        throw ValidationError("--maximum-concurrency \(maximumConcurrency): use 1 or more, or -1.")
      }
      guard !append || !replace else { throw ValidationError("--append and --replace: use one of them.") }
      if let delimiter, delimiter != "tab", delimiter.utf8.count != 1 || "\"\r\n".contains(delimiter) {
        throw ValidationError("--delimiter '\(delimiter)': use one ASCII character, or 'tab'.")
      }
      if isFolder, table != nil || !key.isEmpty || !columnType.isEmpty || noHeader {
        throw ValidationError(
          "--table, --key, --column-type and --no-header are for one CSV file, and \(feed) is a folder.")
      }
      if let encoding, TextEncoding(encoding) == nil {
        throw ValidationError("--encoding \(encoding): no such encoding is known; see 'iconv -l'.")
      }
      if watch != nil, let progress, progress != .bars {
        throw ValidationError("--watch shows rows under the bars, and --progress \(progress.rawValue) has none.")
      }
      _ = try columnTypes()
    }

    func run() async throws {
      do {
        try await importAll()
      } catch let exit as ExitCode {
        throw exit
      } catch let error as ValidationError {
        throw error
      } catch {
        throw ToolExit.report(error)
      }
    }

    private func importAll() async throws {
      let start = ContinuousClock.now
      guard FileManager.default.fileExists(atPath: feed) else {
        throw ImportError(.cannotReadFile, path: feed, message: "There is no such file or folder.")
      }
      try lookAtFiles()
      let target = try ImportDatabase(path: database, durability: durability) {
        ToolExit.say("\(database) is locked by another program; waiting.")
      }
      let (operations, whole) = try makeOperations(target)
      let queue = OperationQueue()
      queue.name = "import"
      queue.maxConcurrentOperationCount = maximumConcurrency
      let style = progress ?? (isatty(STDERR_FILENO) != 0 ? .bars : .plain)
      if style != .bars, watch != nil { ToolExit.say("--watch shows nothing: standard error is no terminal.") }
      let live = watch.map { LiveTable(path: database, table: $0, window: 0..<8) }
      let display = ImportDisplay(style, operations, whole, live: live)
      let signals = Signals {
        queue.cancelAllOperations()
        display.show(note: "Stopping. Once more ends at once.")
      }

      display.start()
      queue.addOperations(operations, waitUntilFinished: false)
      try await queue.finished()
      await display.stop()
      // Closing moves the write-ahead log into the database, which can take long: a second signal still ends at once.
      try target.close()

      let reports = operations.map(\.report)
      ImportSummary(reports, elapsed: .now - start, style: style).print(isCancelled: signals.stopSignal != nil)
      if let error = operations.lazy.compactMap(\.error).first { throw error }
      if let signal = signals.stopSignal { throw ExitCode(128 + signal) }
      if !allowRejects, let report = reports.first(where: { $0.rows == 0 && $0.rejected > 0 }) {
        let place = report.rejectsPath ?? "the rejects"
        ToolExit.say("\(report.file): not one of \(report.rejected) rows could be taken; see \(place).")
        throw ExitCode(ToolExit.dataError.rawValue)
      }
    }

    /// Looks at what is to be imported, before anything is made, and says what was found.
    ///
    /// - Throws: ``ImportError``, or a `ValidationError`.
    private func lookAtFiles() throws {
      var tables: [String]
      if isFolder {
        let files = try FeedFiles(inFolder: feed)
        tables = files.tables.map(\.name)
        for file in files.leftOut { say("\(feed)/\(file) does not look like a table, and is left out.") }
      } else {
        tables = [try describedTable()?.name ?? TableSchema(forFile: feed).name]
        // What is read of a pipe is gone.
        if isRegularFile { say(try FileForm(ofFile: feed, options: options), of: feed) }
      }
      if let watch, !tables.contains(where: { $0.lowercased() == watch.lowercased() }) {
        let known = tables.count > 6 ? "\(tables.prefix(6).joined(separator: ", ")) …" : tables.joined(separator: ", ")
        throw ValidationError("--watch \(watch): there will be no such table, but \(known).")
      }
    }

    /// Says what was found in a file and is not the usual thing.
    private func say(_ form: FileForm, of file: String) {
      var findings: [String] = []
      if delimiter == nil, form.dialect.delimiter != UInt8(ascii: ",") {
        let delimiter = Unicode.Scalar(form.dialect.delimiter)
        findings.append("delimiter \(delimiter == "\t" ? "tab" : "'\(delimiter)'")")
      }
      if encoding == nil, form.encoding != .utf8 { findings.append("encoding \(form.encoding)") }
      if form.dialect.endsRecordsAtLoneCarriageReturn { findings.append("lines that end with CR") }
      if !findings.isEmpty { say("\(file): found \(findings.joined(separator: ", ")).") }
    }

    /// Says something that is no error.
    private func say(_ note: String) { if progress != ProgressStyle.none { ToolExit.say(note) } }

    private var options: ImportOptions {
      ImportOptions(
        batchSize: batchSize, isStrict: strict, encoding: encoding.flatMap { TextEncoding($0) },
        delimiter: delimiterByte, hasHeader: !noHeader,
        existingRows: append ? .append : replace ? .replace : .update, requiresDescribedColumns: !columnType.isEmpty)
    }

    private func makeOperations(
      _ target: ImportDatabase
    ) throws -> (operations: [ImportOperation], whole: OperationProgress) {
      let rejectsFolder = "\(database).rejects"
      if isFolder {
        let feed = try FeedImport(folder: feed, into: target, options: options, rejectsFolder: rejectsFolder)
        return (feed.operations, feed.progress)
      }
      let table = try describedTable() ?? TableSchema(forFile: feed)
      let operation = ImportOperation(
        file: feed, table: table, into: target, options: options,
        rejects: RejectsFile(forTable: table.name, inFolder: rejectsFolder))
      return ([operation], operation.progress)
    }

    // MARK: Options

    private var isFolder: Bool {
      var isFolder: ObjCBool = false
      return FileManager.default.fileExists(atPath: feed, isDirectory: &isFolder) && isFolder.boolValue
    }

    private var isRegularFile: Bool {
      let attributes = try? FileManager.default.attributesOfItem(atPath: (feed as NSString).resolvingSymlinksInPath)
      return attributes?[.type] as? FileAttributeType == .typeRegular
    }

    private var delimiterByte: UInt8? { delimiter == "tab" ? UInt8(ascii: "\t") : delimiter?.utf8.first }

    /// The table as far as the options describe it; nil to leave it to the file's name.
    private func describedTable() throws -> TableSchema? {
      let types = try columnTypes()
      guard table != nil || !key.isEmpty || !types.isEmpty else { return nil }
      let name = table ?? URL(fileURLWithPath: feed).deletingPathExtension().lastPathComponent
      let columns = types.map { ColumnSchema(name: $0.name, type: $0.type) }
      return TableSchema(name: name, columns: columns, key: key)
    }

    private func columnTypes() throws -> [(name: String, type: ColumnType)] {
      try columnType.map { text in
        guard let colon = text.lastIndex(of: ":"), colon != text.startIndex,
          let type = ColumnType(rawValue: String(text[text.index(after: colon)...]))
        else { throw ValidationError("--column-type \(text): use NAME:text, NAME:integer or NAME:real.") }
        return (String(text[..<colon]), type)
      }
    }
  }

  extension Durability: ExpressibleByArgument {}
#endif
