import Headway
import HeadwayLines
import HeadwayTestSupport
import Testing

@Suite(.hangLimit) struct BatchTests {
  private func reader(_ folder: TemporaryFolder, queue: OperationQueue? = nil) throws -> LineReader {
    let text = (1...4_000).map { "line \($0)\n" }.joined()
    return LineReader(path: try folder.write(text.utf8), options: .init(chunkSize: 4_096), queue: queue)
  }

  @Test("L3: a batch provides the numbers and offsets of its lines, by position and in order")
  func contents() async throws {
    let folder = try TemporaryFolder()
    var (number, end) = (1, 0)
    for try await batch in try reader(folder).batches {
      #expect(batch.count > 0)
      #expect(batch.firstLineNumber == number)
      #expect(batch.byteRange.lowerBound == end)
      var position = 0
      batch.forEach { line in
        #expect(batch[position].number == line.number)
        #expect(batch[position].byteOffset == line.byteOffset)
        #expect(batch[position].bytes.elementsEqual(line.bytes))
        position += 1
      }
      #expect(position == batch.count)
      #expect(try batch.string(at: batch.count - 1) == "line \(number + batch.count - 1)")
      number += batch.count
      end = batch.byteRange.upperBound
    }
    #expect(number == 4_001)
    #expect(end == (1...4_000).reduce(0) { $0 + "line \($1)\n".utf8.count })
  }

  @Test("L1: the next batch reuses the memory of a released batch, but not of a retained batch")
  func memoryIsUsedAgain() async throws {
    let folder = try TemporaryFolder()
    var batches = try reader(folder).batches.makeAsyncIterator()
    // Each chunk is one batch, so the first line of a batch is at the start of its memory.
    func address(of batch: LineBatch?) -> UnsafeRawPointer? { batch?[0].bytes.baseAddress }
    let first = address(of: try await batches.next())
    #expect(first != nil)
    // New memory would be at another address, because the reader holds the old memory while it allocates.
    for _ in 2...4 { #expect(address(of: try await batches.next()) == first) }
    var kept: [LineBatch] = []
    while let batch = try await batches.next() { kept.append(batch) }
    #expect(kept.count > 4)
    #expect(address(of: kept.first) == first)
    #expect(Set(kept.map { address(of: $0) }).count == kept.count)
    var number = kept[0].firstLineNumber
    for batch in kept {
      for position in batch.indices {
        #expect(try batch.string(at: position) == "line \(number)")
        number += 1
      }
    }
    #expect(number == 4_001)
  }

  @Test("L1: nothing is read before it is requested")
  func noReadingAhead() async throws {
    let folder = try TemporaryFolder()
    let queue = OperationQueue()
    queue.maxConcurrentOperationCount = 1
    var batches = try reader(folder, queue: queue).batches.makeAsyncIterator()
    #expect(batches.bytesRead == 0)
    for request in 1...5 {
      _ = try await batches.next()
      // Any work that was added to the queue to read ahead would have run before this.
      await withCheckedContinuation { continuation in queue.addOperation { continuation.resume() } }
      #expect(batches.bytesRead <= request * 4_096)
      #expect(batches.bytesRead > (request - 1) * 4_096 - 512)
    }
  }
}
