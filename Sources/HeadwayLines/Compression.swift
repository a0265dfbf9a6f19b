/// The formats of compressed files, identified by their first bytes.
package enum Compression: CaseIterable, Sendable {
  case gzip, bzip2, xz, zstandard, lz4

  /// The first bytes of the format, in one or more variants.
  ///
  /// Nil where any byte is allowed.
  private var signatures: [[UInt8?]] {
    switch self {
    case .gzip: [[0x1F, 0x8B, 8]]
    case .bzip2:
      // "BZh", the block size, and the magic number of a block or of the end of the stream.
      [
        [0x42, 0x5A, 0x68, nil, 0x31, 0x41, 0x59, 0x26, 0x53, 0x59],
        [0x42, 0x5A, 0x68, nil, 0x17, 0x72, 0x45, 0x38, 0x50, 0x90],
      ]
    case .xz: [[0xFD, 0x37, 0x7A, 0x58, 0x5A, 0]]
    case .zstandard: [[0x28, 0xB5, 0x2F, 0xFD]]
    case .lz4: [[0x04, 0x22, 0x4D, 0x18]]
    }
  }

  /// Creates the format of a file that begins with these bytes.
  ///
  /// Nil if they match no format, or if there are too few of them.
  package init?(of bytes: some Collection<UInt8>) {
    let format = Self.allCases.first { format in
      format.signatures.contains { bytes.count >= $0.count && Self.agrees($0, with: bytes) }
    }
    guard let format else { return nil }
    self = format
  }

  /// Whether the bytes might be the beginning of one of the formats, and more bytes are needed to decide.
  static func isOpen(_ bytes: some Collection<UInt8>) -> Bool {
    allCases.contains { format in
      format.signatures.contains { bytes.count < $0.count && agrees($0, with: bytes) }
    }
  }

  /// Whether the bytes, as many as there are, match a signature.
  private static func agrees(_ signature: [UInt8?], with bytes: some Collection<UInt8>) -> Bool {
    zip(signature, bytes).allSatisfy { $0 == nil || $0 == $1 }
  }

  /// The endings of the names of compressed files.
  package static let endings = [".gz", ".bz2", ".xz", ".zst", ".lz4"]

  /// The usual name of the format.
  package var name: String {
    switch self {
    case .gzip: "gzip"
    case .bzip2: "bzip2"
    case .xz: "xz"
    case .zstandard: "Zstandard"
    case .lz4: "LZ4"
    }
  }

  /// The command that unpacks the format to standard output.
  package var command: String {
    switch self {
    case .gzip: "gzip -dc"
    case .bzip2: "bzip2 -dc"
    case .xz: "xz -dc"
    case .zstandard: "zstd -dc"
    case .lz4: "lz4 -dc"
    }
  }
}
