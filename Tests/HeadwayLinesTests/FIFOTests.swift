import Foundation
import Headway
import HeadwayLines
import HeadwayTestSupport
import Testing

#if os(Linux)
@Suite("Lines: FIFOs", .hangLimit) struct FIFOTests {
  private let folder: TemporaryFolder
  private let path: String

  init() throws {
    folder = try TemporaryFolder()
    path = try folder.fifo()
  }

  @Test("L8: a read operation that waits for the writer of a FIFO ends when the task is cancelled")
  func opening() async throws {
    let queue = Headway.OperationQueue()
    let reader = LineReader(path: path, queue: queue)
    let task = Task {
      for try await _ in reader.batches { Issue.record("A line was delivered.") }
    }
    await until { (try? descriptorCount(of: path)) == 1 }
    task.cancel()
    await #expect(throws: CancellationError.self) { try await task.value }
    // No writer has come: without the cancellation, the operation would never end.
    try await queue.untilAllOperationsAreFinished()
    await until { (try? descriptorCount(of: path)) == 0 }
  }

  @Test("L8: a read operation that waits for a silent writer ends when the task is cancelled") func silence()
    async throws
  {
    let queue = Headway.OperationQueue()
    let reader = LineReader(path: path, queue: queue)
    let task = Task {
      var batches = reader.batches.makeAsyncIterator()
      let count = try await batches.next()?.count
      #expect(count == 1)
      _ = try await batches.next()
    }
    let writer = await onThread { [path] in FIFOWriter(path) }
    writer.write("one\ntw")
    await until { queue.operationCount == 1 }
    task.cancel()
    await #expect(throws: CancellationError.self) { try await task.value }
    try await queue.untilAllOperationsAreFinished()
    writer.close()
  }

  @Test("L8: the operation of the callback form ends when it is cancelled while it waits for a writer")
  func callback() async throws {
    let queue = Headway.OperationQueue()
    let result = await withCheckedContinuation { continuation in
      let operation = LineReader(path: path).enumerateLines(on: queue) { _ in
        Issue.record("A line was delivered.")
      } completion: {
        continuation.resume(returning: $0)
      }
      Task { [path] in
        await until { (try? descriptorCount(of: path)) == 1 }
        operation.cancel()
      }
    }
    #expect(throws: CancellationError.self) { try result.get() }
    try await queue.untilAllOperationsAreFinished()
  }

  @Test(
    "L8: a reader that opens a FIFO before any writer does not mistake the missing writer for the end of the file",
    arguments: [Form.batches, .lines, .enumerateLines])
  func readerFirst(form: Form) async throws {
    async let result = form.read(LineReader(path: path))
    await until { (try? descriptorCount(of: path)) == 1 }
    let writer = await onThread { [path] in FIFOWriter(path) }
    #expect(writer.write("one\n"))
    #expect(writer.write("two"))
    writer.close()
    #expect(await result.lines.map { String(decoding: $0.bytes, as: UTF8.self) } == ["one", "two"])
  }

  @Test("L8: the synchronous form also waits for the writer of a FIFO") func synchronous() async throws {
    async let lineCount = onThread { [path] in
      var count = 0
      try? LineReader(path: path).forEachLine { _ in count += 1 }
      return count
    }
    await until { (try? descriptorCount(of: path)) == 1 }
    let writer = await onThread { [path] in FIFOWriter(path) }
    writer.write("one\ntwo")
    writer.close()
    #expect(await lineCount == 2)
  }

  @Test("L8: if the writer of a FIFO closes it without writing, the file is empty") func emptyWriter() async throws {
    async let result = Form.batches.read(LineReader(path: path))
    let writer = await onThread { [path] in FIFOWriter(path) }
    writer.close()
    let reading = await result
    #expect(reading.error == nil && reading.lines.isEmpty)
  }

  @Test("L8: a pipe whose writer has already closed it is read to its end") func closedPipe() async throws {
    var ends: [Int32] = [0, 0]
    try #require(pipe(&ends) == 0)
    _ = write(ends[1], "one\ntwo", 7)
    close(ends[1])
    let reading = await Form.lines.read(LineReader(path: "/dev/fd/\(ends[0])"))
    #expect(reading.lines.map { String(decoding: $0.bytes, as: UTF8.self) } == ["one", "two"])
    let again = await Form.lines.read(LineReader(path: "/dev/fd/\(ends[0])"))
    #expect(again.error == nil && again.lines.isEmpty)
    close(ends[0])
  }
}
#endif
