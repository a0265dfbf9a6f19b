#if Drawing
import Foundation
import Headway
import HeadwayTestKit
import HeadwayTestSupport
import Testing

@testable import HeadwayDrawing

@Suite("Image files", .hangLimit) struct ImageFileTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  // MARK: Writing and reading

  @Test("R3: a PNG has exactly the pixels of the image, alpha included") func png() throws {
    let image = try scenery(90, 60, opacity: 0.5)
    let bytes = try image.pngBytes()
    let read = try Image(bytes: bytes)
    #expect(difference(image, read)?.largest == 0)
    #expect(read.isOpaque && bytes[25] == 2)  // An image without alpha.

    let clear = try Image(width: 16, height: 16) { context in
      context.fill(Rectangle(0, 0, 8, 16), with: .color(.red.opacity(0.5)))
    }
    let alpha = try clear.pngBytes()
    #expect(alpha[25] == 6)
    let distance = try #require(difference(clear, Image(bytes: alpha)))
    #expect(distance.largest <= 1.0 / 255)
    expect(try Image(bytes: alpha), at: 2, 2, .red.opacity(0.5))
  }

  @Test("R3: a JPEG is similar to the image, and transparent pixels have the background's color")
  func jpeg() throws {
    let image = try scenery()
    let (fine, coarse) = (try image.jpegBytes(quality: 95), try image.jpegBytes(quality: 20))
    #expect(coarse.count < fine.count / 2)
    #expect(try #require(difference(image, Image(bytes: fine))).mean < 0.01)
    let clear = try Image(width: 16, height: 16) {
      $0.fill(Rectangle(0, 0, 8, 16), with: .color(.black.opacity(0.5)))
    }
    let white = try Image(bytes: clear.jpegBytes(quality: 100))
    expect(white, at: 1, 8, .gray, within: 0.05)
    expect(white, at: 14, 8, .white, within: 0.05)
    let red = try Image(bytes: clear.jpegBytes(quality: 100, background: .red))
    expect(red, at: 14, 8, .red, within: 0.05)
  }

  @Test("R3: the content determines the format, not the file name") func names() throws {
    let image = try cornered()
    let path = try folder.write(image.pngBytes(), to: "picture.jpg")
    #expect(try Image(contentsOf: path).pixelWidth == 64)
    let information = try ImageFileInformation(contentsOf: path)
    #expect((information.format, information.pixelWidth, information.pixelHeight) == (.png, 64, 48))
    for (name, format) in [
      ("a.JPG", ImageFileFormat.jpeg), ("b/a.jpeg", .jpeg), ("a.png", .png), ("a", nil), ("a.jpg/b", nil),
      ("a.gif", nil),
    ] {
      #expect(ImageFileFormat(pathExtensionOf: name) == format)
    }
  }

  // MARK: Kinds of JPEG and PNG

  @Test(
    "R3: JPEG files of every kind have the right colors, at full size and as thumbnails",
    arguments: JPEGFixture.Kind.allCases)
  func kinds(_ kind: JPEGFixture.Kind) throws {
    let bytes = JPEGFixture.encode(try cornered(160, 120), kind)
    func shade(_ luminance: Double) -> Color { Color(white: luminance) }
    let isGray = kind == .gray
    for side in [160, 40, 37] {
      let image = try side == 160 ? Image(bytes: bytes) : Image(thumbnailOf: bytes, fitting: side)
      let (right, bottom) = (image.pixelWidth - 3, image.pixelHeight - 3)
      #expect(image.pixelWidth == side && image.pixelHeight == (side * 3 + 2) / 4)
      expect(image, at: 2, 2, isGray ? shade(0.299) : .red, within: 0.04)
      expect(image, at: right, 2, isGray ? shade(0.587) : .green, within: 0.04)
      expect(image, at: 2, bottom, isGray ? shade(0.114) : .blue, within: 0.04)
      expect(image, at: right, bottom, .white, within: 0.04)
      expect(image, at: image.pixelWidth / 2, image.pixelHeight / 2, .gray, within: 0.04)
    }
  }

  @Test("R3: PNG files of every kind have the right colors") func pngKinds() throws {
    let interlaced = try Image(bytes: PNGFixture.encode(cornered(), isInterlaced: true))
    #expect(difference(interlaced, try cornered())?.largest == 0)
    #expect(
      try #require(
        difference(
          Image(thumbnailOf: PNGFixture.encode(scenery(), isInterlaced: true), fitting: 50),
          Image(thumbnailOf: scenery().pngBytes(), fitting: 50))
      ).largest == 0)

    let wide = try Image(
      bytes: PNGFixture.encode(width: 2, height: 1, depth: 16) { _ in
        [0xFF, 0xFF, 0, 0, 0, 0, 0x80, 0, 0, 0, 0x80, 0, 0, 0, 0xFF, 0xFF]
      })
    expect(wide, at: 0, 0, .red.opacity(0.5), within: 0.01)
    expect(wide, at: 1, 0, Color(red: 0, green: 0.5, blue: 0), within: 0.01)

    let gray = try Image(bytes: PNGFixture.encode(width: 8, height: 1, depth: 1, colorType: 0) { _ in [0b1010_1010] })
    for x in 0..<8 { expect(gray, at: x, 0, x % 2 == 0 ? .white : .black) }

    let palette = try Image(
      bytes: PNGFixture.encode(
        width: 2, height: 1, colorType: 3, palette: [(255, 0, 0), (0, 0, 255)], paletteAlpha: [255, 0]
      ) { _ in [0, 1] })
    expect(palette, at: 0, 0, .red)
    expect(palette, at: 1, 0, .clear)
  }

  @Test("R3: pictures are rotated as EXIF specifies, in either byte order, in JPEG and PNG", arguments: 1...8)
  func orientations(_ orientation: Int) throws {
    let jpeg = JPEGFixture.encode(try cornered(80, 40), .baseline)
    let tag = UInt8(orientation)
    let png = PNGFixture.inserting(
      PNGFixture.chunk("eXIf", JPEGFixture.exif(tag)), into: try cornered(80, 40).pngBytes())
    // The corners in the file, by their visible position: top left, top right, bottom left, bottom right.
    let (a, b, c, d) = (Color.red, Color.green, Color.blue, Color.white)
    let seen = [
      [a, b, c, d], [b, a, d, c], [d, c, b, a], [c, d, a, b], [a, c, b, d], [c, a, d, b], [d, b, c, a], [b, d, a, c],
    ][orientation - 1]
    for bytes in [
      JPEGFixture.oriented(jpeg, tag), JPEGFixture.oriented(jpeg, tag, isLittleEndian: false), png,
    ] {
      for side in [80, 20] {
        let image = try Image(thumbnailOf: bytes, fitting: side)
        let (width, height) = orientation < 5 ? (side, side / 2) : (side / 2, side)
        #expect((image.pixelWidth, image.pixelHeight) == (width, height))
        for (color, place) in zip(seen, [(1, 1), (width - 2, 1), (1, height - 2), (width - 2, height - 2)]) {
          expect(image, at: place.0, place.1, color, within: 0.08)
        }
      }
      let information = try ImageFileInformation(contentsOf: folder.write(bytes, to: "turned"))
      #expect((information.pixelWidth > information.pixelHeight) == (orientation < 5))
    }
  }

  @Test("R3: invalid EXIF data is ignored") func oddEXIF() throws {
    let jpeg = JPEGFixture.encode(try cornered(80, 40), .baseline)
    for orientation: UInt8 in [0, 9, 255] {
      #expect(try Image(bytes: JPEGFixture.oriented(jpeg, orientation)).pixelWidth == 80)
    }
    var exif = JPEGFixture.exif(6)
    for length in 0...exif.count {
      #expect(
        exif.prefix(length).withUnsafeBytes { ImageOrientation(exif: $0) }
          == (length < 20 ? .upright : .turnedClockwise))
    }
    exif[4] = 0xFF  // The directory is beyond the end of the data.
    exif[7] = 0xFF
    #expect(exif.withUnsafeBytes { ImageOrientation(exif: $0) } == .upright)
  }

  @Test("R3: reading and writing keeps an RGB color profile, and drops a CMYK profile")
  func profiles() throws {
    let profile = colorProfile("RGB ")
    let image = Image(try cornered().storage, colorProfile: profile)
    for bytes in [try image.pngBytes(), try image.jpegBytes()] {
      let thumbnail = try Image(thumbnailOf: bytes, fitting: 20)
      #expect(thumbnail.colorProfile == profile)
      #expect(try Image(bytes: thumbnail.jpegBytes()).colorProfile == profile)
      #expect(try Image(bytes: thumbnail.pngBytes()).colorProfile == profile)
    }
    let wrong = Image(try cornered().storage, colorProfile: colorProfile("CMYK"))
    #expect(try Image(bytes: wrong.jpegBytes()).colorProfile == nil)
    #expect(try Image(bytes: cornered().pngBytes()).colorProfile == nil)
  }

  /// The header of an ICC profile for a color space, and one tag.
  private func colorProfile(_ space: String) -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: 144)
    // libpng treats data that compresses to almost nothing as damaged.
    var generator = SeededGenerator(seed: 1)
    bytes += (0..<256).map { _ in UInt8.random(in: 0...255, using: &generator) }
    for (offset, text) in [(12, "mntr"), (16, space), (20, "XYZ "), (36, "acsp"), (132, "desc")] {
      bytes.replaceSubrange(offset..<offset + 4, with: Array(text.utf8))
    }
    // The white of the connection space: D50.
    bytes.replaceSubrange(68..<80, with: [0, 0, 0xF6, 0xD6, 0, 1, 0, 0, 0, 0, 0xD3, 0x2D])
    (bytes[2], bytes[3]) = (1, 144)
    (bytes[131], bytes[139], bytes[142]) = (1, 144, 1)
    bytes[8] = 2
    return bytes
  }

  // MARK: Thumbnails

  @Test("R3: a thumbnail fits, keeps the proportions, and is never larger than the picture")
  func sizes() throws {
    for (width, height, side, expected) in [
      (400, 300, 100, (100, 75)), (300, 400, 100, (75, 100)), (50, 40, 100, (50, 40)), (100, 100, 100, (100, 100)),
      (1000, 3, 100, (100, 1)), (3, 1000, 7, (1, 7)), (333, 222, 1, (1, 1)), (101, 67, 100, (100, 66)),
    ] {
      let image = try Image(width: Double(width), height: Double(height)) { $0.fill($0.bounds, with: .color(.red)) }
      for bytes in [try image.pngBytes(), try image.jpegBytes()] {
        let thumbnail = try Image(thumbnailOf: bytes, fitting: side)
        #expect((thumbnail.pixelWidth, thumbnail.pixelHeight) == expected)
        for (x, y) in [(0, 0), (expected.0 - 1, expected.1 - 1)] {
          expect(thumbnail, at: x, y, .red, within: 0.04)
        }
      }
    }
  }

  @Test("R3: each pixel of a thumbnail is a mean, exact for PNG and approximate for JPEG") func means() throws {
    let picture = try scenery(320, 240)
    // Each pixel of the result represents 5 × 5 or 5.33 × 5.33 pixels of the picture.
    for side in [64, 60] {
      let reference = mean(of: picture, width: side, height: side * 3 / 4)
      let png = try Image(thumbnailOf: picture.pngBytes(), fitting: side)
      let exact = try #require(difference(reference, png))
      #expect(exact.largest <= 1.0 / 255)
      let jpeg = try Image(thumbnailOf: picture.jpegBytes(quality: 100), fitting: side)
      #expect(try #require(difference(reference, jpeg)).mean < 0.02)
    }
  }

  @Test("R3: each pixel has the correct weight in a thumbnail of a narrow picture")
  func partialBlocks() throws {
    for (width, height, bright) in [
      (9, 4000, 8), (1, 4000, 0), (4, 4000, 3), (12, 2000, 0), (33, 3000, 32), (63, 2000, 62), (255, 4000, 254),
    ] {
      for isWide in [false, true] {
        let (shown, strip) =
          isWide
          ? ((height, width), Rectangle(0, Double(bright), Double(height), 1))
          : ((width, height), Rectangle(Double(bright), 0, 1, Double(height)))
        let picture = try Image(width: Double(shown.0), height: Double(shown.1)) { context in
          context.fill(context.bounds, with: .color(.black))
          context.fill(strip, with: .color(.white))
        }
        let jpeg = try Image(thumbnailOf: JPEGFixture.encode(picture, .gray, quality: 98), fitting: 256)
        let png = try Image(thumbnailOf: picture.pngBytes(), fitting: 256)
        #expect(try #require(difference(jpeg, png)).largest < 0.05, "\(shown)")
      }
    }
  }

  @Test("R3: scaling in the decoder does not shift the content of the picture") func reducedGeometry() throws {
    // At 1/8, the last column represents only one of the 2049: the edge in the middle must stay in the middle.
    let picture = try Image(width: 2049, height: 64 * 8) { context in
      context.fill(context.bounds, with: .color(.black))
      context.fill(Rectangle(1024, 0, 1025, 512), with: .color(.white))
    }
    let jpeg = try Image(thumbnailOf: JPEGFixture.encode(picture, .gray, quality: 98), fitting: 9)
    let png = try Image(thumbnailOf: picture.pngBytes(), fitting: 9)
    #expect(try #require(difference(jpeg, png)).largest < 0.02)
  }

  /// The mean over the rectangle that each pixel represents, in doubles, pixel by pixel.
  private func mean(of picture: Image, width: Int, height: Int) -> Image {
    let result = PixelStorage(width: width, height: height)!
    let (stepX, stepY) = (Double(picture.pixelWidth) / Double(width), Double(picture.pixelHeight) / Double(height))
    func overlap(_ pixel: Int, _ start: Double, _ step: Double) -> Double {
      max(0, min(Double(pixel + 1), start + step) - max(Double(pixel), start))
    }
    for y in 0..<height {
      for x in 0..<width {
        let (left, top) = (Double(x) * stepX, Double(y) * stepY)
        var sums = SIMD4<Double>.zero
        for sourceY in Int(top)..<min(picture.pixelHeight, Int(top + stepY) + 1) {
          for sourceX in Int(left)..<min(picture.pixelWidth, Int(left + stepX) + 1) {
            let weight = overlap(sourceX, left, stepX) * overlap(sourceY, top, stepY)
            let word = picture.storage[sourceX, sourceY]
            for channel in 0..<4 { sums[channel] += weight * Double((word >> (8 * UInt32(channel))) & 0xFF) }
          }
        }
        result[x, y] = (0..<4).reduce(UInt32(0)) { word, channel in
          word | (UInt32(sums[channel] / (stepX * stepY) + 0.5) << (8 * UInt32(channel)))
        }
      }
    }
    return Image(result)
  }

  @Test("R3: transparent pixels add no color to neighboring pixels") func transparentNeighbours() throws {
    let bytes = PNGFixture.encode(width: 8, height: 8) { _ in
      // Visible red next to invisible green.
      (0..<4).flatMap { _ in [255, 0, 0, 255, 0, 255, 0, 0] as [UInt8] }
    }
    let thumbnail = try Image(thumbnailOf: bytes, fitting: 4)
    expect(thumbnail, at: 1, 1, .red.opacity(0.5), within: 0.01)
  }

  @Test("R3: an operation creates a thumbnail and writes it to a file") func operation() async throws {
    let source = try folder.write(scenery().jpegBytes(), to: "a.jpg")
    let output = folder.path + "/b.png"
    let operation = ThumbnailOperation(of: source, fitting: 50, into: output)
    #expect(operation.image == nil)
    Headway.OperationQueue().addOperation(operation)
    let image = try await operation.value
    #expect((image.pixelWidth, image.pixelHeight) == (50, 38))
    #expect(try difference(image, Image(contentsOf: output))?.largest == 0)
    #expect(try folder.names == ["a.jpg", "b.png"])

    let missing = ThumbnailOperation(of: folder.path + "/none.jpg", fitting: 50)
    Headway.OperationQueue().addOperation(missing)
    let error = await #expect(throws: ImageFileError.self) { try await missing.value }
    #expect(error?.code == .fileNotFound && error?.path == folder.path + "/none.jpg")
    #expect("\(error!)".hasSuffix("none.jpg: There is no such file."))
  }

  @Test("R3: a write that is cancelled before it finishes leaves no file and keeps an existing file")
  func cancelledWriting() throws {
    let path = folder.path + "/a.png"
    let picture = try scenery()
    #expect(try !picture.write(to: path, quality: 85, comment: nil) { true })
    #expect(try folder.names.isEmpty)
    try picture.write(to: path)
    let before = try Data(contentsOf: URL(fileURLWithPath: path))
    #expect(try !cornered(4, 4).write(to: path, quality: 85, comment: nil) { true })
    #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == before)
    // An existing file or a broken link is replaced.
    try cornered(4, 4).write(to: path)
    #expect(try Image(contentsOf: path).pixelWidth == 4)
    try FileManager.default.createSymbolicLink(atPath: folder.path + "/b.png", withDestinationPath: "none")
    try cornered(4, 4).write(to: folder.path + "/b.png")
    #expect(try folder.names == ["a.png", "b.png"])
    #expect(throws: ImageFileError.self) { try picture.write(to: folder.path) }
    #expect(throws: ImageFileError.self) { try picture.write(to: folder.path + "/none/a.png") }
    #expect(try folder.names == ["a.png", "b.png"])
  }

  @Test("R3: the comment and the time are written to the file and can be read", arguments: ["a.png", "a.jpg"])
  func comment(_ name: String) throws {
    let path = folder.path + "/" + name
    let picture = try Image(bytes: PNGFixture.encode(scenery(), isInterlaced: false))
    try picture.write(to: path, quality: 85, comment: "made here", modified: timespec(tv_sec: 1_000, tv_nsec: 7))
    #expect(ImageComment.isFound("made here", in: path))
    #expect(!ImageComment.isFound("made", in: path) && !ImageComment.isFound("made hers", in: path))
    let date = try FileManager.default.attributesOfItem(atPath: path)[.modificationDate] as? Date
    #expect(date.map { Int($0.timeIntervalSince1970) } == 1_000)
    #expect(try Image(contentsOf: path).pixelWidth == picture.pixelWidth)
    try picture.write(to: path)
    #expect(!ImageComment.isFound("made here", in: path) && !ImageComment.isFound("made here", in: folder.path))
  }

  @Test("R3: cancelling ends the decoding at the next row", arguments: [JPEGFixture.Kind.baseline, .progressive])
  func cancelled(_ kind: JPEGFixture.Kind) throws {
    let picture = try scenery()
    for bytes in [JPEGFixture.encode(picture, kind), PNGFixture.encode(picture, isInterlaced: kind == .progressive)] {
      for allowed in [0, 1, 7] {
        var asked = 0
        #expect(throws: CancellationError.self) {
          try Image(thumbnailOf: .bytes(bytes), fitting: 50, limits: .default) {
            asked += 1
            return asked > allowed
          }
        }
        #expect(asked == allowed + 1)
      }
    }
  }
}
#endif
