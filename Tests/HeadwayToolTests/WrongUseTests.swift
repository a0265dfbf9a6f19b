#if SQLite
import HeadwayTestSupport
import Testing

@Suite("Usage errors of the tool", .hangLimit)
struct WrongUseTests {
  private let folder: TemporaryFolder

  init() throws {
    folder = try TemporaryFolder()
    try folder.write("a,b\n1,2\n", to: "x.csv")
    try folder.writeSmallFeed(to: "feed")
  }

  @Test(
    "A usage error exits with 64 and one line that describes the error",
    arguments: [
      (["import"], "<source>"),
      (["import", "x.csv"], "<database>"),
      (["import", "x.csv", "db", "more"], "use --output DATABASE"),
      (["import", "x.csv", "db", "--trace", "t.txt"], "--trace 't.txt': use a file that ends with .json, .svg"),
      (["import", "x.csv", "db", "--trace", "svg"], "--trace 'svg': use a file that ends with"),
      (["import", "x.csv", "db", "--trace", ""], "--trace '': use a file that ends with"),
      (["import", "x.csv", "t.svg", "--trace", "t.svg"], "the trace would replace a file of the import"),
      (["import", "x.csv", "--dry-run", "--trace", "t.svg"], "use it without --trace"),
      (["import", "x.csv", "db", "--batch-size", "0"], "--batch-size 0: use 1 or more"),
      (["import", "x.csv", "db", "--batch-size", "-5"], "--batch-size -5: use 1 or more"),
      (["import", "x.csv", "db", "--batch-size", "many"], "many"),
      (["import", "x.csv", "db", "--jobs", "0"], "--jobs 0: use 1 or more"),
      (["import", "x.csv", "db", "--delimiter", "::"], "--delimiter '::'"),
      (["import", "x.csv", "db", "--delimiter", ""], "--delimiter ''"),
      (["import", "x.csv", "db", "--delimiter", "ü"], "--delimiter 'ü'"),
      (["import", "x.csv", "db", "--delimiter", "\""], "--delimiter '\"'"),
      (["import", "x.csv", "db", "--delimiter", "\n"], "--delimiter '"),
      (["import", "x.csv", "db", "--quote", "\r"], "--quote '"),
      (["import", "x.csv", "db", "--column-type", "a:date"], "--column-type a:date"),
      (["import", "x.csv", "db", "--column-type", "integer"], "--column-type integer"),
      (["import", "x.csv", "db", "--column-type", ":integer"], "--column-type :integer"),
      (["import", "x.csv", "db", "--progress", "loud"], "'bars', 'plain', 'json' or 'none'"),
      (["import", "x.csv", "db", "--busy-timeout=-1"], "--busy-timeout -1: use 0 or more"),
      (["import", "x.csv", "db", "--durability", "none"], "'normal' and 'full'"),
      (["import", "x.csv", "db", "--encoding", "klingon"], "--encoding klingon: no such encoding"),
      (["import", "x.csv", "db", "--watch", "y"], "--watch: The import has no table “y”. The only one is x."),
      (["import", "feed", "db", "--watch", "y"], "no table “y”. Its tables are agency, "),
      (["import", "x.csv", "db", "--watch", "x", "--progress", "none"], "--watch and --progress none: use one"),
      (["import", "x.csv", "db", "--decimal", ";"], "--decimal ';': use a point or a comma"),
      (["import", "x.csv", "db", "--columns", ""], "--columns '': use names with one comma"),
      (["export", "db", "x", "--columns", "a,,b"], "--columns 'a,,b': use names with one comma"),
      (["export", "db", "x", "--columns", ""], "--columns '': use names with one comma"),
      (["import", "x.csv", "db", "--quiet", "--progress", "json"], "--quiet and --progress: use one"),
      (["import", "x.csv", "db", "--quiet", "--watch", "x"], "--quiet and --watch: use one"),
      (["import", "x.csv", "db", "--table", ""], "--table '': name the table."),
      (["import", "-", "db"], "Standard input has no name: use --table"),
      (["import", "feed", "db", "--table", "x"], "feed is a feed"),
      (["import", "feed", "db", "--key", "x"], "feed is a feed"),
      (["import", "feed", "db", "--column-type", "x:text"], "feed is a feed"),
      (["import", "feed", "db", "--no-header"], "feed is a feed"),
      (["import", "feed", "x.csv", "--output", "db"], "import each with a separate command"),
      (["import", "x.csv", "./x.csv", "--output", "db"], "would both be the table x: use --table x"),
      (["import", "x.csv", "db", "--delimeter", ";"], "'--delimiter'?"),
      (["frobnicate"], "There is no command 'frobnicate'. The commands are import, check, export, sample, "),
      (["impotr", "x.csv", "db"], "There is no command 'impotr'. Did you mean 'import'?"),
      (["help", "impotr"], "There is no command 'impotr'. Did you mean 'import'?"),
      (["help", "frobnicate"], "There is no command 'frobnicate'. The commands are import, check, export, sample, "),
      (["samples", "feed"], "Did you mean 'sample'?"),
      (["Import", "x.csv", "db"], "Did you mean 'import'?"),
      (["imp", "x.csv", "db"], "Did you mean 'import'?"),
      (["sample", "feed", "--stop-time", "10"], "Did you mean '--stop-times'?"),
      (["import", "x.csv", "db", "--job", "2"], "Did you mean '--jobs'?"),
      (["sample"], "<folder>"),
      (["sample", "new", "--stop-times", "1"], "--stop-times 1: use 2 or more"),
      (["sample", "new", "--stop-times", "-1"], "--stop-times -1: use 2 or more"),
      (["sample", "new", "--seed", "-1"], "-1"),
    ]) func wrongUse(arguments: [String], reason: String) async throws
  {
    let run = try await Tool.run(arguments, in: folder)
    #expect(run.status == 64)
    #expect(run.output.isEmpty)
    #expect(run.errors.count == 1)
    #expect(run.errors.first?.hasPrefix("headway: ") == true)
    #expect(run.errors.first?.contains(reason) == true)
    #expect(run.errors.first?.contains(/See 'headway( \w+)? --help'/) == true)
    if arguments[0] == "import" {
      #expect(run.errors.first?.contains("See 'headway import --help'") == true, "The help of that command.")
    }
    #expect(!folder.has("db") && !folder.has("new"), "Nothing was begun.")
  }
}
#endif
