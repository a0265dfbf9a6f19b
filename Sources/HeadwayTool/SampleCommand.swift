#if SQLite
  import ArgumentParser
  import HeadwayImport

  struct SampleCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "sample",
      abstract: "Write a GTFS feed that looks real, from a seed.",
      discussion: """
        The same numbers give the same bytes on every machine.

        EXAMPLES:
          headway sample feed
          headway sample feed --stop-times 3000000
          headway sample feed --stop-times 10000 --seed 7 --crlf
        """)

    @Argument(help: "The folder to write, made if it is not there.", completion: .directory)
    var folder: String

    @Option(help: "How many rows stop_times.txt gets; the other files follow from it.")
    var stopTimes = 100_000

    @Option(help: "The seed of everything random.")
    var seed: UInt64 = 1

    @Flag(name: .customLong("crlf"), help: "End lines with CR and LF.")
    var isCRLF = false

    func run() async throws {
      do {
        try SampleFeed(stopTimes: stopTimes, seed: seed, lineEnd: isCRLF ? .crlf : .lf).write(to: folder)
      } catch where error.code == .tooFewStopTimes {
        throw ValidationError("--stop-times \(stopTimes): a trip has two stops at least.")
      } catch {
        throw ToolExit.report(error)
      }
    }
  }
#endif
