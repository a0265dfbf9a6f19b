import Foundation
import HeadwayLines
import HeadwayTestSupport
import Testing

@Suite(.hangLimit) struct FileSourceTests {
  private func read(_ source: inout FileSource, _ count: Int) throws -> [UInt8] {
    var buffer = [UInt8](repeating: 0, count: count)
    let read = try buffer.withUnsafeMutableBytes { buffer throws(LineReaderError) in try source.read(into: buffer) }
    return Array(buffer[..<read])
  }

  @Test("L5: a regular file has a size, is read in order, and remains at its end")
  func regular() throws {
    let folder = try TemporaryFolder()
    var source = try FileSource(path: folder.write("abcde".utf8))
    #expect(source.size == 5)
    #expect(try read(&source, 3) == Array("abc".utf8))
    #expect(try read(&source, 3) == Array("de".utf8))
    #expect(source.bytesRead == 5)
    #expect(try read(&source, 3).isEmpty)
    #expect(try read(&source, 3).isEmpty)
  }

  @Test("L5: a device has no size")
  func device() throws {
    var source = try FileSource(path: "/dev/zero")
    #expect(source.size == nil)
    #expect(try read(&source, 4) == [0, 0, 0, 0])
  }

  #if os(Linux)
  @Test("L5: files in /proc and /sys are read although they report a wrong size")
  func sizesThatAreNotTrue() throws {
    var version = try FileSource(path: "/proc/version")
    #expect(version.size == 0)
    #expect(try !read(&version, 4_096).isEmpty)
    #expect(try read(&version, 4_096).isEmpty)
    guard var attribute = try? FileSource(path: "/sys/class/net/lo/mtu") else { return }
    #expect(attribute.size == 4_096)
    #expect(try !read(&attribute, 4_096).isEmpty)
    #expect(try read(&attribute, 4_096).isEmpty)
  }

  /// The descriptors of this process that belong to a file.
  private func descriptors(of path: String) throws -> [Int32] {
    try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").compactMap { number in
      let link = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\(number)")
      return link == path ? Int32(number) : nil
    }
  }

  @Test("I21: a file is read from beginning to end even if the position of its descriptor is moved")
  func movedPosition() throws {
    let folder = try TemporaryFolder()
    let text = Array("from,1,to,9\nmade,2020-01-01\n".utf8)
    let path = try folder.write(text)
    var source = try FileSource(path: path)
    let descriptor = try #require(descriptors(of: path).first)
    var others = [UInt8](repeating: 0, count: 16)
    #expect(Foundation.read(descriptor, &others, others.count) == others.count)
    #expect(try read(&source, 4) == Array("from".utf8))
    #expect(lseek(descriptor, 0, SEEK_END) == off_t(text.count))
    #expect(try read(&source, 4_096) == Array(text.dropFirst(4)))
    #expect(try read(&source, 4_096).isEmpty)
  }

  @Test("I21: reading fails if the descriptor of a file is closed and belongs to another file")
  func replacedDescriptor() throws {
    let folder = try TemporaryFolder()
    for other in ["", "abcdef"] {
      let path = try folder.write("abcde".utf8)
      var source = try FileSource(path: path)
      #expect(try read(&source, 5) == Array("abcde".utf8))
      let replacement = open(try folder.write(other, to: "other"), O_RDONLY | O_CLOEXEC)
      let descriptor = try #require(descriptors(of: path).first)
      #expect(dup2(replacement, descriptor) == descriptor && close(replacement) == 0)
      let error = #expect(throws: LineReaderError.self) { while try !read(&source, 5).isEmpty {} }
      #expect(error?.code == .inputOutputError && error?.systemErrorNumber == EBADF)
    }
  }

  #if Compression
  /// The change of a file of two compressed parts after a few bytes have been read.
  enum Loss: CaseIterable, Sendable { case replaced, truncated }

  @Test(
    "I21, L6: reading fails if a file ends between two compressed parts, because it was replaced or truncated",
    arguments: ["gzip", "xz", "zstd"], Loss.allCases)
  func lostPart(filter: String, loss: Loss) throws {
    let folder = try TemporaryFolder()
    var state: UInt64 = 1
    // The bytes can't be compressed, so the first part takes several reads.
    let lines = (1...30_000).map { _ in
      state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      return String(state, radix: 36)
    }
    let part = compressed(Array((lines.joined(separator: "\n") + "\n").utf8), by: filter)
    let path = try folder.write(part + part)
    var source = try FileSource(path: path)
    #expect(try !read(&source, 1_000).isEmpty && source.bytesRead < part.count)
    if loss == .truncated {
      #expect(truncate(path, off_t(part.count)) == 0)
    } else {
      let replacement = open(try folder.write(part, to: "other"), O_RDONLY | O_CLOEXEC)
      let descriptor = try #require(descriptors(of: path).first)
      #expect(dup2(replacement, descriptor) == descriptor && close(replacement) == 0)
    }
    let error = #expect(throws: LineReaderError.self) { while try !read(&source, 4_096).isEmpty {} }
    #expect(error?.code == (loss == .truncated ? .truncated : .inputOutputError))
  }
  #endif

  @Test("L5: a file is closed after it is read, and child processes do not inherit its descriptor")
  func closing() async throws {
    let folder = try TemporaryFolder()
    let path = try folder.write("abc".utf8)
    do {
      var source = try FileSource(path: path)
      _ = try read(&source, 1)
      let open = try descriptors(of: path)
      #expect(open.count == 1)
      #expect(fcntl(try #require(open.first), F_GETFD) & FD_CLOEXEC != 0)
    }
    #expect(try descriptors(of: path).isEmpty)
    for form in Form.allCases { _ = await form.read(LineReader(path: path)) }
    #expect(try descriptors(of: path).isEmpty)
  }
  #endif
}
