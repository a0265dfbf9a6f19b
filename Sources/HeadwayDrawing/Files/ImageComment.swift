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
  /// Whether a file has a comment, as it is written with an image.
  ///
  /// - Parameters:
  ///   - comment: The comment.
  ///   - path: The path of the file.
  /// - Returns: Whether it is there; false too where the file can't be read, or is no image.
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

  /// More parts than any file has before its pixels.
  private static let mostParts = 10_000

  /// Segments are a marker of two bytes and a length, which counts itself, until the scan begins.
  private static func isInJPEG(_ comment: [UInt8], _ descriptor: Int32) -> Bool {
    let (commentMarker, scanMarker) = (UInt8(0xFE), UInt8(0xDA))
    var offset = 2
    for _ in 0..<mostParts {
      let head = read(4, at: offset, descriptor)
      guard head.count == 4, head[0] == 0xFF, head[1] != scanMarker else { return false }
      let count = Int(head[2]) << 8 | Int(head[3])
      if head[1] == commentMarker, count == comment.count + 2,
        read(comment.count, at: offset + 4, descriptor) == comment
      {
        return true
      }
      offset += 2 + count
    }
    return false
  }

  /// Chunks are a length, a name, the content and a checksum.
  private static func isInPNG(_ comment: [UInt8], _ descriptor: Int32) -> Bool {
    var offset = 8
    for _ in 0..<mostParts {
      let head = read(8, at: offset, descriptor)
      guard head.count == 8 else { return false }
      let (count, name) = (head[..<4].reduce(0) { $0 << 8 | Int($1) }, head[4...])
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
