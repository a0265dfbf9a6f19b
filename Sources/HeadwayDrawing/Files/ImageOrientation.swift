#if Drawing
/// The EXIF orientation: how the rows of a file must be transformed to show the image upright.
enum ImageOrientation: UInt16, CaseIterable {
  case upright = 1
  case mirrored = 2
  case upsideDown = 3
  case mirroredUpsideDown = 4
  /// Mirrored along the diagonal from the top left.
  case transposed = 5
  case turnedClockwise = 6
  /// Mirrored along the other diagonal.
  case transverse = 7
  case turnedCounterclockwise = 8

  /// Whether width and height are swapped.
  var swapsSides: Bool { rawValue >= 5 }

  /// Returns the position in the file of a pixel of the upright image.
  ///
  /// - Parameters:
  ///   - x: The column in the upright image.
  ///   - y: The row in the upright image.
  ///   - width: The width of the file's rows.
  ///   - height: The number of rows in the file.
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

  /// Returns the upright pixels; nil if there is not enough memory.
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
  /// Reads the orientation from EXIF data that starts with "II" or "MM"; upright if the data contains no valid
  /// orientation.
  init(exif bytes: UnsafeRawBufferPointer) {
    self = Self.value(inEXIF: bytes).flatMap(Self.init(rawValue:)) ?? .upright
  }

  /// Returns the value of the orientation tag.
  ///
  /// In TIFF 6.0, the header contains the byte order, 42, and the offset of the first directory. The directory contains
  /// a count and entries of 12 bytes. Each entry contains a tag, a type, a count, and a value.
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
