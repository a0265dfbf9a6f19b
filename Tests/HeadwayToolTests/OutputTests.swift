#if SQLite
  import Foundation
  import Testing

  @Suite("What the tool prints, where that is not possible", .hangLimit)
  struct OutputTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func run(_ arguments: [String], redirected redirection: String) async throws -> Tool.Run {
      let launcher = ["/bin/sh", "-c", "exec \"$@\" \(redirection)", "sh"]
      return try await Tool(arguments, in: folder, launcher: launcher).finish()
    }

    @Test("A full disk is said in one line, with exit code 74") func fullDisk() async throws {
      try #require(FileManager.default.fileExists(atPath: "/dev/full"))
      try folder.write("a,b\n1,2\n", to: "x.csv")
      var commands = [["import", "x.csv", "db", "--progress", "json"]]
      #if Lab
        commands.append(["lab", "--terminal", "background"])
      #endif
      for command in commands {
        let run = try await run(command, redirected: ">/dev/full")
        #expect(run.status == 74)
        #expect(run.errors == ["headway: standard output: No space left on device"])
      }
    }

    @Test("A standard output that is closed is said in one line, with exit code 74") func closed() async throws {
      try folder.write("a,b\n1,2\n", to: "x.csv")
      let run = try await run(["import", "x.csv", "db", "--progress", "json"], redirected: ">&-")
      #expect(run.status == 74)
      #expect(run.errors == ["headway: standard output: Bad file descriptor"])
    }

    #if Lab
      @Test("Where the lab can't listen, it says so in one line, with exit code 69") func listening() async throws {
        let run = try await Tool.run("lab", "--listen", "192.0.2.1", "--port", "0", in: folder)
        #expect(run.status == 69)
        #expect(run.errors == ["headway: Can't listen on 192.0.2.1:0: Cannot assign requested address."])
      }

      @Test("A feed for the lab that is not there exits with 66") func missingFeed() async throws {
        let run = try await Tool.run("lab", "--port", "0", "--feed", "nothing", in: folder)
        #expect(run.status == 66)
        #expect(run.errors == ["headway: nothing: There is no such folder."])
      }
    #endif
  }
#endif
