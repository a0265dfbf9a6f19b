#if SQLite
import HeadwayFiles

extension String {
  /// The path of a database in the form that SQLite requires.
  ///
  /// SQLite reads names from GRDB as UTF-8. A path with other bytes becomes a `file:` URI with these bytes escaped.
  package var databaseName: String {
    guard hasForeignBytes else { return self }
    let plain = Set("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~/".utf8)
    return pathBytes.reduce(into: "file:") { address, byte in
      let hexadecimal = String(byte, radix: 16, uppercase: true)
      address +=
        plain.contains(byte) ? String(Unicode.Scalar(byte)) : byte < 16 ? "%0\(hexadecimal)" : "%\(hexadecimal)"
    }
  }
}
#endif
