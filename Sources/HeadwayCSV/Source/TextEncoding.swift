/// How the bytes of a file mean characters.
///
/// What the system's `iconv` reads can be named; `iconv -l` lists it.
public struct TextEncoding: Sendable, Hashable, CustomStringConvertible {
  /// The name, in capitals, as `iconv` knows it.
  public let name: String

  private init(known name: String) { self.name = name }

  /// An encoding by its name; nil if the system does not know it.
  ///
  /// - Parameter name: A name such as `ISO-8859-2`, in either case. `LATIN-1` is known too, and `UTF-8` has one name.
  public init?(_ name: String) {
    var name = name.uppercased()
    if name == "LATIN-1" { name = "LATIN1" }
    if name == "UTF8" { name = "UTF-8" }
    // What follows two slashes tells iconv to leave out or to replace characters.
    guard !name.isEmpty, !name.contains("/"), TextDecoder(from: name) != nil else { return nil }
    self.init(known: name)
  }

  /// UTF-8, which is read as it is.
  public static let utf8 = TextEncoding(known: "UTF-8")
  /// UTF-16, in the byte order that the mark at its start tells.
  public static let utf16 = TextEncoding(known: "UTF-16")
  /// UTF-16 with the lower byte first, as Windows writes it.
  public static let utf16LittleEndian = TextEncoding(known: "UTF-16LE")
  /// UTF-16 with the higher byte first.
  public static let utf16BigEndian = TextEncoding(known: "UTF-16BE")
  /// UTF-32, in the byte order that the mark at its start tells.
  public static let utf32 = TextEncoding(known: "UTF-32")
  /// Windows-1252, of which Latin-1 (ISO 8859-1) is a part: the usual one of Western Europe's older files.
  public static let windows1252 = TextEncoding(known: "WINDOWS-1252")

  /// The name.
  public var description: String { name }
}
