#if canImport(Glibc)
import Foundation
import Glibc
import HeadwayCSV
import HeadwayTestSupport
import Testing

/// Each runs in its own process, because other tests also use the heap.
@Suite(.hangLimit, .enabled(if: isHeapMeasurable, "The thread sanitizer's heap is not the one that mallinfo2 knows."))
struct ReaderMemoryTests {
  private static let rowCount = 100_000
  private static let limit = 1_200_000

  /// About 6 MB.
  private static func makeFile(_ folder: TemporaryFolder) throws -> String {
    let path = folder.path + "/large.csv"
    let writer = try CSVWriter(path: path, columns: ["id", "name", "note"])
    for number in 1...rowCount {
      try writer.write(fields: number, "row, \"\(number % 1_000)\"", "the same in all of the rows here, one by one")
    }
    try writer.finish()
    return path
  }

  @Test("I3: writing and reading a file of 6 MB grows the heap by less than 1.2 MB")
  func constantMemory() async {
    await #expect(processExitsWith: .success) {
      let folder = try TemporaryFolder()
      var growth = HeapGrowth()
      let path = try Self.makeFile(folder)
      growth.sample()
      #expect(growth.largest < Self.limit)
      var sum = 0
      let id = CSVColumn("id")
      try CSVReader(path: path).forEachRow { row in
        sum += try row.value(id, as: Int.self)
        if row.rowNumber % 1_000 == 0 { growth.sample() }
      }
      #expect(sum == Self.rowCount * (Self.rowCount + 1) / 2)
      for try await row in CSVReader(path: path).rows where row.rowNumber % 1_000 == 0 { growth.sample() }
      #expect(growth.largest < Self.limit)
      // If not even the buffer was measured, the test measured something else.
      #expect(growth.largest > 256 << 10)
    }
  }

  @Test("I3: delivered rows are not kept in memory, and the memory of a long row is freed")
  func longRecord() async {
    await #expect(processExitsWith: .success) {
      let long = Array(repeating: UInt8(ascii: "x"), count: 8 << 20)
      let short = Array(repeatElement(Array("\n1,2".utf8), count: 200_000).joined())
      let bytes = Array("a,b\n".utf8) + long + Array(",2".utf8) + short
      var growth = HeapGrowth()
      var rows = 0
      try CSVReader(bytes: bytes).forEachRow { row in
        rows += 1
        if row.rowNumber > 100_000, row.rowNumber % 1_000 == 0 { growth.sample() }
      }
      #expect(rows == 200_001)
      #expect(growth.largest < Self.limit)
    }
  }
}
#endif
