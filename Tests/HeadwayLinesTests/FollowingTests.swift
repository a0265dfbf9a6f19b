import Foundation
import Headway
import HeadwayLines
import HeadwayTestKit
import HeadwayTestSupport
import Testing

@Suite("Lines: following a file", .hangLimit) struct FollowingTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  @Test("L7: lines that are added are delivered, each when its line end has been written") func growth() async throws {
    let follower = Follower(try folder.write("one\ntw", to: "log"))
    await follower.untilWaiting()
    #expect(follower.texts == ["one"])
    try append("o\r", to: follower.path)
    await follower.check()
    #expect(follower.texts == ["one"])
    try append("\nthree\n\nfo", to: follower.path)
    await follower.check()
    #expect(follower.texts == ["one", "two", "three", ""])
    #expect(follower.lines.map(\.number) == [1, 2, 3, 4])
    #expect(follower.lines.map(\.byteOffset) == [0, 4, 9, 15])
    await follower.check(times: 3)
    #expect(follower.texts.count == 4)
  }

  @Test("L7: a line that grows over many checks and chunks is one line") func longLine() async throws {
    let follower = Follower(try folder.write("", to: "log"), options: .init(chunkSize: 4_096))
    for letter in "abcdefgh".utf8 {
      try append(repeatElement(letter, count: 3_000), to: follower.path)
      await follower.check()
      #expect(follower.lines.isEmpty)
    }
    try append("\n", to: follower.path)
    await follower.check()
    #expect(follower.lines.map(\.bytes.count) == [24_000])
  }

  @Test("L7: with any line end, a CR at the end of the file waits for the next byte") func carriageReturn() async throws
  {
    let follower = Follower(try folder.write("one\r", to: "log"), options: .init(lineEnding: .any))
    await follower.untilWaiting()
    #expect(follower.lines.isEmpty)
    try append("\ntwo\r", to: follower.path)
    await follower.check()
    #expect(follower.texts == ["one"])
    try append("x", to: follower.path)
    await follower.check()
    #expect(follower.texts == ["one", "two"])
  }

  @Test("L7: the last lines are found, and a line that is being written is delivered when it is complete")
  func lastLines() async throws {
    let path = try folder.write("1\n2\n3\n4\npart", to: "log")
    let starts: [(LineReader.StartPosition, [String])] = [
      (.beginning, ["1", "2", "3", "4"]), (.end, []), (.lastLines(0), []), (.lastLines(2), ["3", "4"]),
      (.lastLines(4), ["1", "2", "3", "4"]), (.lastLines(.max), ["1", "2", "3", "4"]),
    ]
    let followers = starts.map { Follower(path, from: $0.0) }
    for (follower, (_, expected)) in zip(followers, starts) {
      await follower.untilWaiting()
      #expect(follower.texts == expected)
    }
    try append(" 5\n6\n", to: path)
    for (follower, (_, expected)) in zip(followers, starts) {
      await follower.check()
      #expect(follower.texts == expected + ["part 5", "6"])
      #expect(follower.lines.map(\.number) == Array(1...follower.lines.count))
      #expect(follower.lines.last?.byteOffset == 15)
    }
  }

  @Test(
    "L7: with each kind of line ending, the last lines are the same as when the whole file is read",
    arguments: [LineReader.Options.LineEnding.lf, .lfOrCRLF, .any])
  func lastLinesOfRandomFiles(lineEnding: LineReader.Options.LineEnding) async throws {
    var random = SeededGenerator(seed: 11)
    // Some are larger than the part that is read at a time.
    for length in [0, 1, 2, 3, 10, 100, 65_535, 65_536, 65_537, 200_000] {
      let rare = length > 1_000 ? 5_000 : 3
      let bytes = (0..<length).map { _ -> UInt8 in
        [0x0A, 0x0D].randomElement(using: &random).flatMap { Int.random(in: 0..<rare, using: &random) == 0 ? $0 : nil }
          ?? 0x61
      }
      let path = try folder.write(bytes, to: "log")
      var complete = referenceLines(bytes, lineEnding)
      let isPending = lineEnding == .any && bytes.last == 0x0D
      if let last = bytes.last, isPending || last != 0x0A && !(lineEnding == .any && last == 0x0D) {
        complete.removeLast()
      }
      for count in [0, 1, 2, 5, 30] {
        let follower = Follower(path, from: .lastLines(count), options: .init(lineEnding: lineEnding))
        await follower.untilWaiting()
        let expected = complete.suffix(count)
        #expect(follower.lines.map(\.bytes) == expected.map(\.bytes), "\(length) bytes, \(count) lines")
        #expect(follower.lines.map(\.byteOffset) == expected.map(\.byteOffset))
      }
    }
  }

  @Test("L7: a byte order mark is omitted only at the start of a file") func byteOrderMark() async throws {
    let mark = "\u{FEFF}"
    let path = try folder.write("\(mark)one\n\(mark)two\n", to: "log")
    let (whole, last) = (Follower(path), Follower(path, from: .lastLines(1)))
    await whole.untilWaiting()
    await last.untilWaiting()
    #expect(whole.lines.map(\.bytes) == [Array("one".utf8), Array("\(mark)two".utf8)])
    #expect(last.lines.map(\.bytes) == [Array("\(mark)two".utf8)])
  }

  @Test("L7: nothing is read before it is requested, however much the file has grown") func backPressure() async throws
  {
    let path = try folder.write(repeating: Array("1234567\n".utf8), times: 2 * 512)
    let reader = LineReader(following: path, options: .init(chunkSize: 4_096), clock: ManualClock())
    var batches = reader.batches.makeAsyncIterator()
    #expect(try await batches.next()?.count == 512)
    try append("more\n", to: path)
    #expect(batches.bytesRead == 4_096)
    #expect(try await batches.next()?.count == 512)
    #expect(batches.bytesRead == 8_192)
  }

  @Test("L7: readers that wait leave a queue of one operation to other readers") func sharedQueue() async throws {
    let (queue, clock) = (Headway.OperationQueue(maxConcurrentOperationCount: 1), ManualClock())
    let followers = try ["a", "b", "c"].map {
      Follower(try folder.write("\($0)\n", to: $0), queue: queue, clock: clock)
    }
    await clock.waitForSleepers(count: 3)
    for follower in followers { try append("more\n", to: follower.path) }
    #expect(queue.operationCount == 0)
    clock.advance(by: Follower.interval)
    await clock.waitForSleepers(count: 3)
    #expect(followers.map(\.texts) == [["a", "more"], ["b", "more"], ["c", "more"]])
  }

  @Test("L7: following a file can also deliver strings") func strings() async throws {
    let path = try folder.write("one\ntwo\n", to: "log")
    var lines = LineReader(following: path, clock: ManualClock()).lines.makeAsyncIterator()
    #expect(try await lines.next() == "one")
    #expect(try await lines.next() == "two")
  }
}
