extension UnsafeRawBufferPointer {
  /// Where `part` starts in these bytes, if it is a stretch of them and not a copy.
  func offset(of part: UnsafeRawBufferPointer) -> Int? {
    guard let start = baseAddress, let partStart = part.baseAddress else { return nil }
    let offset = partStart - start
    return offset >= 0 && offset + part.count <= count ? offset : nil
  }

  /// The text, repaired where it must be, and not too long for a message.
  var shortText: String {
    count <= 80 ? String(decoding: self, as: UTF8.self) : String(decoding: self.prefix(80), as: UTF8.self) + "…"
  }
}
