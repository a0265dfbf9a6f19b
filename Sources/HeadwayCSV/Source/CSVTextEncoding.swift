/// The character encoding of a file.
///
/// Every encoding that the system's `iconv` can read is available; `iconv -l` lists them.
public struct CSVTextEncoding: Sendable, Hashable, CustomStringConvertible {
  /// The `iconv` name of the encoding, in capitals.
  public let name: String

  private init(known name: String) { self.name = name }

  /// Creates an encoding from its name.
  ///
  /// Nil if the system does not know it.
  ///
  /// - Parameter name: A name such as `ISO-8859-2`, in any case. `LATIN-1` is also accepted, and all spellings of
  ///   `UTF-8` are the same encoding.
  public init?(_ name: String) {
    var name = name.uppercased()
    if name == "LATIN-1" { name = "LATIN1" }
    if name == "UTF8" { name = "UTF-8" }
    // The part after two slashes instructs iconv to omit or replace characters.
    guard !name.isEmpty, !name.contains("/"), TextDecoder(from: name) != nil else { return nil }
    self.init(known: name)
  }

  /// UTF-8, which is read without conversion.
  public static let utf8 = CSVTextEncoding(known: "UTF-8")
  /// UTF-16, in the byte order of the mark at its start.
  public static let utf16 = CSVTextEncoding(known: "UTF-16")
  /// UTF-16 with the lower byte first, as Windows writes it.
  public static let utf16LittleEndian = CSVTextEncoding(known: "UTF-16LE")
  /// UTF-16 with the higher byte first.
  public static let utf16BigEndian = CSVTextEncoding(known: "UTF-16BE")
  /// UTF-32, in the byte order of the mark at its start.
  public static let utf32 = CSVTextEncoding(known: "UTF-32")
  /// Windows-1252, a superset of Latin-1 (ISO 8859-1) and the usual encoding of older files from Western Europe.
  public static let windows1252 = CSVTextEncoding(known: "WINDOWS-1252")

  /// The name of the encoding.
  public var description: String { name }
}
