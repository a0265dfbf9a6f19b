extension UnsafeRawBufferPointer {
  /// The number of bytes before the first byte that is not below 128.
  ///
  /// Reads eight bytes at a time.
  var asciiCount: Int {
    var position = 0
    while position + 8 <= count, loadUnaligned(fromByteOffset: position, as: UInt64.self) & 0x8080_8080_8080_8080 == 0 {
      position += 8
    }
    while position < count, self[position] < 0x80 { position += 1 }
    return position
  }

  /// Whether all bytes are below 128.
  ///
  /// Reads eight bytes at a time.
  package var isASCII: Bool {
    var position = 0
    while position + 8 <= count {
      if loadUnaligned(fromByteOffset: position, as: UInt64.self) & 0x8080_8080_8080_8080 != 0 { return false }
      position += 8
    }
    while position < count {
      if self[position] >= 0x80 { return false }
      position += 1
    }
    return true
  }
}
