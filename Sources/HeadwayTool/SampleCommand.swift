#if SQLite
import ArgumentParser
import HeadwayImport
import HeadwaySampleData

struct SampleCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "sample",
    abstract: "Generate a realistic GTFS feed from a seed.",
    discussion: """
      The same seed and the same number of stop times produce the same bytes on every machine.

      EXAMPLES:
        headway sample feed
        headway sample feed --stop-times 3000000
        headway sample feed --stop-times 10000 --seed 7 --crlf --force

      EXIT CODES:
        0    the feed was written
        64   a usage error
        73   the folder or a file cannot be created, or a file exists and --force is not given
        74   writing failed, for example because the disk is full
      """)

  @Argument(help: "The folder for the feed, created if needed.", completion: .directory)
  var folder: String

  // Unconditional, so that a negative number is accepted as a value.
  @Option(
    parsing: .unconditional,
    help: ArgumentHelp(
      "The number of rows in stop_times.txt, which also determines the sizes of the other files.", valueName: "rows"))
  var stopTimes = 100_000

  @Option(parsing: .unconditional, help: ArgumentHelp("The seed of all random choices.", valueName: "number"))
  var seed: UInt64 = 1

  @Flag(name: .customLong("crlf"), help: "End lines with CR and LF.")
  var isCRLF = false

  @Flag(help: "Replace the files of an existing feed.")
  var force = false

  func validate() throws {
    guard stopTimes >= 2 else {
      throw ValidationError("--stop-times \(stopTimes): use 2 or more, because a trip has at least two stops.")
    }
  }

  func run() async throws {
    do {
      try SampleFeed(stopTimes: stopTimes, seed: seed, lineEnding: isCRLF ? .crlf : .lf)
        .write(to: folder, replacesFiles: force)
      StandardStream.output.writeLine("Wrote \(folder): a feed with \(stopTimes) stop times, seed \(seed).")
    } catch {
      if error.code == .fileExists {
        ToolExit.say("\(ToolExit.description(of: error)) Use --force to replace all files of the feed.")
        throw ExitCode(ToolExit.cannotCreate.rawValue)
      }
      throw ToolExit.report(error)
    }
  }
}
#endif
