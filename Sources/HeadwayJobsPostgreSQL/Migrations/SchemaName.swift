#if PostgreSQL
@_spi(JobStore) import HeadwayJobs

/// The name of the schema that contains the tables of a store.
///
/// Statements are written with the default name, `headway`.
struct SchemaName: Hashable, Sendable {
  static let defaultName = "headway"
  let name: String

  /// Checks a name.
  ///
  /// Names are part of the text of statements, so only names that need no quotes are valid.
  ///
  /// - Throws: `JobError` with the code `unusableStore`.
  init(_ name: String) throws {
    let letters = UInt8(ascii: "a")...UInt8(ascii: "z")
    let digits = UInt8(ascii: "0")...UInt8(ascii: "9")
    let isValid = name.utf8.enumerated().allSatisfy { index, byte in
      letters.contains(byte) || byte == UInt8(ascii: "_") || (index > 0 && digits.contains(byte))
    }
    guard isValid, !name.isEmpty, name.utf8.count <= 31, !name.hasPrefix("pg_") else {
      throw JobError(
        .unusableStore,
        "\(name) can't be the name of a schema. Use up to 31 lowercase letters, digits and underscores, with a letter "
          + "or an underscore first, and not pg_.")
    }
    self.name = name
  }

  /// Replaces the default name of the schema in a statement.
  func sql(_ text: String) -> String {
    guard name != Self.defaultName else { return text }
    var (rest, parts) = (text[...], [Substring]())
    while let range = rest.range(of: "\(Self.defaultName).") {
      parts.append(rest[..<range.lowerBound])
      rest = rest[range.upperBound...]
    }
    return (parts + [rest]).joined(separator: "\(name).")
  }

  /// The option of the tool for this schema.
  var option: String { name == Self.defaultName ? "" : " --schema \(name)" }

  /// The channel of the notifications.
  var channel: String { name == Self.defaultName ? "headway_jobs" : "headway_jobs_\(name)" }

  /// The first part of the keys of the advisory locks, which all databases of a server have in common.
  var lockClass: Int32 {
    var hash: UInt32 = 2_166_136_261
    for byte in "headway.\(name)".utf8 { hash = (hash ^ UInt32(byte)) &* 16_777_619 }
    return Int32(bitPattern: hash)
  }
}

/// The advisory locks of a store, as the second part of their keys.
enum StoreLock: Int32, Sendable {
  /// Transactions that change several jobs hold it exclusively, and exchanges share it. See `JobTransaction`.
  case store = 1
  /// Claims with limits hold it while they count.
  case limits = 2
  /// The process that advances the store holds it.
  case advance = 3
  /// The process that migrates the tables holds it.
  case migration = 4
  /// The process that merges statistics holds it.
  case statistics = 5
}

extension Substring {
  /// Finds the first occurrence of a text of ASCII characters.
  fileprivate func range(of text: String) -> Range<Index>? {
    let (bytes, pattern) = (utf8, Array(text.utf8))
    var start = bytes.startIndex
    while let first = bytes[start...].firstIndex(of: pattern[0]) {
      let candidate = bytes[first...].prefix(pattern.count)
      if candidate.elementsEqual(pattern) { return first..<candidate.endIndex }
      start = bytes.index(after: first)
    }
    return nil
  }
}
#endif
