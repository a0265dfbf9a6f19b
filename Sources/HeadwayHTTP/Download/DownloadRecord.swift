#if HTTP
  import CHeadwayHTTP
  import Foundation
  import NIOHTTP1

  /// What a server said of the content of a file, kept with the file, by which it is asked whether that has changed.
  ///
  /// It is an extended attribute, which goes where the file goes. Where a file system has none, the file is downloaded
  /// again.
  struct DownloadRecord: Codable {
    let url: String
    private let entityTag: String?
    private let lastModified: String?
    // The file is no longer what the server sent if these differ.
    private var size: Int64 = -1
    private var modificationTime: [Int64] = []

    private static let attribute = "user.headway.download"
    private static let maximumBytes = 4_096

    /// - Parameters:
    ///   - url: The address that was asked for.
    ///   - headers: The header fields of the answer with the content.
    /// - Returns: nil if the server says nothing by which it could be asked.
    init?(url: String, _ headers: HTTPHeaders) {
      self.url = url
      entityTag = headers.first(name: "ETag")
      let change = headers.first(name: "Last-Modified").flatMap(HTTPDate.parsed)
      let now = headers.first(name: "Date").flatMap(HTTPDate.parsed) ?? Date()
      // What changed in the second of the answer may have changed again in it.
      lastModified = change.map { $0 < now } == true ? headers.first(name: "Last-Modified") : nil
      if entityTag == nil, lastModified == nil { return nil }
    }

    /// Reads the record of a file.
    ///
    /// - Returns: nil if there is none for this address, or the file has changed since.
    static func of(_ path: String, url: String) -> DownloadRecord? {
      var bytes = [UInt8](repeating: 0, count: maximumBytes)
      let count = bytes.withUnsafeMutableBytes { buffer in
        #if canImport(Darwin)
          getxattr(path, attribute, buffer.baseAddress, buffer.count, 0, 0)
        #else
          getxattr(path, attribute, buffer.baseAddress, buffer.count)
        #endif
      }
      guard count > 0, let record = try? JSONDecoder().decode(DownloadRecord.self, from: Data(bytes[..<count])) else {
        return nil
      }
      var status = stat()
      guard record.url == url, stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG,
        record.size == Int64(status.st_size), record.modificationTime == time(status)
      else { return nil }
      return record
    }

    /// Keeps the record with a file, whose content is complete.
    ///
    /// - Parameter descriptor: The open file.
    func write(to descriptor: Int32) {
      var status = stat()
      guard fstat(descriptor, &status) == 0 else { return }
      var record = self
      (record.size, record.modificationTime) = (Int64(status.st_size), Self.time(status))
      guard let bytes = try? JSONEncoder().encode(record), bytes.count <= Self.maximumBytes else { return }
      // Without the record, the file is downloaded again: no reason to fail.
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

    /// How many bytes the file has.
    var fileSize: Int64 { size }

    /// Adds the conditions to a request that has none of its own (RFC 9110, 13.1).
    func addConditions(to request: inout HTTPRequest) {
      guard !request.headers.contains(name: "If-None-Match"), !request.headers.contains(name: "If-Modified-Since")
      else { return }
      if let entityTag { request.headers.add(name: "If-None-Match", value: entityTag) }
      if let lastModified { request.headers.add(name: "If-Modified-Since", value: lastModified) }
    }
  }
#endif
