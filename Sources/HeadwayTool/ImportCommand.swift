#if SQLite
import ArgumentParser
import HeadwayImport

struct ImportCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "import",
    abstract: "Import a GTFS feed, or CSV files, into an SQLite database.",
    usage: """
      headway import <source> <database> [<options>]
      headway import <source> ... --output <database> [<options>]
      headway import --dry-run <source> ... [<options>]
      """,
    discussion: """
      Other programs can read the rows while they arrive. If you import a file again, its rows are updated in place, \
      by their key; with --ignore, existing rows stay as they are. In a table without a key, this works only if all \
      rows are from this file; otherwise, use --append or --replace. For a newer release of a feed, --replace removes \
      all rows of the older release from the tables that the newer release has. Ctrl-C stops the import: committed \
      batches stay in the table, and the same command completes the import. Rejected rows are written to the folder \
      DATABASE.rejected-rows, one file per table and import.

      A source is the folder or zip archive of a feed, a CSV or JSON Lines file, compressed or not, a file in an \
      archive, written as ARCHIVE/FILE, a folder or archive of CSV files, a pattern such as 'data/*.csv', the URL of \
      a file, which is first downloaded to the folder DATABASE.downloads, or - for standard input. Each of several \
      files is imported into a table of its name or, with --table, all of them into one table.

      EXAMPLES:
        headway import vbb-2020 vbb.sqlite
        headway import vbb.zip vbb.sqlite --watch stops
        headway import swiss.zip europe.sqlite --table-prefix swiss_
        headway import stops.txt vbb.sqlite --batch-size 1000 --durability full
        headway import vbb-2021 vbb.sqlite --replace
        headway import people.csv people.sqlite --key id --column-type id:integer
        headway import more.csv people.sqlite --table people --append
        headway import people.csv people.sqlite --delimiter ';' --table staff
        headway import people.csv people.sqlite --progress json | jq .
        headway import - people.sqlite --table people
        headway import people.csv towns.csv.gz --output registry.sqlite
        headway import https://example.org/feed.zip europe.sqlite
        headway import vbb.zip vbb.sqlite --without shapes.txt
        headway import prices.csv shop.sqlite --decimal , --thousands .
        headway import people.csv --columns id,name --dry-run
        headway import 'data/*.csv' --dry-run
        headway import 'log-*.csv' --output logs.sqlite --table log
        headway import vbb-2020 vbb.sqlite --trace trace.html

      EXIT CODES:
        0    all rows are in the database, or --allow-rejected-rows was used
        3    some rows were rejected, and all other rows are in the database
        64   a usage error
        65   a file or a table is unsuitable, or no row of a file could be imported
        66   a file does not exist or cannot be read
        68   a server cannot be found
        69   a server cannot be reached or refuses the request
        70   an error in headway itself
        73   the database, the file of rejected rows or the trace cannot be created
        74   reading or writing failed, for example because the disk is full
        75   another program has locked the database
        76   a server does not follow HTTP, or its content can't be decompressed
        130  SIGINT stopped the import; 129 and 143 are the codes for SIGHUP and SIGTERM

      After an error or a signal, committed batches stay in the table. With --replace, or if no batch was \
      committed, the table does not change. The same command completes the import.
      """)

  @Argument(
    help: "The files to import; without --output, the last argument is the database.", completion: .file())
  var source: [String] = []

  @Option(
    name: .shortAndLong,
    help: ArgumentHelp("The database file, created if needed.", valueName: "database"), completion: .file())
  var output: String?

  @Flag(
    help: """
      Print the CREATE TABLE statements, based on the beginning of each file, without importing anything. This needs \
      no database. If you specify one, its existing tables are shown.
      """)
  var dryRun = false

  @Option(
    help: ArgumentHelp(
      "A file of the feed to leave out, such as shapes.txt. This option can be repeated.", valueName: "file"))
  var without: [String] = []

  @Option(
    help: ArgumentHelp(
      "A prefix for the name of each table, to keep several feeds in one database.", valueName: "text"))
  var tablePrefix = ""

  // Unconditional, so that a negative number is accepted as a value.
  @Option(parsing: .unconditional, help: ArgumentHelp("How many rows to commit together.", valueName: "rows"))
  var batchSize = 250

  @Flag(help: "Add the rows to the rows that the table already has.")
  var append = false

  @Flag(help: "Add only rows whose key is not in the table yet, and ignore the other rows. The table needs a key.")
  var ignore = false

  @Flag(
    help: "Replace the existing rows of each table, in one transaction at the end of its import.")
  var replace = false

  @Flag(help: "With --append, add all rows of a file, even if an earlier import of the file ended early.")
  var fromStart = false

  #if Jobs
  @Flag(
    help: """
      Import each file as a durable job. If the process ends at any moment, the same command imports only the files \
      that are not in the database yet. Not with --append or --ignore.
      """)
  var durable = false
  #endif

  @Flag(help: "Exit with 0 even if rows were rejected, or no row of a file could be imported.")
  var allowRejectedRows = false

  @Flag(help: "Add the columns of a file that the table lacks, even to a table that no import has created.")
  var addColumns = false

  @Flag(help: "Stop at the first malformed row.")
  var strict = false

  @Option(
    help: ArgumentHelp(
      "The events that a committed batch survives: a crash of the process (normal), or also a power failure (full).",
      valueName: "normal or full"))
  var durability = Durability.normal

  @Option(help: ArgumentHelp("How long to wait while another program has locked the database.", valueName: "seconds"))
  var busyTimeout = 10

  @OptionGroup(title: "Format of the file")
  var fileOptions: FileOptions

  @Option(
    help: ArgumentHelp(
      """
      For CSV files: one table for all files. Without --table, --key and --column-type, a file that has the name of a \
      GTFS file is imported into the GTFS table, with its key and types, and any other file into a table of its name.
      """, valueName: "name"))
  var table: String?

  @Option(
    help: ArgumentHelp(
      "For CSV files: a column of the key, which identifies a row. This option can be repeated.",
      valueName: "column"))
  var key: [String] = []

  @Option(
    help: ArgumentHelp(
      "For CSV files: the type of a column, as NAME:text, NAME:integer, NAME:real or NAME:numeric.",
      valueName: "name:type"))
  var columnType: [String] = []

  @OptionGroup
  var runOptions: RunOptions<Texts>

  enum Texts: RunOptionTexts {
    static var quiet: ArgumentHelp {
      """
      Print only errors and, after an import, one line each about rejected rows, removed rows, added columns and \
      changed values.
      """
    }
  }

  @Option(
    help: ArgumentHelp(
      "Show the last rows of this table while they arrive; only with --progress bars.", valueName: "table"))
  var watch: String?

  @Option(
    help: ArgumentHelp(
      """
      Record what each operation and thread does, and write it to this file, even if the import fails: as a timeline \
      (.svg), as a page to zoom and search (.html), for Perfetto (.json), or as a graph (.dot, .mmd). Also print the \
      critical path. This option can be repeated.
      """, valueName: "file"), completion: .file())
  var trace: [String] = []

  func validate() throws {
    for path in trace { try validate(trace: path) }
    guard batchSize > 0 else { throw ValidationError("--batch-size \(batchSize): use 1 or more.") }
    guard busyTimeout >= 0 else { throw ValidationError("--busy-timeout \(busyTimeout): use 0 or more.") }
    if dryRun, runOptions.progress != nil || watch != nil {
      throw ValidationError("--dry-run prints statements: use it without --progress and --watch.")
    }
    if table?.isEmpty == true { throw ValidationError("--table '': name the table.") }
    let policies = [("--append", append), ("--ignore", ignore), ("--replace", replace)].filter(\.1).map(\.0)
    guard policies.count < 2 else {
      throw ValidationError("\(policies.joined(separator: " and ")): use one of them.")
    }
    #if Jobs
    guard !durable || !ignore else { throw ValidationError("--durable and --ignore: use one of them.") }
    guard !durable || !append else {
      throw ValidationError("--durable and --append: use one of them. --append completes an append that ended early.")
    }
    guard !durable || !dryRun else { throw ValidationError("--dry-run imports nothing: use it without --durable.") }
    #endif
    guard append || !fromStart else { throw ValidationError("--from-start is for --append.") }
    if runOptions.quiet, watch != nil { throw ValidationError("--quiet and --watch: use one of them.") }
    if watch != nil, runOptions.progress == ProgressStyle.none {
      throw ValidationError("--watch and --progress none: use one of them.")
    }
    _ = try columnTypes()
  }

  private func validate(trace: String) throws {
    _ = try ImportTrace.Format(ofFile: trace)
    guard !dryRun else { throw ValidationError("--dry-run imports nothing: use it without --trace.") }
    guard !named.contains(trace), database != trace else {
      throw ValidationError("--trace '\(trace)': the trace would replace a file of the import.")
    }
  }

  func run() async throws { try await runOptions.reportingErrors { try await importAll() } }
}
#endif
