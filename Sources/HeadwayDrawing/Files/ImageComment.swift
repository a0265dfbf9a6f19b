#if Drawing
import CHeadwayDrawing

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// The comments of image files.
package enum ImageComment {
  /// Returns whether a file contains a comment, as written with an image.
  ///
  /// - Parameters:
  ///   - comment: The comment to find.
  ///   - path: The path of the file.
  /// - Returns: Whether the file contains the comment. False, too, if the file can't be read or is not an image.
  package static func isFound(_ comment: String, in path: String) -> Bool {
    let found = try? ImageSource.file(path).withOpened { signature, source in
      switch ImageFileFormat(signature: signature) {
      case .jpeg?: isInJPEG(Array(comment.utf8), source.descriptor)
      case .png?: isInPNG(Array("Comment\0\(comment)".utf8), source.descriptor)
      case nil: false
      }
    }
    return found ?? false
  }

  /// A number of parts that no file exceeds before its pixels.
  private static let mostParts = 10_000

  /// Searches a JPEG file: until the scan begins, each segment consists of a two-byte marker, and a length that
  /// includes itself.
  private static func isInJPEG(_ comment: [UInt8], _ descriptor: Int32) -> Bool {
    let (commentMarker, scanMarker) = (UInt8(0xFE), UInt8(0xDA))
    var offset = 2
    for _ in 0..<mostParts {
      let head = read(4, at: offset, descriptor)
      guard head.count == 4, head[0] == 0xFF, head[1] != scanMarker else { return false }
      let count = (Int(head[2]) << 8) | Int(head[3])
      if head[1] == commentMarker, count == comment.count + 2,
        read(comment.count, at: offset + 4, descriptor) == comment
      {
        return true
      }
      offset += 2 + count
    }
    return false
  }

  /// Searches a PNG file: each chunk consists of a length, a name, the content, and a checksum.
  private static func isInPNG(_ comment: [UInt8], _ descriptor: Int32) -> Bool {
    var offset = 8
    for _ in 0..<mostParts {
      let head = read(8, at: offset, descriptor)
      guard head.count == 8 else { return false }
      let (count, name) = (head[..<4].reduce(0) { ($0 << 8) | Int($1) }, head[4...])
      if name.elementsEqual("IDAT".utf8) { return false }
      if name.elementsEqual("tEXt".utf8), count == comment.count,
        read(count, at: offset + 8, descriptor) == comment
      {
        return true
      }
      offset += 12 + count
    }
    return false
  }

  private static func read(_ count: Int, at offset: Int, _ descriptor: Int32) -> [UInt8] {
    [UInt8](unsafeUninitializedCapacity: count) { buffer, initialized in
      initialized = max(0, pread(descriptor, buffer.baseAddress, count, off_t(offset)))
    }
  }
}
#endif
