#if SQLite
  public import ArgumentParser
  import Foundation
  import GRDB
  import Headway
  public import HeadwayImport

  struct ImportCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "import",
      abstract: "Import a GTFS feed, or CSV files, into an SQLite database.",
      usage: """
        headway import <source> <database> [<options>]
        headway import <source> ... --into <database> [<options>]
        headway import --check <feed> [<options>]
        """,
      discussion: """
        Readers of the database see the rows arrive. Importing again updates rows in place: by their key, or, in a \
        table without one, the rows of this very file; with others in such a table, say --append or --replace. For a \
        newer release of a feed, --replace leaves nothing of the older one in the tables that the newer has. Ctrl-C \
        stops: what was committed stays, and running the same command again completes it. Rows that can't be taken \
        are written to a file a table and import in the folder DATABASE.rejects.

        A source is the folder or zip archive of a feed, a CSV file, compressed or not, a file in an archive as in \
        ARCHIVE/FILE, a folder or archive of CSV files, a pattern such as 'data/*.csv', the address of a file, which \
        is downloaded to the folder DATABASE.downloads first, or - for standard input. Of several files each gets a \
        table of its name or, with --table, all go into one.

        EXAMPLES:
          headway import vbb-2020 vbb.sqlite
          headway import vbb.zip vbb.sqlite --watch stops
          headway import swiss.zip europe.sqlite --prefix swiss_
          headway import stops.txt vbb.sqlite --batch-size 1000 --durability full
          headway import vbb-2021 vbb.sqlite --replace
          headway import people.csv people.sqlite --key id --column-type id:integer
          headway import more.csv people.sqlite --table people --append
          headway import people.csv people.sqlite --delimiter ';' --table staff
          headway import people.csv people.sqlite --progress json | jq .
          headway import - people.sqlite --table people
          headway import people.csv towns.csv.gz --into registry.sqlite
          headway import https://example.org/feed.zip europe.sqlite
          headway import --check vbb.zip
          headway import 'log-*.csv' --into logs.sqlite --table log

        EXIT CODES:
          0    every row is in the database
          3    rows were rejected, and the others are in the database
          64   the command is used wrongly
          65   a file or table is not what it should be, or no row could be taken
          66   a file is not there, or can't be read
          68   a server is not found
          69   a server can't be reached, or refuses
          70   an error of the tool
          73   the database or the file of rejected rows can't be made
          74   reading or writing failed, as on a full disk
          75   another program holds the database
          76   a server does not keep to HTTP
          128+ the number of the signal that stopped the import

        After any code but 0 and 3, a table of a failed file is as it was, except for \
        batches that were committed before the error; with --replace there are none.
        """)

    @Argument(
      help: "What to import; without --into, the last is the database.", completion: .file())
    var source: [String] = []

    @Option(
      help: ArgumentHelp("The database file, made if it is not there.", valueName: "database"), completion: .file())
    var into: String?

    @Flag(
      help: """
        Import nothing, but say what is wrong or odd in a feed by the GTFS reference; ends with 65 if there are errors.
        """)
    var check = false

    @Option(help: "With what the name of each table begins, to have several feeds in a database.")
    var prefix = ""

    // Unconditional, so that a negative number is taken for the value that it is.
    @Option(parsing: .unconditional, help: "How many rows are committed at once.")
    var batchSize = 250

    @Flag(help: "Add the rows to those that the table has.")
    var append = false

    @Flag(
      help: "Put the rows in place of those that the table has, in one transaction for each table, at its end.")
    var replace = false

    @Flag(help: "End with 0 even if rows were rejected, or not one row of a file could be taken.")
    var allowRejects = false

    @Flag(help: "Add the columns of a file that the table lacks, even to a table that no import has made.")
    var addColumns = false

    @Flag(help: "Stop at the first malformed row.")
    var strict = false

    @Option(help: "What a committed batch survives: a crash of the process (normal), or a loss of power too (full).")
    var durability = Durability.normal

    @Option(
      parsing: .unconditional,
      help: "How many tables are imported at once; -1 for all.")
    var maximumConcurrency = 8

    @OptionGroup(title: "What the file is like")
    var form: FileOptions

    @Option(
      help: """
        For CSV files: the table, one for all. Without this, --key and --column-type, a file that is called like one \
        of GTFS gets that table with its key and types, and any other a table of its name.
        """)
    var table: String?

    @Option(help: "For CSV files: the column that identifies a row. Give it again for each column of the key.")
    var key: [String] = []

    @Option(help: "For CSV files: the type of a column, as NAME:text, NAME:integer, NAME:real or NAME:numeric.")
    var columnType: [String] = []

    @Option(help: ProgressStyle.help)
    var progress: ProgressStyle?

    @Flag(name: .shortAndLong, help: "Print nothing but errors, and a line about rows that were rejected or removed, or a changed table.")
    var quiet = false

    @Option(help: "Show the last rows of this table while they arrive (with bars).")
    var watch: String?

    func validate() throws {
      guard batchSize > 0 else { throw ValidationError("--batch-size \(batchSize): use 1 or more.") }
      guard maximumConcurrency == -1 || maximumConcurrency > 0 else {
        throw ValidationError("--maximum-concurrency \(maximumConcurrency): use 1 or more, or -1.")
      }
      guard !append || !replace else { throw ValidationError("--append and --replace: use one of them.") }
      if quiet, let option = progress != nil ? "--progress" : watch != nil ? "--watch" : nil {
        throw ValidationError("--quiet and \(option): use one of them.")
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
        if progress == .json, !quiet {
          let (code, message) = (ToolExit(error).rawValue, ToolExit.description(of: error))
          print(JSONEvent.line(JSONEvent.End("error", [], seconds: 0, exitCode: code, message: message)))
        }
        throw ToolExit.report(error)
      }
    }

    private func importAll() async throws {
      let start = ContinuousClock.now
      let notices = Notices(isSilent: quiet || progress == ProgressStyle.none)
      let style = quiet ? .none : progress ?? (Terminal.canRedraw ? .bars : .plain)
      if check {
        let checking = FeedChecking(
          feed: try await files(of: [try checkedFeed()], beside: nil, style, notices)[0], options: options,
          maximumConcurrency: maximumConcurrency, isQuiet: quiet,
          style: style)
        return try await checking.run()
      }
      try requireNames()
      let sources = try ImportSources(
        try await files(of: named, beside: database, style, notices), describedTables())
      try look(at: sources, notices)
      let target = try ImportDatabase(path: database, durability: durability) { [database] in
        notices.say("\(database) is locked by another program; waiting.")
      }
      if case .feed(let files) = sources.content { sayRelease(of: files, in: target, notices) }
      let (operations, whole) = try makeOperations(sources, target)
      let finished = operations.filter(\.wasFinished).map(\.file)
      if !finished.isEmpty {
        notices.say(
          "An --append of these files ended early, and is completed; added then: \(finished.joined(separator: ", ")).")
      }
      let queue = OperationQueue()
      queue.name = "import"
      queue.maxConcurrentOperationCount = maximumConcurrency
      if style != .bars, watch != nil { notices.say("--watch shows nothing: there are no bars without a terminal.") }
      let live = watch.map { LiveTable(path: database, table: $0, window: 0..<8) }
      let display = ImportDisplay(style, operations, whole, live: live)
      notices.begin(on: display)
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

      try finish(operations, seconds: (.now - start).inSeconds, style, stoppedBy: signals.stopSignal)
    }

    /// The files of sources: addresses are downloaded, beside a database or, where there is none, into a folder for
    /// temporary files.
    private func files(
      of sources: [String], beside database: String?, _ style: ProgressStyle, _ notices: Notices
    ) async throws -> [String] {
      #if HTTP
        let folder = database.map { "\($0).downloads" } ?? "\(NSTemporaryDirectory())/headway-downloads"
        return try await SourceDownloads(folder: folder).files(of: sources, style, notices)
      #else
        return sources
      #endif
    }

    /// Says what was done, and ends with the exit code for it.
    private func finish(
      _ operations: [ImportOperation], seconds: Double, _ style: ProgressStyle, stoppedBy signal: Int32?
    ) throws {
      let reports = operations.map(\.report)
      func end(_ event: String, _ exitCode: Int32, _ message: String? = nil) -> ExitCode {
        if !quiet {
          ImportSummary(reports, seconds: seconds, style: style).print(
            JSONEvent.End(event, reports, seconds: seconds, exitCode: exitCode, message: message))
        } else {
          for sentence in reports.flatMap({ $0.sentences(saysRemoved: !replace) }) { ToolExit.say(sentence) }
        }
        if let message { ToolExit.say(message) }
        return ExitCode(exitCode)
      }
      let errors = operations.compactMap(\.error)
      if let error = errors.first {
        let code = end("error", ToolExit(error).rawValue, ToolExit.description(of: error))
        for error in errors.dropFirst() { ToolExit.say(ToolExit.description(of: error)) }
        throw code
      }
      // A signal may come when all is done.
      if let signal, !reports.allSatisfy(\.isComplete) { throw end("cancelled", 128 + signal) }
      guard !allowRejects, let message = Self.rejection(of: reports) else {
        _ = end("finished", 0)
        return
      }
      throw end("finished", ToolExit.rejectedRows.rawValue, message)
    }

    /// What is said of rows that were rejected, in one line; nil if there are none.
    private static func rejection(of reports: [TableReport]) -> String? {
      let rejecting = reports.filter { $0.rejected > 0 }
      guard let first = rejecting.first else { return nil }
      let (rejected, rows) = rejecting.reduce((0, 0)) { ($0.0 + $1.rejected, $0.1 + $1.rows) }
      let verb = rejected == 1 ? "was" : "were"
      let place = first.rejectsPath.map { "; see \(rejecting.count == 1 ? $0 : folder(of: $0))" } ?? ""
      let files = rejecting.count == 1 ? first.file : "\(rejecting.count) files"
      return "\(files): \(rejected.grouped) of \((rejected + rows).grouped) rows \(verb) rejected\(place)."
    }

    private static func folder(of path: String) -> String {
      path.lastIndex(of: "/").map { String(path[..<$0]) } ?? "."
    }

    /// Looks at what is to be imported, before anything is made, and says what was found.
    ///
    /// - Throws: ``ImportError``, or a `ValidationError`.
    private func look(at sources: ImportSources, _ notices: Notices) throws {
      switch sources.content {
      case .feed(let files):
        for file in files.leftOut {
          notices.say("\(files.folder)/\(file) does not look like a table, and is left out.")
        }
      case .files(let files), .table(let files):
        // What is read of a pipe is gone.
        for file in files where file.size != nil {
          do {
            say(try FileForm(ofFile: file.path, table: file.table, options: options), of: file.path, notices)
          } catch {
            // Of several, each fails by itself.
            if files.count == 1 { throw error }
          }
        }
      }
      let tables = sources.tables
      if let watch, !tables.contains(where: { $0.lowercased() == watch.lowercased() }) {
        let known = tables.count > 6 ? "\(tables.prefix(6).joined(separator: ", ")) …" : tables.joined(separator: ", ")
        throw ValidationError("--watch \(watch): there will be no such table, but \(known).")
      }
    }

    /// Says that the database has another release of the feed.
    private func sayRelease(of files: FeedFiles, in target: ImportDatabase, _ notices: Notices) {
      let known = try? target.pool.read {
        try String.fetchOne($0, sql: "SELECT feed_version FROM \"\(prefix)feed_info\" LIMIT 1")
      }
      guard let old = known, let new = files.version, old != new else { return }
      let advice =
        replace
        ? "it is replaced."
        : "what only the old one has will stay. Use --replace to leave nothing of it in these tables."
      notices.say("\(database) has release \(old) of a feed, and \(files.folder) is release \(new): \(advice)")
    }

    /// Says what was found in a file and is not the usual thing.
    private func say(_ found: FileForm, of path: String, _ notices: Notices) {
      let findings = form.findings(found)
      if !findings.isEmpty { notices.say("\(path): found \(findings.joined(separator: ", ")).") }
      guard progress == .json, !quiet else { return }
      StandardStream.output.writeLine(JSONEvent.line(JSONEvent.Start(path, found, findings)))
    }

    private var options: ImportOptions {
      var options = form.options
      (options.batchSize, options.isStrict) = (batchSize, strict)
      options.existingRows = append ? .append : replace ? .replace : .update
      options.requiresDescribedColumns = !columnType.isEmpty
      (options.addsColumns, options.allowsNoRows) = (addColumns, allowRejects)
      return options
    }

    private func makeOperations(
      _ sources: ImportSources, _ target: ImportDatabase
    ) throws -> (operations: [ImportOperation], whole: OperationProgress) {
      let rejectsFolder = "\(database).rejects"
      switch sources.content {
      case .feed(let files):
        let feed = try FeedImport(
          files, into: target, options: options, tablePrefix: prefix, rejectsFolder: rejectsFolder)
        return (feed.operations, feed.progress)
      case .files(let files):
        let made = try FilesImport(files, into: target, options: options, rejectsFolder: rejectsFolder)
        return (made.operations, made.progress)
      case .table(let files) where files.count == 1:
        let made = try FilesImport(files, into: target, options: options, rejectsFolder: rejectsFolder)
        return (made.operations, made.progress)
      case .table(let files):
        let made = try FilesImport.intoOneTable(files, into: target, options: options, rejectsFolder: rejectsFolder)
        return (made.operations, made.progress)
      }
    }

    // MARK: Options

    /// What is to be imported.
    private var named: [String] { into == nil ? source.dropLast() : source }

    private var database: String { into ?? source.last ?? "" }

    /// The feed that is to be checked.
    private func checkedFeed() throws -> String {
      guard source.count == 1, into == nil else {
        throw ValidationError("--check takes one feed, and no database.")
      }
      return source[0]
    }

    /// Makes sure that there is something to import, and something to import it into.
    ///
    /// Not asked while options are parsed: the value of an unknown option would be one name too many.
    private func requireNames() throws {
      if named.contains("-"), table == nil { throw ValidationError("Standard input has no name: say --table NAME.") }
      if source.isEmpty { throw ValidationError("Say what to import, <source>, and into which <database>.") }
      guard into == nil, source.count != 2 else { return }
      throw ValidationError(
        source.count == 1
          ? "Say into which <database> \(source[0]) is to be imported."
          : "For several sources say --into DATABASE: \(source.joined(separator: " ")) does not say which that is.")
    }

    /// What the options say of the tables of files.
    private func describedTables() throws -> ImportSources.Description {
      let types = try columnTypes()
      let describes = table != nil || !key.isEmpty || !types.isEmpty
      let columns = types.map { ColumnSchema(name: $0.name, type: $0.type) }
      return ImportSources.Description(
        tablePrefix: prefix, table: table, describesTables: describes || form.areForOneFile
      ) { path in
        let schema = TableSchema(forFile: path)
        return describes ? TableSchema(name: table ?? schema.name, columns: columns, key: key) : schema
      }
    }

    private func columnTypes() throws -> [(name: String, type: ColumnType)] {
      try columnType.map { text in
        guard let colon = text.lastIndex(of: ":"), colon != text.startIndex,
          let type = ColumnType(rawValue: String(text[text.index(after: colon)...]))
        else { throw ValidationError("--column-type \(text): use NAME:text, NAME:integer, NAME:real or NAME:numeric.") }
        return (String(text[..<colon]), type)
      }
    }
  }

  extension Durability: ExpressibleByArgument {}
#endif
