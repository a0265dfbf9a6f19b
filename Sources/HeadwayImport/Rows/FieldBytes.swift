extension UnsafeRawBufferPointer {
  /// The offset of `part` in these bytes, or nil if `part` is not a range of them.
  func offset(of part: UnsafeRawBufferPointer) -> Int? {
    guard let start = baseAddress, let partStart = part.baseAddress else { return nil }
    let offset = partStart - start
    return offset >= 0 && offset + part.count <= count ? offset : nil
  }

  /// The text, with invalid UTF-8 replaced, and shortened for a message.
  var shortText: String {
    count <= 80 ? String(decoding: self, as: UTF8.self) : String(decoding: self.prefix(80), as: UTF8.self) + "…"
  }
}
