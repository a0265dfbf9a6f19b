#if canImport(Glibc)
import Headway
import HeadwayLines
import HeadwayTestSupport
import Testing

/// Each runs in its own process, because other tests also use the heap.
@Suite(.hangLimit, .enabled(if: isHeapMeasurable, "The thread sanitizer's heap is not the one that mallinfo2 knows."))
struct MemoryTests {
  /// 200 MB of lines of 200 bytes.
  static func makeFile(_ folder: TemporaryFolder) throws -> String {
    let line = Array(repeating: UInt8(ascii: "x"), count: 199) + [UInt8(ascii: "\n")]
    return try folder.write(repeating: Array(repeatElement(line, count: 5_000).joined()), times: 200)
  }

  static let lineCount = 1_000_000
  static let limit = 800_000

  @Test("L1: reading 200 MB synchronously grows the heap by less than 800 KB")
  func synchronous() async {
    await #expect(processExitsWith: .success) {
      let folder = try TemporaryFolder()
      let reader = LineReader(path: try Self.makeFile(folder))
      var growth = HeapGrowth()
      var lines = 0
      try reader.forEachLine { line in
        lines += 1
        if lines % 1_000 == 0 { growth.sample() }
      }
      #expect(lines == Self.lineCount)
      #expect(growth.largest < Self.limit)
      // If not even the chunk was measured, the test measured something else.
      #expect(growth.largest > 128 << 10)
    }
  }

  @Test("L1: reading 200 MB with a consumer that waits in each batch grows the heap by less than 800 KB")
  func slowBatches() async {
    await #expect(processExitsWith: .success) {
      let folder = try TemporaryFolder()
      let queue = OperationQueue()
      queue.maxConcurrentOperationCount = 1
      let reader = LineReader(path: try Self.makeFile(folder), queue: queue)
      // The memory of the queue and its threads does not count for the reader.
      await withCheckedContinuation { continuation in queue.addOperation { continuation.resume() } }
      var growth = HeapGrowth()
      var lines = 0
      for try await batch in reader.batches {
        // Returns when the queue has done all its work, including reading ahead.
        await withCheckedContinuation { continuation in queue.addOperation { continuation.resume() } }
        growth.sample()
        lines += batch.count
      }
      #expect(lines == Self.lineCount)
      #expect(growth.largest < Self.limit)
      #expect(growth.largest > 128 << 10)
    }
  }

  @Test("L1: reading 200 MB as strings grows the heap by less than 800 KB")
  func lines() async {
    await #expect(processExitsWith: .success) {
      let folder = try TemporaryFolder()
      let reader = LineReader(path: try Self.makeFile(folder))
      var growth = HeapGrowth()
      var lines = 0
      for try await _ in reader.lines {
        lines += 1
        if lines % 1_000 == 0 { growth.sample() }
      }
      #expect(lines == Self.lineCount)
      #expect(growth.largest < Self.limit)
      #expect(growth.largest > 128 << 10)
    }
  }

  @Test("L1, L4: a file of one line over the limit causes an error and uses little more memory than the limit")
  func oneLine() async {
    await #expect(processExitsWith: .success) {
      let folder = try TemporaryFolder()
      let block = Array(repeating: UInt8(ascii: "x"), count: 1 << 20)
      for megabytes in [1, 16] {
        let path = try folder.write(repeating: block, times: megabytes + 64)
        let before = try peakMemory()
        let reader = LineReader(path: path, options: .init(maxLineLength: megabytes << 20))
        let error = await Form.batches.read(reader).readerError
        #expect(error?.code == .lineTooLong)
        #expect(error?.lineNumber == 1)
        #expect(error?.byteOffset == 0)
        // The peak of resident memory shows growth even after the memory has been freed. It also counts pages of code
        // that are first used in the meantime; the whole line would be 64 MB more than the limit.
        let growth = try peakMemory() - before
        #expect(growth < (megabytes << 20) + 12_000_000)
      }
    }
  }

  @Test("L1: the memory for a long line is freed when shorter lines follow")
  func givenBack() async {
    await #expect(processExitsWith: .success) {
      let folder = try TemporaryFolder()
      let long = Array(repeating: UInt8(ascii: "x"), count: 8 << 20)
      let short = Array("\nshort\n".utf8)
      let path = try folder.write(repeating: long + Array(repeatElement(short, count: 100_000).joined()), times: 1)
      var growth = HeapGrowth()
      try LineReader(path: path).forEachLine { line in
        if line.number > 100_000, line.number % 1_000 == 0 { growth.sample() }
      }
      #expect(growth.largest < Self.limit)
    }
  }
}
#endif
