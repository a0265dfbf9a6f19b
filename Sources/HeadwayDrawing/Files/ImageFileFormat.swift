#if Drawing
/// The file formats that can be read and written.
public enum ImageFileFormat: Sendable, Hashable, CaseIterable {
  /// For photographs: lossy, without transparency.
  case jpeg
  /// For drawings: lossless, with transparency.
  case png

  /// The number of bytes that identify the format of a file.
  static let signatureLength = 12

  /// Determines the format from the first bytes of a file, regardless of its name.
  ///
  /// - Parameter bytes: The first 12 bytes, or all bytes of a shorter file.
  init?(signature bytes: some Collection<UInt8>) {
    if bytes.starts(with: [0xFF, 0xD8, 0xFF]) {
      self = .jpeg
    } else if bytes.starts(with: [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]) {
      self = .png
    } else {
      return nil
    }
  }

  /// Determines the format from a file name extension: `jpg`, `jpeg`, `jpe` or `png`, in uppercase or lowercase.
  ///
  /// - Parameter path: The path of the file, which does not have to exist.
  public init?(pathExtensionOf path: String) {
    guard let dot = path.lastIndex(of: "."), !path[dot...].contains("/") else { return nil }
    switch path[path.index(after: dot)...].lowercased() {
    case "jpg", "jpeg", "jpe": self = .jpeg
    case "png": self = .png
    default: return nil
    }
  }

  /// Describes an unsupported file by its first bytes, for users.
  static func name(ofForeign bytes: [UInt8]) -> String {
    let text = String(decoding: bytes, as: UTF8.self)
    return switch true {
    case bytes.isEmpty: "the file is empty"
    case text.hasPrefix("GIF8"): "it is GIF"
    case text.hasPrefix("RIFF") && text.hasSuffix("WEBP"): "it is WebP"
    case text.hasPrefix("II*\0") || text.hasPrefix("MM\0*"): "it is TIFF"
    case text.hasPrefix("BM"): "it is BMP"
    case text.hasPrefix("%PDF"): "it is PDF"
    case text.hasPrefix("<?xml") || text.hasPrefix("<svg"): "it is XML or SVG"
    case bytes.dropFirst(4).starts(with: Array("ftyp".utf8)): "it is HEIC, AVIF, or a film"
    default: ""
    }
  }
}
#endif
