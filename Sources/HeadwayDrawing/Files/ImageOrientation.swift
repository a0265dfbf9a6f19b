#if Drawing
/// How the rows of a file lie in the picture, as EXIF numbers it: what has to be done to see it upright.
enum ImageOrientation: UInt16, CaseIterable {
  case upright = 1
  case mirrored = 2
  case upsideDown = 3
  case mirroredUpsideDown = 4
  /// Mirrored at the diagonal from the top left.
  case transposed = 5
  case turnedClockwise = 6
  /// Mirrored at the other diagonal.
  case transverse = 7
  case turnedCounterclockwise = 8

  /// Whether width and height change places.
  var swapsSides: Bool { rawValue >= 5 }

  /// Where in the file the pixel is that is seen at a place of the upright picture.
  ///
  /// - Parameters:
  ///   - x: The column that is seen.
  ///   - y: The row that is seen.
  ///   - width: The width of the file's rows.
  ///   - height: How many rows the file has.
  /// - Returns: The column and the row in the file.
  func source(x: Int, y: Int, width: Int, height: Int) -> (x: Int, y: Int) {
    switch self {
    case .upright: (x, y)
    case .mirrored: (width - 1 - x, y)
    case .upsideDown: (width - 1 - x, height - 1 - y)
    case .mirroredUpsideDown: (x, height - 1 - y)
    case .transposed: (y, x)
    case .turnedClockwise: (y, height - 1 - x)
    case .transverse: (width - 1 - y, height - 1 - x)
    case .turnedCounterclockwise: (width - 1 - y, x)
    }
  }

  /// The pixels upright; nil if there is no memory for them.
  func applied(to pixels: PixelStorage) -> PixelStorage? {
    guard self != .upright else { return pixels }
    let (width, height) = swapsSides ? (pixels.height, pixels.width) : (pixels.width, pixels.height)
    guard let result = PixelStorage(width: width, height: height) else { return nil }
    for y in 0..<height {
      for x in 0..<width {
        let from = source(x: x, y: y, width: pixels.width, height: pixels.height)
        result[x, y] = pixels[from.x, from.y]
      }
    }
    return result
  }
}

extension ImageOrientation {
  /// Finds the orientation in EXIF data, from "II" or "MM" on; upright if it says nothing that makes sense.
  init(exif bytes: UnsafeRawBufferPointer) {
    self = Self.value(inEXIF: bytes).flatMap(Self.init(rawValue:)) ?? .upright
  }

  /// TIFF 6.0: a header of the byte order, 42, and the place of the first directory; there, a count and entries of 12
  /// bytes, in which are tag, type, count and value.
  private static func value(inEXIF bytes: UnsafeRawBufferPointer) -> UInt16? {
    guard bytes.count >= 8 else { return nil }
    let isLittleEndian: Bool
    switch (bytes[0], bytes[1]) {
    case (0x49, 0x49): isLittleEndian = true
    case (0x4D, 0x4D): isLittleEndian = false
    default: return nil
    }
    func short(_ offset: Int) -> UInt16? {
      guard offset >= 0, offset <= bytes.count - 2 else { return nil }
      let value = bytes.loadUnaligned(fromByteOffset: offset, as: UInt16.self)
      return isLittleEndian ? UInt16(littleEndian: value) : UInt16(bigEndian: value)
    }
    func long(_ offset: Int) -> Int? {
      guard offset >= 0, offset <= bytes.count - 4 else { return nil }
      let value = bytes.loadUnaligned(fromByteOffset: offset, as: UInt32.self)
      return Int(isLittleEndian ? UInt32(littleEndian: value) : UInt32(bigEndian: value))
    }
    let (orientation, shortType) = (UInt16(0x0112), UInt16(3))
    guard short(2) == 42, let directory = long(4), let count = short(directory) else { return nil }
    for entry in 0..<Int(count) {
      let offset = directory + 2 + 12 * entry
      guard let tag = short(offset) else { return nil }
      if tag == orientation { return short(offset + 2) == shortType ? short(offset + 8) : nil }
    }
    return nil
  }
}
#endif
