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
        and running the same command again completes it. Rows that can't be taken are written to DATABASE.rejects.csv.

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
      _ = try columnTypes()
    }

    func run() async throws {
      do {
        try await importAll()
      } catch let exit as ExitCode {
        throw exit
      } catch {
        throw ToolExit.report(error)
      }
    }

    private func importAll() async throws {
      let start = ContinuousClock.now
      guard FileManager.default.fileExists(atPath: feed) else {
        throw ImportError(.cannotReadFile, path: feed, message: "There is no such file or folder.")
      }
      guard !isZip else {
        throw ImportError(.badHeader, path: feed, message: "This is a zip archive: unpack it and give the folder.")
      }
      // Before anything is made or removed.
      if isFolder { _ = try FeedImport.tables(inFolder: feed) }
      let target = try ImportDatabase(path: database, durability: durability)
      let rejects = try RejectsFile(path: "\(database).rejects.csv")
      let (operations, whole) = try makeOperations(target, rejects)
      let queue = OperationQueue()
      queue.name = "import"
      queue.maxConcurrentOperationCount = maximumConcurrency
      let style = progress ?? (isatty(STDERR_FILENO) != 0 ? .bars : .plain)
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
      ImportSummary(reports, elapsed: .now - start, style: style, rejectsPath: rejects.path).print(
        isCancelled: signals.stopSignal != nil)
      if let error = operations.lazy.compactMap(\.error).first { throw error }
      if let signal = signals.stopSignal { throw ExitCode(128 + signal) }
      if !allowRejects, let report = reports.first(where: { $0.rows == 0 && $0.rejected > 0 }) {
        ToolExit.say("\(report.file): not one of \(report.rejected) rows could be taken; see \(rejects.path).")
        throw ExitCode(ToolExit.dataError.rawValue)
      }
    }

    private func makeOperations(
      _ target: ImportDatabase, _ rejects: RejectsFile
    ) throws -> (operations: [ImportOperation], whole: OperationProgress) {
      let options = ImportOptions(
        batchSize: batchSize, isStrict: strict, dialect: dialect, hasHeader: !noHeader,
        existingRows: append ? .append : replace ? .replace : .update)
      if isFolder {
        let feed = try FeedImport(folder: feed, into: target, options: options, rejects: rejects)
        return (feed.operations, feed.progress)
      }
      let operation = ImportOperation(
        file: feed, table: try describedTable(), into: target, options: options, rejects: rejects)
      return ([operation], operation.progress)
    }

    // MARK: Options

    private var isFolder: Bool {
      var isFolder: ObjCBool = false
      return FileManager.default.fileExists(atPath: feed, isDirectory: &isFolder) && isFolder.boolValue
    }

    /// Whether the feed is still packed, as feeds are published.
    ///
    /// Only regular files are looked into: what is read of a pipe is gone.
    private var isZip: Bool {
      let attributes = try? FileManager.default.attributesOfItem(atPath: (feed as NSString).resolvingSymlinksInPath)
      guard attributes?[.type] as? FileAttributeType == .typeRegular, let file = FileHandle(forReadingAtPath: feed)
      else { return false }
      return (try? file.read(upToCount: 4)) == Data([0x50, 0x4B, 0x03, 0x04])
    }

    private var dialect: CSVDialect? {
      guard let delimiter else { return nil }
      return CSVDialect(delimiter: delimiter == "tab" ? UInt8(ascii: "\t") : delimiter.utf8.first ?? UInt8(ascii: ","))
    }

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
