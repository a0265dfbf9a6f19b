extension String {
  /// The text with the characters escaped that XML and HTML reserve, in elements and in quoted attributes.
  ///
  /// Characters that XML does not allow are replaced: a control character by its symbol (U+2400 and following), the
  /// noncharacters U+FFFE and U+FFFF by U+FFFD.
  var escapedForXML: String {
    var escaped = ""
    escaped.reserveCapacity(utf8.count)
    for scalar in unicodeScalars {
      switch scalar {
      case "&": escaped += "&amp;"
      case "<": escaped += "&lt;"
      case ">": escaped += "&gt;"
      case "\"": escaped += "&quot;"
      case "'": escaped += "&#39;"
      default: escaped.unicodeScalars.append(scalar.visible)
      }
    }
    return escaped
  }

  /// The text on one line: line breaks and tabs become spaces, and control characters become symbols.
  var onOneLine: String {
    var line = ""
    for character in self {
      if character.isNewline || character == "\t" {
        line += " "
      } else {
        for scalar in character.unicodeScalars { line.unicodeScalars.append(scalar.visible) }
      }
    }
    return line
  }

  /// The text, or its beginning and an ellipsis if it is longer than `count` characters.
  ///
  /// - Parameter count: The number of characters.
  /// - Returns: At most `count` characters.
  func shortened(to count: Int) -> String {
    self.count <= count ? self : prefix(max(0, count - 1)) + "…"
  }
}

extension Unicode.Scalar {
  /// The scalar, or a visible substitute if XML does not allow it.
  fileprivate var visible: Unicode.Scalar {
    switch value {
    case 0x09, 0x0A, 0x0D: self
    case 0..<0x20: Unicode.Scalar(0x2400 + value) ?? self
    case 0x7F: "\u{2421}"
    case 0xFFFE, 0xFFFF: "\u{FFFD}"
    default: self
    }
  }
}
