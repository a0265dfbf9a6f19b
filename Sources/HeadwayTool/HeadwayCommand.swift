#if SQLite
  import ArgumentParser

  @main struct HeadwayCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "headway",
      abstract: "Bulk work in the background: operations on queues, with progress and cancellation.",
      version: "0.1.0",
      subcommands: [ImportCommand.self, SampleCommand.self])
  }
#else
  @main struct HeadwayCommand {
    static func main() {
      print("This build of headway has no commands. Build it with: swift build -c release --traits SQLite")
    }
  }
#endif
