import Headway
import HeadwayLines
import HeadwayTestKit
import HeadwayTestSupport
import Synchronization
import Testing

@Suite(.hangLimit) struct FormTests {
  @Test("L5: all forms deliver the same lines", arguments: Form.allCases)
  func agree(form: Form) async throws {
    let folder = try TemporaryFolder()
    var random = SeededGenerator(seed: 7)
    let bytes = (0..<60_000).map { _ in
      random.next() % 23 == 0 ? UInt8(ascii: "\n") : UInt8(ascii: "a") + UInt8(random.next() % 26)
    }
    var expected = referenceLines(bytes, .lfOrCRLF)
    if form == .lines { for position in expected.indices { expected[position].byteOffset = -1 } }
    let reading = await form.read(LineReader(path: try folder.write(bytes), options: .init(chunkSize: 4_096)))
    #expect(reading.error == nil)
    #expect(reading.lines == expected)
  }

  @Test("L5: a reader can be used repeatedly and concurrently")
  func reuse() async throws {
    let folder = try TemporaryFolder()
    let reader = LineReader(path: try folder.write(String(repeating: "line\n", count: 5_000).utf8))
    await withTaskGroup(of: Int.self) { group in
      for form in Form.allCases + Form.allCases { group.addTask { await form.read(reader).lines.count } }
      for await count in group { #expect(count == 5_000) }
    }
  }

  @Test("L5: the synchronous forms stop when requested, and the closure's error is rethrown")
  func stopping() throws {
    struct Enough: Error {}
    let folder = try TemporaryFolder()
    let path = try folder.write(String(repeating: "line\n", count: 5_000).utf8)
    let reader = LineReader(path: path, options: .init(chunkSize: 4_096))
    var (lines, batches) = (0, 0)
    try reader.forEachLine { line, stop in
      lines += 1
      stop = line.number == 1_000
    }
    #expect(lines == 1_000)
    try reader.forEachBatch { batch, stop in
      batches += 1
      stop = true
    }
    #expect(batches == 1)
    #expect(throws: Enough.self) {
      try reader.forEachLine { line in
        lines += 1
        if line.number == 10 { throw Enough() }
      }
    }
    #expect(lines == 1_010)
  }

  @Test("L5: an iterator returns nil after the end and after an error")
  func afterTheEnd() async throws {
    let folder = try TemporaryFolder()
    var lines = LineReader(path: try folder.write("a\n".utf8)).lines.makeAsyncIterator()
    #expect(try await lines.next() == "a")
    #expect(try await lines.next() == nil)
    #expect(try await lines.next() == nil)
    var batches = LineReader(path: folder.path + "/none").batches.makeAsyncIterator()
    await #expect(throws: LineReaderError.self) { try await batches.next() }
    #expect(try await batches.next() == nil)
  }

  @Test("L5: the callback form passes an error of its closure to the completion handler")
  func throwingCallback() async throws {
    struct Enough: Error {}
    let folder = try TemporaryFolder()
    let reader = LineReader(path: try folder.write("a\nb\nc\n".utf8))
    let result = await withCheckedContinuation { continuation in
      reader.enumerateLines { line in
        if line.number == 2 { throw Enough() }
        #expect(line.number == 1)
      } completion: {
        continuation.resume(returning: $0)
      }
    }
    #expect(throws: Enough.self) { try result.get() }
  }

  @Test("L5: the completion handler is called before the operation has finished")
  func completionBeforeFinish() async throws {
    let folder = try TemporaryFolder()
    let path = try folder.write("a\nb\n".utf8)
    let count = await onThread {
      let completed = Completed()
      LineReader(path: path).enumerateLines(on: OperationQueue()) { _ in
      } completion: { result in
        completed.count.store((try? result.get()) ?? -1, ordering: .relaxed)
      }.waitUntilFinished()
      return completed.count.load(ordering: .relaxed)
    }
    #expect(count == 2)
  }

  private final class Completed: Sendable {
    let count = Atomic<Int>(-2)
  }

  @Test("L5: lines of a FIFO arrive when they are written, and an incomplete last line when the FIFO is closed")
  func fifo() async throws {
    let folder = try TemporaryFolder()
    let pipe = try folder.fifo()
    let (seen, sink) = AsyncStream<String>.makeStream()
    let task = Task {
      for try await line in LineReader(path: pipe).lines { sink.yield(line) }
      sink.finish()
    }
    let writer = await onThread { FIFOWriter(pipe) }
    var lines = seen.makeAsyncIterator()
    writer.write("one\ntwo\nthr")
    #expect(await lines.next() == "one")
    #expect(await lines.next() == "two")
    writer.write("ee\nlast")
    #expect(await lines.next() == "three")
    writer.close()
    #expect(await lines.next() == "last")
    #expect(await lines.next() == nil)
    try await task.value
  }
}
