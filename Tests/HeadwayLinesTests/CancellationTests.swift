import Headway
import HeadwayLines
import HeadwayTestSupport
import Synchronization
import Testing

@Suite(.hangLimit) struct CancellationTests {
  private let chunk = 4_096

  private func largeFile(_ folder: TemporaryFolder) throws -> String {
    try folder.write(repeating: Array("1234567\n".utf8), times: 20 * 512)
  }

  @Test("L5: in a cancelled task, the next batch throws CancellationError, and nothing more is read")
  func batches() async throws {
    let folder = try TemporaryFolder()
    let reader = LineReader(path: try largeFile(folder), options: .init(chunkSize: chunk))
    let task = Task {
      var batches = reader.batches.makeAsyncIterator()
      let first = try await batches.next()
      #expect(first?.count == 512)
      withUnsafeCurrentTask { $0?.cancel() }
      await #expect(throws: CancellationError.self) { try await batches.next() }
      return batches.bytesRead
    }
    #expect(try await task.value == chunk)
  }

  @Test("L5: in a cancelled task, requesting the next line throws CancellationError, even if the line was already read")
  func lines() async throws {
    let folder = try TemporaryFolder()
    let reader = LineReader(path: try largeFile(folder), options: .init(chunkSize: chunk))
    let task = Task {
      var (seen, error) = (0, (any Error)?.none)
      do {
        for try await _ in reader.lines {
          seen += 1
          if seen == 700 { withUnsafeCurrentTask { $0?.cancel() } }
        }
      } catch let caught {
        error = caught
      }
      #expect(error is CancellationError)
      return seen
    }
    #expect(await task.value == 700)
  }

  @Test("L5: cancelling a task that waits for a silent pipe ends it immediately and stops reading")
  func blocked() async throws {
    let folder = try TemporaryFolder()
    let pipe = try folder.fifo()
    let reader = LineReader(path: pipe, options: .init(maxLineLength: 1 << 30, chunkSize: chunk))
    let task = Task {
      var batches = reader.batches.makeAsyncIterator()
      return try await batches.next()?.count
    }
    let writer = await onThread { FIFOWriter(pipe) }
    writer.write("the start of a line")
    task.cancel()
    await #expect(throws: CancellationError.self) { try await task.value }
    // The pipe holds 64 KiB, and the reader would read all 64 MiB of this one line if it had not stopped.
    let tookAll = await onThread {
      let block = String(repeating: "x", count: 64 << 10)
      return (0..<1_024).allSatisfy { _ in writer.write(block) }
    }
    #expect(!tookAll)
    writer.close()
  }

  @Test("L5: after its operation is cancelled, the callback form delivers no further line")
  func callback() async throws {
    let folder = try TemporaryFolder()
    let reader = LineReader(path: try largeFile(folder), options: .init(chunkSize: chunk))
    let seen = Counter()
    let queue = OperationQueue()
    let result = await withCheckedContinuation { continuation in
      reader.enumerateLines(on: queue) { line in
        seen.value.add(1, ordering: .relaxed)
        if line.number == 700 { queue.cancelAllOperations() }
      } completion: {
        continuation.resume(returning: $0)
      }
    }
    #expect(throws: CancellationError.self) { try result.get() }
    #expect(seen.value.load(ordering: .relaxed) == 700)
  }

  @Test("L5: an operation of the callback form that is cancelled before it runs completes once")
  func callbackBeforeStart() async throws {
    let folder = try TemporaryFolder()
    let reader = LineReader(path: try largeFile(folder))
    let queue = OperationQueue()
    queue.isSuspended = true
    let result = await withCheckedContinuation { continuation in
      let operation = reader.enumerateLines(on: queue) { _ in
        Issue.record("A line was delivered.")
      } completion: {
        continuation.resume(returning: $0)
      }
      operation.cancel()
      queue.isSuspended = false
    }
    #expect(throws: CancellationError.self) { try result.get() }
  }

  // The test and the task share the main actor: when the second task has run, the first waits for its batch.
  @Test("L5: cancelling the reading operation in its queue finishes the task that waits for it")
  @MainActor func droppedOperation() async throws {
    let folder = try TemporaryFolder()
    let queue = OperationQueue()
    queue.isSuspended = true
    let reader = LineReader(path: try largeFile(folder), queue: queue)
    let task = Task { @MainActor in
      var batches = reader.batches.makeAsyncIterator()
      return try await batches.next()?.count
    }
    await Task { @MainActor in }.value
    queue.cancelAllOperations()
    queue.isSuspended = false
    await #expect(throws: CancellationError.self) { try await task.value }
  }

  private final class Counter: Sendable {
    let value = Atomic<Int>(0)
  }
}
