#if HTTP
import CHeadwayHTTP
import Foundation
import HTTPTypes
import HeadwayFiles
import NIOHTTP1

/// The validators of a file's content, stored with the file.
///
/// With these validators, the server reports whether the content has changed. They are stored in an extended attribute,
/// which moves with the file. On a file system without extended attributes, the file is downloaded again.
struct DownloadRecord: Codable {
  let url: String
  /// Whether the download decompressed content that the server compressed for transfer.
  private let isDecoded: Bool
  private let entityTag: String?
  private let lastModified: String?
  // If these values differ from the file's values, the file is no longer what the server sent.
  private var size: Int64 = -1
  private var modificationTime: [Int64] = []

  private static let attribute = "user.headway.download"
  private static let maxBytes = 4_096

  /// Creates a record of a response; nil if the response has no validators.
  ///
  /// - Parameters:
  ///   - url: The URL of the request.
  ///   - headers: The header fields of the response with the content.
  ///   - isDecoded: Whether the download decompresses content.
  init?(url: String, _ headers: HTTPHeaders, isDecoded: Bool) {
    (self.url, self.isDecoded) = (url, isDecoded)
    entityTag = Validator.entityTag(headers)
    let text = headers.uniqueValue("Last-Modified")
    let change = text.flatMap { HTTPDate.parsed($0) }
    let now = headers.first(name: "Date").flatMap { HTTPDate.parsed($0) } ?? Date()
    // Content that changed in the second of the response might change again in that second.
    lastModified = change.map { $0 < now } == true ? text : nil
    if entityTag == nil, lastModified == nil { return nil }
  }

  /// Reads the record of a file.
  ///
  /// - Returns: nil if the file has no record of such a download from this URL, or has changed since.
  static func of(_ path: String, url: String, isDecoded: Bool) -> DownloadRecord? {
    var bytes = [UInt8](repeating: 0, count: maxBytes)
    let count = bytes.withUnsafeMutableBytes { buffer in
      path.withPathBytes { path in
        #if canImport(Darwin)
        getxattr(path, attribute, buffer.baseAddress, buffer.count, 0, 0)
        #else
        getxattr(path, attribute, buffer.baseAddress, buffer.count)
        #endif
      }
    }
    guard count > 0, let record = try? JSONDecoder().decode(DownloadRecord.self, from: Data(bytes[..<count])) else {
      return nil
    }
    var status = stat()
    guard record.url == url, record.isDecoded == isDecoded, path.withPathBytes({ stat($0, &status) }) == 0,
      status.st_mode & S_IFMT == S_IFREG, record.size == Int64(status.st_size),
      record.modificationTime == time(status)
    else { return nil }
    return record
  }

  /// Stores the record in a file whose content is complete.
  ///
  /// - Parameter descriptor: The descriptor of the open partial file.
  func write(to descriptor: Int32) {
    var status = stat()
    guard fstat(descriptor, &status) == 0 else { return }
    var record = self
    (record.size, record.modificationTime) = (Int64(status.st_size), Self.time(status))
    guard let bytes = try? JSONEncoder().encode(record), bytes.count <= Self.maxBytes else { return }
    // Errors are ignored: without the record, the file is downloaded again, which does not justify a failure.
    bytes.withUnsafeBytes { buffer in
      #if canImport(Darwin)
      _ = fsetxattr(descriptor, Self.attribute, buffer.baseAddress, buffer.count, 0, 0)
      #else
      _ = fsetxattr(descriptor, Self.attribute, buffer.baseAddress, buffer.count, 0)
      #endif
    }
  }

  private static func time(_ status: stat) -> [Int64] {
    #if canImport(Darwin)
    [Int64(status.st_mtimespec.tv_sec), Int64(status.st_mtimespec.tv_nsec)]
    #else
    [Int64(status.st_mtim.tv_sec), Int64(status.st_mtim.tv_nsec)]
    #endif
  }

  /// Returns whether a response identifies content that differs from the file's content.
  func isContradicted(by headers: HTTPHeaders) -> Bool {
    // A proxy or server might change a strong tag into a weak one in transit.
    if let entityTag, let tag = Validator.entityTag(headers) { return Self.strong(tag) != Self.strong(entityTag) }
    guard entityTag == nil, let lastModified, let text = headers.uniqueValue("Last-Modified") else { return false }
    return HTTPDate.parsed(text) != HTTPDate.parsed(lastModified)
  }

  private static func strong(_ tag: String) -> Substring { tag.hasPrefix("W/") ? tag.dropFirst(2) : tag[...] }

  /// The size of the file in bytes.
  var fileSize: Int64 { size }

  /// Adds the conditions to a request, unless it already has conditions (RFC 9110, 13.1).
  func addConditions(to request: inout Request) {
    guard !request.headers.contains(.ifNoneMatch), !request.headers.contains(.ifModifiedSince) else { return }
    if let entityTag { request.headers[.ifNoneMatch] = entityTag }
    if let lastModified { request.headers[.ifModifiedSince] = lastModified }
  }
}
#endif
