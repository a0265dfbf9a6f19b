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

  @Test("L5: a file is closed after it is read, and child processes do not inherit its descriptor")
  func closing() async throws {
    let folder = try TemporaryFolder()
    let path = try folder.write("abc".utf8)
    func descriptors() throws -> [String] {
      try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").filter {
        (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\($0)")) == path
      }
    }
    do {
      var source = try FileSource(path: path)
      _ = try read(&source, 1)
      let open = try descriptors()
      #expect(open.count == 1)
      #expect(fcntl(try #require(Int32(open[0])), F_GETFD) & FD_CLOEXEC != 0)
    }
    #expect(try descriptors().isEmpty)
    for form in Form.allCases { _ = await form.read(LineReader(path: path)) }
    #expect(try descriptors().isEmpty)
  }
  #endif
}
