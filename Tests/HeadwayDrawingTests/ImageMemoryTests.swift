#if Drawing && canImport(Glibc)
import HeadwayTestSupport
import Testing

@testable import HeadwayDrawing

// Each runs in its own process, where nothing else uses memory.
@Suite("Memory of image files", .hangLimit, .enabled(if: isHeapMeasurable)) struct ImageMemoryTests {
  /// The most memory that is used while a thumbnail is created.
  private static func growth(_ bytes: [UInt8]) throws -> Int {
    var growth = HeapGrowth()
    _ = try Image(thumbnailOf: .bytes(bytes), fitting: 64, limits: .default) {
      growth.sample()
      return false
    }
    return growth.largest
  }

  @Test("R3: creating a thumbnail needs memory for a few rows, regardless of the picture's size") func rows() async {
    await #expect(processExitsWith: .success) {
      let picture = try scenery(2_000, 1_000)  // 8 MB of pixels.
      for bytes in [try picture.pngBytes(), try picture.jpegBytes()] {
        let growth = try Self.growth(bytes)
        // If not even a row was measured, the test measured something else.
        #expect(growth < 500_000 && growth > 8_000)
      }
    }
  }

  @Test("R3: decompression bombs use less than 10 MB of memory") func bombs() async {
    await #expect(processExitsWith: .success) {
      let jpeg = JPEGFixture.encode(try cornered(), .progressive)
      for bomb in [
        PNGFixture.declaring(width: 100_000, height: 100_000), PNGFixture.declaring(width: 200_000_000, height: 1),
        JPEGFixture.declaring(jpeg, width: 65_000, height: 65_000),
        JPEGFixture.declaring(jpeg, width: 16_000, height: 16_000),
      ] {
        var growth = HeapGrowth()
        #expect(throws: ImageFileError.self) {
          try Image(thumbnailOf: .bytes(bomb), fitting: 64, limits: ImageLimits(maxDecodingMemory: 64 << 20)) {
            growth.sample()
            return false
          }
        }
        growth.sample()
        #expect(growth.largest < 10_000_000)
      }
    }
  }
}
#endif
