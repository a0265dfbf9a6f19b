#if Drawing
import CHeadwayDrawing
import Headway
import HeadwayFiles

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// The source of an image: a file, or bytes in memory.
enum ImageSource {
  case file(String)
  case bytes([UInt8])

  var path: String? {
    if case .file(let path) = self { path } else { nil }
  }

  /// Calls a closure with the first bytes, and with the source for a decoder, positioned at the beginning.
  ///
  /// - Throws: ``ImageFileError`` if the file can't be opened or read; errors of the closure.
  func withOpened<Result>(_ body: ([UInt8], headway_image_source) throws -> Result) throws -> Result {
    switch self {
    case .bytes(let bytes):
      return try bytes.withUnsafeBufferPointer { buffer in
        let signature = Array(buffer.prefix(ImageFileFormat.signatureLength))
        return try body(
          signature, headway_image_source(descriptor: -1, bytes: buffer.baseAddress, count: buffer.count))
      }
    case .file(let path):
      let descriptor = try Self.open(path)
      defer { close(descriptor) }
      var signature = [UInt8](repeating: 0, count: ImageFileFormat.signatureLength)
      let count = pread(descriptor, &signature, signature.count, 0)
      guard count >= 0 else { throw ImageFileError(errorNumber: errno, path: path) }
      return try body(
        Array(signature[..<count]), headway_image_source(descriptor: descriptor, bytes: nil, count: 0))
    }
  }

  private static func open(_ path: String) throws(ImageFileError) -> Int32 {
    guard !path.utf8.contains(0) else { throw ImageFileError(errorNumber: ENOENT, path: path) }
    // Nonblocking, because opening a pipe without a writer would wait forever.
    let descriptor = openForReading(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    guard descriptor >= 0 else { throw ImageFileError(errorNumber: errno, path: path) }
    var status = stat()
    guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
      close(descriptor)
      throw ImageFileError(.notRegularFile, path: path)
    }
    return descriptor
  }
}

extension ImageFileError {
  /// Creates an error from a failed system call that opened or read a file.
  init(errorNumber: Int32, path: String) {
    let code: Code =
      switch errorNumber {
      case ENOENT, ENOTDIR: .fileNotFound
      case EACCES, EPERM: .permissionDenied
      case EISDIR, ENXIO, ENODEV: .notRegularFile
      default: .inputOutputError
      }
    self.init(code, path: path, systemErrorNumber: errorNumber)
  }
}

// Inside the type, the unqualified name `open` refers to its own member.
private func openForReading(_ path: String, _ flags: Int32) -> Int32 { path.withPathBytes { open($0, flags) } }
#endif
