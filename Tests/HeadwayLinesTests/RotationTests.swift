import Foundation
import HeadwayLines
import HeadwayTestKit
import HeadwayTestSupport
import Testing

@Suite("Lines: following a file that is replaced", .hangLimit) struct RotationTests {
  private let folder: TemporaryFolder
  private var path: String { folder.path + "/log" }

  init() throws { folder = try TemporaryFolder() }

  private func rename(_ old: String, _ new: String) throws {
    try FileManager.default.moveItem(atPath: "\(folder.path)/\(old)", toPath: "\(folder.path)/\(new)")
  }

  @Test("L7: after a rotation, the rest of the old file is read, and then the new file from its start")
  func rotation() async throws {
    let follower = Follower(try folder.write("old 1\n", to: "log"), from: .end)
    await follower.untilWaiting()
    try append("old 2\n", to: path)
    try rename("log", "log.1")
    try append("old 3\n", to: "\(folder.path)/log.1")
    try append("new 1\n", to: path)
    await follower.check()
    #expect(follower.texts == ["old 2", "old 3"])
    // The writer of the old file has not opened the new one yet.
    try append("old 4\nold 5", to: "\(folder.path)/log.1")
    await follower.check()
    #expect(follower.texts == ["old 2", "old 3", "old 4", "old 5", "new 1"])
    #expect(follower.lines.map(\.number) == [1, 2, 3, 4, 1])
    #expect(follower.lines.map(\.byteOffset) == [6, 12, 18, 24, 0])
    try append("old 6\n", to: "\(folder.path)/log.1")
    try append("new 2\n", to: path)
    await follower.check(times: 3)
    #expect(follower.texts.last == "new 2" && !follower.texts.contains("old 6"))
    #if os(Linux)
    #expect(try descriptorCount(of: "\(folder.path)/log.1") == 0)
    #endif
  }

  @Test("L7: a new file is read even while the old file is still being written") func busyOldFile() async throws {
    let follower = Follower(try folder.write("old\n", to: "log"))
    await follower.untilWaiting()
    try rename("log", "log.1")
    try folder.write("new\n", to: "log")
    for _ in 1...2 {
      try append("old\n", to: "\(folder.path)/log.1")
      await follower.check()
    }
    #expect(follower.texts.last == "new")
  }

  @Test("L7: until a new file appears at the path, the old file is followed; the new file is read from its start")
  func missingForAWhile() async throws {
    let follower = Follower(try folder.write("old 1\n", to: "log"), from: .end)
    await follower.untilWaiting()
    try rename("log", "log.1")
    await follower.check(times: 3)
    try append("old 2\n", to: "\(folder.path)/log.1")
    await follower.check(times: 3)
    #expect(follower.texts == ["old 2"])
    try FileManager.default.removeItem(atPath: "\(folder.path)/log.1")
    await follower.check(times: 3)
    try folder.write("new 1\n", to: "log")
    await follower.check(times: 3)
    #expect(follower.texts == ["old 2", "new 1"])
  }

  @Test("L7: a file that moves back to its path is still the same file") func movedBack() async throws {
    let follower = Follower(try folder.write("1\n", to: "log"))
    await follower.untilWaiting()
    try rename("log", "other")
    try folder.write("x\n", to: "log")
    await follower.check()
    try folder.remove("log")
    try rename("other", "log")
    try append("2\n", to: path)
    await follower.check(times: 3)
    #expect(follower.texts == ["1", "2"])
  }

  @Test("L7: a file that is gone when it should be opened is waited for") func vanished() async throws {
    let follower = Follower(try folder.write("old\n", to: "log"))
    await follower.untilWaiting()
    try rename("log", "log.1")
    try folder.write("never read\n", to: "log")
    await follower.check()
    // The old file ends only if another file exists at the second check. Therefore, this is a directory, which is
    // rejected only at the second attempt to open it.
    try folder.remove("log")
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
    await follower.check()
    try folder.remove("log")
    await follower.check(times: 3)
    try folder.write("new\n", to: "log")
    await follower.check()
    #expect(follower.texts == ["old", "new"])
  }

  @Test("L7: following fails if the file can't be opened at two checks") func directory() async throws {
    let follower = Follower(try folder.write("old\n", to: "log"))
    await follower.untilWaiting()
    try rename("log", "log.1")
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
    await follower.check(times: 2)
    follower.clock.advance(by: Follower.interval)
    #expect((await follower.error() as? LineReaderError)?.code == .isDirectory)
    #expect(follower.texts == ["old"])
  }

  @Test("L7: after a truncation, the file is read again from its start; a line that was not complete is delivered")
  func truncation() async throws {
    let follower = Follower(try folder.write("old 1\nold", to: "log"))
    await follower.untilWaiting()
    try #require(truncate(path, 0) == 0)
    try append("new 1\n", to: path)
    await follower.check()
    #expect(follower.texts == ["old 1", "old", "new 1"])
    #expect(follower.lines.map(\.number) == [1, 2, 1])
    #expect(follower.lines.map(\.byteOffset) == [0, 6, 0])
    try append("new 2\n", to: path)
    await follower.check()
    #expect(follower.texts.last == "new 2")
    try #require(truncate(path, 6) == 0)
    await follower.check(times: 3)
    #expect(follower.texts == ["old 1", "old", "new 1", "new 2", "new 1"])
  }

  @Test("L7: if a link is replaced by a link to another file, that file is read") func link() async throws {
    let files = FileManager.default
    try folder.write("a\n", to: "first")
    try folder.write("b\n", to: "second")
    try files.createSymbolicLink(atPath: path, withDestinationPath: "first")
    let follower = Follower(path)
    await follower.untilWaiting()
    try files.createSymbolicLink(atPath: "\(folder.path)/next", withDestinationPath: "second")
    try #require(Foundation.rename("\(folder.path)/next", path) == 0)
    await follower.check(times: 3)
    #expect(follower.texts == ["a", "b"])
  }

  @Test("L7: random growth, rotation, truncation, and absence lose and repeat no line")
  func random() async throws {
    for seed in 1...20 as ClosedRange<UInt64> {
      var random = SeededGenerator(seed: seed)
      let folder = try TemporaryFolder()
      let path = folder.path + "/log"
      let follower = Follower(path, mustExist: false, options: .init(chunkSize: 4_096))
      await follower.untilWaiting()
      var (expected, content, isThere): ([String], String, Bool) = ([], "", false)
      /// The lines of the content, and the rest of a line that was not complete.
      func endContent() {
        expected += content.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        if expected.last == "" { expected.removeLast() }
        content = ""
      }
      for step in 0..<60 {
        switch Int.random(in: 0..<10, using: &random) {
        case 0 where isThere:
          try FileManager.default.removeItem(atPath: path)
          endContent()
          isThere = false
        case 1 where isThere:
          let old = "\(folder.path)/log.\(step)"
          try FileManager.default.moveItem(atPath: path, toPath: old)
          try append("late\n", to: old)
          content += "late\n"
          endContent()
          try append("", to: path)
        case 2 where content.utf8.count > 0:
          try #require(truncate(path, 0) == 0)
          endContent()
        default:
          let count = Int.random(in: 0...3_000, using: &random)
          let text = (0..<count).map { _ in Int.random(in: 0..<40, using: &random) == 0 ? "\n" : "x" }.joined()
          try append("\(step)\(text)", to: path)
          content += "\(step)\(text)"
          isThere = true
        }
        await follower.check(times: 3)
      }
      if isThere { try FileManager.default.removeItem(atPath: path) }
      endContent()
      try append("end\n", to: path)
      await follower.check(times: 3)
      #expect(follower.texts == expected + ["end"], "seed \(seed)")
    }
  }
}
