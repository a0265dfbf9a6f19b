import Foundation
import Headway
import HeadwayCSV
import HeadwayTestSupport
import Testing

@Suite(.hangLimit) struct ReaderCancellationTests {
  private static let rowCount = 100_000

  private func reader(
    _ folder: TemporaryFolder, rowCount: Int = rowCount, queue: Headway.OperationQueue? = nil
  ) throws -> CSVReader {
    let text = "id,name\n" + (1...rowCount).map { "\($0),row \($0)\n" }.joined()
    return CSVReader(path: try folder.write(text.utf8), queue: queue)
  }

  @Test(
    "I3: in a cancelled task, the next call throws CancellationError, later calls return nil, and nothing is read",
    arguments: [
      // Rows that have been read remain.
      (rowCount, 10),
      // Further rows would have to be read.
      (3, 3),
    ])
  func rows(rowCount: Int, wanted: Int) async throws {
    let folder = try TemporaryFolder()
    let queue = Headway.OperationQueue()
    let reader = try reader(folder, rowCount: rowCount, queue: queue)
    let (path, size) = (reader.path, try folder.bytes(of: "file").count)
    let task = Task {
      var rows = reader.rows.makeAsyncIterator()
      for number in 1...wanted {
        let row = try await rows.next()
        #expect(row?.rowNumber == number)
      }
      #expect((rows.bytesRead < size / 2) == (rowCount > wanted))
      try await queue.untilAllOperationsAreFinished()
      // A read that is requested from here on stays in the queue.
      queue.isSuspended = true
      withUnsafeCurrentTask { $0?.cancel() }
      await #expect(throws: CancellationError.self) { try await rows.next() }
      let last = try await rows.next()
      #expect(last == nil)
      #expect(queue.operationCount == 0)
      #if os(Linux)
      #expect(!isOpen(path))
      #endif
    }
    try await task.value
  }

  @Test("I3: cancelling a task ends its loop over values immediately") func values() async throws {
    struct Row: Decodable { var id: Int }
    let folder = try TemporaryFolder()
    let reader = try reader(folder)
    let task = Task {
      var (last, error) = (0, (any Error)?.none)
      do {
        for try await row in reader.rows(as: Row.self) {
          last = row.id
          if last == 7_000 { withUnsafeCurrentTask { $0?.cancel() } }
        }
      } catch let caught {
        error = caught
      }
      #expect(error is CancellationError)
      return last
    }
    #expect(await task.value == 7_000)
  }

  #if os(Linux)
  /// Whether this process has a file open.
  private func isOpen(_ path: String) -> Bool {
    let (files, descriptors) = (FileManager.default, "/proc/self/fd")
    let names = (try? files.contentsOfDirectory(atPath: descriptors)) ?? []
    return names.contains { (try? files.destinationOfSymbolicLink(atPath: "\(descriptors)/\($0)")) == path }
  }

  @Test("I3: a read operation that waits for the writer of a FIFO ends when the task is cancelled")
  func missingWriter() async throws {
    let folder = try TemporaryFolder()
    let path = folder.path + "/fifo"
    try #require(mkfifo(path, 0o600) == 0)
    let queue = Headway.OperationQueue()
    let reader = CSVReader(path: path, queue: queue)
    let task = Task {
      for try await _ in reader.rows { Issue.record("A row was delivered.") }
    }
    await until { isOpen(path) }
    task.cancel()
    await #expect(throws: CancellationError.self) { try await task.value }
    try await queue.untilAllOperationsAreFinished()
  }
  #endif

  @Test("I3: a task that waits for a silent pipe is cancelled immediately") func blocked() async throws {
    let folder = try TemporaryFolder()
    let path = folder.path + "/fifo"
    try #require(mkfifo(path, 0o600) == 0)
    let reader = CSVReader(path: path, options: .init(dialect: CSVDialect(), encoding: .utf8))
    let task = Task {
      var rows = reader.rows.makeAsyncIterator()
      return try await rows.next()?.fields
    }
    let writer = await onThread { openForWriting(path) }
    #expect(writer >= 0)
    task.cancel()
    await #expect(throws: CancellationError.self) { try await task.value }
    closeDescriptor(writer)
  }

  @Test("I3: rows of a pipe are delivered as they arrive, if nothing has to be detected") func pipe() async throws {
    let folder = try TemporaryFolder()
    let path = folder.path + "/fifo"
    try #require(mkfifo(path, 0o600) == 0)
    let reader = CSVReader(path: path, options: .init(dialect: CSVDialect(), encoding: .utf8))
    let (seen, continuation) = AsyncStream.makeStream(of: [String].self)
    let task = Task {
      for try await row in reader.rows { continuation.yield(try row.fields) }
      continuation.finish()
    }
    let descriptor = await onThread { openForWriting(path) }
    let writer = CSVWriter(fileDescriptor: descriptor, columns: ["id"])
    try writer.write(fields: 1)
    try writer.finish()
    // The writer sends nothing more and keeps the pipe open until the row has arrived.
    var rows = seen.makeAsyncIterator()
    #expect(await rows.next() == ["1"])
    closeDescriptor(descriptor)
    #expect(await rows.next() == nil)
    try await task.value
  }
}
