#if SQLite
import ArgumentParser
import Foundation
import GRDB
import Headway
import HeadwayImport

struct ImportCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "import",
    abstract: "Import a GTFS feed, or CSV files, into an SQLite database.",
    usage: """
      headway import <source> <database> [<options>]
      headway import <source> ... --output <database> [<options>]
      headway import --dry-run <source> ... [<options>]
      headway import --check <feed> [<options>]
      """,
    discussion: """
      Readers of the database see the rows arrive. Importing again updates rows in place: by their key, or, in a \
      table without one, the rows of this very file; with others in such a table, say --append or --replace. For a \
      newer release of a feed, --replace leaves nothing of the older one in the tables that the newer has. Ctrl-C \
      stops: committed batches stay in the table, and running the same command again completes it. Rejected rows \
      are written to the folder DATABASE.rejects, one file per table and import.

      A source is the folder or zip archive of a feed, a file of CSV or JSON Lines, compressed or not, a file in an \
      archive as in ARCHIVE/FILE, a folder or archive of CSV files, a pattern such as 'data/*.csv', the address of a \
      file, which is downloaded to the folder DATABASE.downloads first, or - for standard input. Of several files \
      each gets a table of its name or, with --table, all go into one.

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
        headway import people.csv towns.csv.gz --output registry.sqlite
        headway import https://example.org/feed.zip europe.sqlite
        headway import --check vbb.zip
        headway import vbb.zip vbb.sqlite --without shapes.txt
        headway import prices.csv shop.sqlite --decimal , --thousands .
        headway import people.csv --columns id,name --dry-run
        headway import 'data/*.csv' --dry-run
        headway import 'log-*.csv' --output logs.sqlite --table log

      EXIT CODES:
        0    all rows are in the database, or --allow-rejects was given
        3    some rows were rejected, and all others are in the database
        64   wrong usage
        65   a file or a table is unsuitable, or no row of a file could be imported
        66   a file does not exist or cannot be read
        68   a server cannot be found
        69   a server cannot be reached or refuses the request
        70   an error in headway itself
        73   the database or the file of rejected rows cannot be created
        74   reading or writing failed, for example because the disk is full
        75   another program holds the database
        76   a server does not follow HTTP
        130  SIGINT stopped the import; 129 and 143 stand for SIGHUP and SIGTERM

      After an error or a signal, committed batches stay in the table. With --replace, or if no batch was \
      committed, the table is unchanged. The same command completes the import.
      """)

  @Argument(
    help: "What to import; without --output, the last is the database.", completion: .file())
  var source: [String] = []

  @Option(
    name: [.customShort("o"), .customLong("output"), .customLong("into")],
    help: ArgumentHelp("The database file, created if needed.", valueName: "database"), completion: .file())
  var into: String?

  @Flag(
    help: """
      Import nothing, but say what is wrong or odd in a feed by the GTFS reference; ends with 65 if there are errors.
      """)
  var check = false

  @Flag(
    help: """
      Print the CREATE TABLE statements, based on the beginning of each file, without importing anything. Needs no \
      database; with one, tables that exist there are shown.
      """)
  var dryRun = false

  @Option(
    help: ArgumentHelp(
      "A file of the feed that is left out, such as shapes.txt. Give it again for each file.", valueName: "file"))
  var without: [String] = []

  @Option(
    help: ArgumentHelp(
      "With what the name of each table begins, to have several feeds in a database.", valueName: "text"))
  var prefix = ""

  // Unconditional, so that a negative number is taken for the value that it is.
  @Option(parsing: .unconditional, help: ArgumentHelp("How many rows are committed at once.", valueName: "rows"))
  var batchSize = 250

  @Flag(help: "Add the rows to those that the table has.")
  var append = false

  @Flag(
    help: "Replace the rows that the table has, in one transaction per table at the end of its import.")
  var replace = false

  @Flag(help: "With --append: add all rows of a file, even if an earlier import of it ended early.")
  var fromStart = false

  @Flag(help: "Exit with 0 even if rows were rejected, or no row of a file could be imported.")
  var allowRejects = false

  @Flag(help: "Add the columns of a file that the table lacks, even to a table that no import has created.")
  var addColumns = false

  @Flag(help: "Stop at the first malformed row.")
  var strict = false

  @Option(
    help: ArgumentHelp(
      "What a committed batch survives: a crash of the process (normal), or a loss of power too (full).",
      valueName: "normal or full"))
  var durability = Durability.normal

  @Option(
    name: .shortAndLong, parsing: .unconditional,
    help: ArgumentHelp("How many tables are imported at once.", valueName: "number"))
  var jobs = 8

  @OptionGroup(title: "What the file is like")
  var form: FileOptions

  @Option(
    help: ArgumentHelp(
      """
      For CSV files: the table, one for all. Without this, --key and --column-type, a file that is called like one \
      of GTFS gets that table with its key and types, and any other a table of its name.
      """, valueName: "name"))
  var table: String?

  @Option(
    help: ArgumentHelp(
      "For CSV files: the column that identifies a row. Give it again for each column of the key.",
      valueName: "column"))
  var key: [String] = []

  @Option(
    help: ArgumentHelp(
      "For CSV files: the type of a column, as NAME:text, NAME:integer, NAME:real or NAME:numeric.",
      valueName: "name:type"))
  var columnType: [String] = []

  @Option(help: ProgressStyle.help)
  var progress: ProgressStyle?

  @Flag(
    name: .shortAndLong,
    help: """
      Print nothing but errors, and a line about rejected rows, removed rows, columns that were added, and values that \
      were changed.
      """)
  var quiet = false

  @Option(help: ArgumentHelp("Show the last rows of this table while they arrive (with bars).", valueName: "table"))
  var watch: String?

  func validate() throws {
    guard batchSize > 0 else { throw ValidationError("--batch-size \(batchSize): use 1 or more.") }
    guard jobs > 0 else { throw ValidationError("--jobs \(jobs): use 1 or more.") }
    if dryRun, check || progress != nil || watch != nil {
      throw ValidationError("--dry-run prints statements: use it without --check, --progress and --watch.")
    }
    if table?.isEmpty == true { throw ValidationError("--table '': name the table.") }
    guard !append || !replace else { throw ValidationError("--append and --replace: use one of them.") }
    guard append || !fromStart else { throw ValidationError("--from-start is for --append.") }
    if quiet, let option = progress != nil ? "--progress" : watch != nil ? "--watch" : nil {
      throw ValidationError("--quiet and \(option): use one of them.")
    }
    if watch != nil, progress == ProgressStyle.none {
      throw ValidationError("--watch and --progress none: use one of them.")
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
        StandardStream.output.writeLine(
          JSONEvent.line(JSONEvent.End("error", [], seconds: 0, exitCode: code, message: message)))
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
        maximumConcurrency: jobs, isQuiet: quiet,
        style: style)
      return try await checking.run()
    }
    try requireNames()
    let sources = try ImportSources(
      try await files(of: named, beside: dryRun ? nil : database, style, notices), describedTables())
    if dryRun {
      return try DryRun(sources: sources, options: options, form: form, database: isDatabaseNamed ? database : nil)
        .run()
    }
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
    queue.maxConcurrentOperationCount = jobs
    if style != .bars, watch != nil {
      notices.say("--watch is ignored: it shows rows below the bars, which need a terminal and --progress bars.")
    }
    let live = style == .bars ? watch.map { LiveTable(path: database, table: $0, window: 0..<8) } : nil
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
        for sentence in reports.flatMap({ $0.changes(saysRemoved: !replace || $0.rows == 0) }) {
          ToolExit.say(sentence)
        }
      }
      if let message { ToolExit.say(message) }
      return ExitCode(exitCode)
    }
    let errors = operations.compactMap(\.error)
    let rejection = Self.rejection(of: operations.filter { $0.error == nil }.map(\.report))
    if let error = errors.first {
      let code = end("error", ToolExit(error).rawValue, ToolExit.description(of: error))
      for error in errors.dropFirst() { ToolExit.say(ToolExit.description(of: error)) }
      if let rejection { ToolExit.say(rejection) }
      throw code
    }
    // A signal may come when all is done.
    if let signal, !reports.allSatisfy(\.isComplete) { throw end("cancelled", 128 + signal, rejection) }
    let code = end("finished", rejection == nil || allowRejects ? 0 : ToolExit.rejectedRows.rawValue, rejection)
    if code != ExitCode.success { throw code }
  }

  /// What is said of rows that were rejected, in one line; nil if there are none.
  private static func rejection(of reports: [TableReport]) -> String? {
    let rejecting = reports.filter { $0.rejected > 0 }
    guard let first = rejecting.first else { return nil }
    let (rejected, rows) = rejecting.reduce((0, 0)) { ($0.0 + $1.rejected, $0.1 + $1.rows) }
    let verb = rejected == 1 ? "was" : "were"
    let place = first.rejectsPath.map { "; see \(rejecting.count == 1 ? $0 : folder(of: $0))" } ?? ""
    let files = rejecting.count == 1 ? first.file : "\(rejecting.count) files"
    return "\(files): \(rejected.grouped) of \((rejected + rows).groupedRows) \(verb) rejected\(place)."
  }

  private static func folder(of path: String) -> String {
    path.lastIndex(of: "/").map { String(path[..<$0]) } ?? "."
  }

  /// Looks at what is to be imported, before anything is made, and says what was found.
  ///
  /// - Throws: ``ImportError``, or a `ValidationError`.
  private func look(at sources: ImportSources, _ notices: Notices) throws {
    if let first = sources.filesInside.first {
      let others = sources.filesInside.count - 1
      let rest = others == 0 ? "is" : others == 1 ? "and one more file are" : "and \(others) more files are"
      notices.say("\(first) \(rest) not imported. To import files in a folder inside, name that folder.")
    }
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
      throw ValidationError(
        Spelling.missing("--watch: The import has no table", watch, among: tables, "Its tables are"))
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
    (options.addsColumns, options.allowsNoRows, options.completesAppend) = (addColumns, allowRejects, !fromStart)
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
  private var named: [String] { into == nil && isDatabaseNamed ? source.dropLast() : source }

  /// Whether the arguments name a database, which a dry run does not need.
  ///
  /// The last argument of a dry run is a source, unless it is a database or the second name, of a file that does not
  /// exist.
  private var isDatabaseNamed: Bool {
    guard dryRun, into == nil, let last = source.last else { return true }
    guard source.count > 1, last != "-", !last.contains(where: { "*?[".contains($0) }), !last.contains("://") else {
      return false
    }
    guard let kind = FileSystem.kind(of: last) else {
      return source.count == 2 && (try? SourceFolder.size(ofFileInArchive: last)) == nil
    }
    return kind == .file(size: 0) || ImportDatabase.isDatabase(last)
  }

  private var database: String { into ?? source.last ?? "" }

  /// The feed that is to be checked.
  private func checkedFeed() throws -> String {
    guard source.count == 1, into == nil else {
      throw ValidationError("--check accepts one feed, and no database.")
    }
    return source[0]
  }

  /// Makes sure that there is something to import, and something to import it into.
  ///
  /// Not asked while options are parsed: the value of an unknown option would be one name too many.
  private func requireNames() throws {
    if named.contains("-"), table == nil { throw ValidationError("Standard input has no name: use --table NAME.") }
    if source.isEmpty { throw ValidationError("Name what to import, <source>, and the <database>.") }
    guard into == nil, source.count != 2, isDatabaseNamed else { return }
    throw ValidationError(
      source.count == 1
        ? "Name the <database> into which to import \(source[0])."
        : "For several sources use --output DATABASE: \(source.joined(separator: " ")) does not show which that is.")
  }

  /// What the options say of the tables of files.
  private func describedTables() throws -> ImportSources.Description {
    let types = try columnTypes()
    let describes = table != nil || !key.isEmpty || !types.isEmpty
    let columns = types.map { ColumnSchema(name: $0.name, type: $0.type) }
    return ImportSources.Description(
      tablePrefix: prefix, table: table, leftOut: without, describesTables: describes || form.areForOneFile
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
#endif
