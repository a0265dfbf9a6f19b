#if Drawing
import Foundation
import HeadwayTestKit
import HeadwayTestSupport
import Testing

@testable import HeadwayDrawing

@Suite("Hostile image files", .hangLimit) struct HostileImageTests {
  private func code(of bytes: [UInt8], limits: ImageLimits = .default) -> ImageFileError.Code? {
    let codes = [
      { _ = try Image(bytes: bytes, limits: limits) },
      { _ = try Image(thumbnailOf: bytes, fitting: 16, limits: limits) },
    ].map { read in
      do {
        try read()
        return nil as ImageFileError.Code?
      } catch let error as ImageFileError {
        return error.code
      } catch {
        Issue.record("\(error)")
        return nil
      }
    }
    #expect(codes[0] == codes[1])
    return codes[0]
  }

  @Test(
    "R3: files of other formats cause typed errors that describe their content",
    arguments: [
      ("", "empty"), ("GIF89a....", "GIF"), ("RIFF\u{1}\u{1}\u{1}\u{1}WEBPVP8 ", "WebP"), ("II*\0", "TIFF"),
      ("<svg xmlns", "SVG"), ("just text", "neither"), ("\0\0\0\u{18}ftypheic", "HEIC"), ("%PDF-1.7", "PDF"),
      ("BM1", "BMP"),
    ])
  func otherFormats(_ content: String, _ word: String) {
    let error = #expect(throws: ImageFileError.self) { try Image(bytes: Array(content.utf8)) }
    #expect(error?.code == .unknownFormat)
    #expect("\(error!)".contains(word))
  }

  @Test("R3: folders, pipes, missing files and invalid names cause typed errors") func noFiles() throws {
    let folder = try TemporaryFolder()
    let pipe = folder.path + "/pipe"
    try #require(mkfifo(pipe, 0o600) == 0)
    for (path, code) in [
      (folder.path, ImageFileError.Code.notRegularFile), (pipe, .notRegularFile), ("/dev/null", .notRegularFile),
      (folder.path + "/none", .fileNotFound), ("a\0b", .fileNotFound), ("", .fileNotFound),
    ] {
      let error = #expect(throws: ImageFileError.self) { try Image(contentsOf: path) }
      #expect(error?.code == code, "\(path)")
    }
    let unreadable = try folder.write([1], to: "secret")
    chmod(unreadable, 0)
    if geteuid() != 0 {
      let error = #expect(throws: ImageFileError.self) { try Image(contentsOf: unreadable) }
      #expect(error?.code == .permissionDenied)
    }
  }

  @Test("R3: a failed write leaves no new file and keeps an existing file") func cannotWrite() throws {
    let folder = try TemporaryFolder()
    let image = try cornered()
    try FileManager.default.createDirectory(atPath: folder.path + "/taken.png", withIntermediateDirectories: true)
    for path in [folder.path + "/none/a.png", folder.path + "/taken.png", "", "a\0"] {
      let error = #expect(throws: ImageFileError.self) { try image.write(to: path) }
      #expect(error?.code == .cannotWrite && error?.systemErrorNumber != nil && error?.path == path)
    }
    #expect(try folder.names == ["taken.png"])
    let pipe = folder.path + "/pipe"
    try #require(mkfifo(pipe, 0o600) == 0)
    let error = #expect(throws: ImageFileError.self) { try image.write(to: pipe) }
    #expect(error?.code == .cannotWrite)
    var status = stat()
    #expect(lstat(pipe, &status) == 0 && status.st_mode & S_IFMT == S_IFIFO)
    try FileManager.default.removeItem(atPath: pipe)
    try image.write(to: folder.path + "/a.png")
    try image.write(to: folder.path + "/a.png")
    #expect(try folder.names == ["a.png", "taken.png"])
  }

  @Test("R3: decompression bombs cause typed errors immediately") func bombs() throws {
    let jpeg = JPEGFixture.encode(try cornered(), .baseline)
    #expect(code(of: PNGFixture.declaring(width: 100_000, height: 100_000)) == .tooLarge)
    #expect(code(of: PNGFixture.declaring(width: 0x7FFF_FFFF, height: 0x7FFF_FFFF)) == .tooLarge)
    #expect(code(of: JPEGFixture.declaring(jpeg, width: 65_000, height: 65_000)) == .tooLarge)
    // The number of pixels is allowed, but a progressive file keeps all of them in memory.
    let progressive = JPEGFixture.encode(try cornered(), .progressive)
    let large = JPEGFixture.declaring(progressive, width: 16_000, height: 16_000)
    #expect(code(of: large, limits: ImageLimits(maxDecodingMemory: 100 << 20)) == .tooLarge)
    #expect(code(of: progressive, limits: ImageLimits(maxScanCount: 2)) == .tooLarge)
    #expect(code(of: progressive) == nil)
    let interlaced = PNGFixture.encode(try scenery(), isInterlaced: true)
    #expect(code(of: interlaced, limits: ImageLimits(maxDecodingMemory: 100_000)) == .tooLarge)
    #expect(code(of: interlaced, limits: ImageLimits(maxPixelCount: 200 * 150 - 1)) == .tooLarge)
    #expect(code(of: interlaced, limits: ImageLimits(maxPixelCount: 200 * 150)) == nil)
  }

  @Test("R3: excessive metadata is skipped or rejected, and uses little memory") func metadata() throws {
    let text = PNGFixture.chunk("tEXt", Array("Comment\0".utf8) + [UInt8](repeating: 65, count: 10_000))
    let chunks = (0..<2_000).flatMap { _ in text }
    #expect(try Image(bytes: PNGFixture.inserting(chunks, into: cornered().pngBytes())).pixelWidth == 64)

    let jpeg = JPEGFixture.encode(try cornered(), .baseline)
    let segment = [0xFF, 0xE2, 0xFF, 0xFF] as [UInt8] + [UInt8](repeating: 0, count: 0xFFFD)
    let segments = (0..<40).flatMap { _ in segment }
    let bytes = Array(jpeg[..<2]) + segments + jpeg[2...]
    #expect(code(of: bytes) == nil)
    let folder = try TemporaryFolder()
    let path = try folder.write(bytes, to: "long.jpg")
    let error = #expect(throws: ImageFileError.self) {
      try Image(contentsOf: path, limits: ImageLimits(maxDecodingMemory: 1 << 20))
    }
    #expect(error?.code == .tooLarge)
  }

  @Test(
    "R3: a JPEG that is truncated anywhere causes a typed error", arguments: JPEGFixture.Kind.allCases)
  func truncatedJPEG(_ kind: JPEGFixture.Kind) throws {
    let bytes = JPEGFixture.encode(try cornered(24, 16), kind)
    for length in 0..<bytes.count {
      let found = code(of: Array(bytes[..<length]))
      #expect(found == (length < 3 ? .unknownFormat : .truncated), "\(length) of \(bytes.count)")
    }
    #expect(code(of: bytes) == nil)
  }

  @Test("R3: a PNG that is truncated anywhere causes a typed error", arguments: [false, true])
  func truncatedPNG(isInterlaced: Bool) throws {
    let bytes = PNGFixture.encode(try cornered(24, 16), isInterlaced: isInterlaced)
    for length in 0..<bytes.count {
      #expect(code(of: Array(bytes[..<length])) == (length < 8 ? .unknownFormat : .truncated), "\(length)")
    }
  }

  @Test("R3: damaged pixels cause typed errors") func damaged() throws {
    var png = try scenery().pngBytes()
    png[png.count / 2] ^= 0x55
    #expect(code(of: png) == .corrupt)
    var jpeg = JPEGFixture.encode(try scenery(), .baseline)
    // A marker among the pixels.
    jpeg.replaceSubrange(jpeg.count / 2..<jpeg.count / 2 + 2, with: [0xFF, 0xC4])
    #expect(code(of: jpeg) == .corrupt)
    #expect(code(of: JPEGFixture.declaring(jpeg, width: 0, height: 10)) == .corrupt)
    #expect(code(of: PNGFixture.declaring(width: 0, height: 10)) == .corrupt)
  }

  @Test("R3: mutated files either can be read or cause typed errors", arguments: 0..<16) func fuzz(_ part: Int) throws {
    let picture = try scenery(40, 30)
    var files = JPEGFixture.Kind.allCases.map { JPEGFixture.encode(picture, $0) }
    files.append(JPEGFixture.oriented(files[0], 6))
    files += [try picture.pngBytes(), PNGFixture.encode(picture, isInterlaced: true)]
    let limits = ImageLimits(maxPixelCount: 1_000_000, maxDecodingMemory: 8 << 20)
    for seed in part * 100..<(part + 1) * 100 {
      var generator = SeededGenerator(seed: UInt64(seed))
      let mutated = mutate(files.randomElement(using: &generator)!, &generator)
      do {
        let image = try Image(bytes: mutated, limits: limits)
        #expect(image.pixelWidth * image.pixelHeight <= 1_000_000)
        _ = try Image(thumbnailOf: mutated, fitting: 16, limits: limits)
      } catch is ImageFileError {
        continue
      } catch {
        Issue.record("seed \(seed): \(error)")
      }
    }
  }

  private func mutate(_ file: [UInt8], _ generator: inout SeededGenerator) -> [UInt8] {
    var bytes = file
    for _ in 0..<Int.random(in: 1...6, using: &generator) where !bytes.isEmpty {
      // Most decisions depend on the beginning.
      let end = Bool.random(using: &generator) ? min(bytes.count, 700) : bytes.count
      let place = Int.random(in: 0..<end, using: &generator)
      let length = min(bytes.count - place, Int.random(in: 1...40, using: &generator))
      switch Int.random(in: 0..<6, using: &generator) {
      case 0: bytes[place] ^= 1 << UInt8.random(in: 0..<8, using: &generator)
      case 1: bytes[place] = UInt8.random(in: 0...255, using: &generator)
      case 2: bytes[place] = [0, 0xFF, 0x7F, 0x80].randomElement(using: &generator)!
      case 3: bytes.removeSubrange(place..<place + length)
      case 4: bytes.insert(contentsOf: bytes[place..<place + length], at: Int.random(in: 0..<end, using: &generator))
      default: bytes.removeLast(bytes.count - place)
      }
    }
    return bytes
  }
}
#endif
