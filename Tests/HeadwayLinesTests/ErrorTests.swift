import Foundation
import HeadwayLines
import HeadwayTestSupport
import Testing

@Suite(.hangLimit) struct ErrorTests {
  @Test("L5: a missing file causes an error in every form", arguments: Form.allCases)
  func missing(form: Form) async throws {
    let folder = try TemporaryFolder()
    let reading = await form.read(LineReader(path: folder.path + "/none"))
    let error = try #require(reading.readerError)
    #expect(error.code == .fileNotFound)
    #expect(error.path == folder.path + "/none")
    #expect(error.systemErrorNumber == ENOENT)
    #expect(error.systemErrorDescription == "No such file or directory")
    #expect(error.lineNumber == nil)
    #expect(error.description.hasSuffix("/none: There is no such file."))
  }

  @Test("L5: a folder causes an error in every form", arguments: Form.allCases)
  func directory(form: Form) async throws {
    let folder = try TemporaryFolder()
    #expect(await form.read(LineReader(path: folder.path)).readerError?.code == .isDirectory)
  }

  @Test("L5: a path through a file, a loop of links, and a path with a NUL cause errors")
  func unusualPaths() async throws {
    let folder = try TemporaryFolder()
    let file = try folder.write("a\n".utf8)
    #expect(await Form.lines.read(LineReader(path: file + "/b")).readerError?.code == .fileNotFound)
    try FileManager.default.createSymbolicLink(atPath: folder.path + "/loop", withDestinationPath: "loop")
    let loop = await Form.lines.read(LineReader(path: folder.path + "/loop")).readerError
    #expect(loop?.code == .cannotOpen)
    #expect(loop?.systemErrorNumber == ELOOP)
    #expect(await Form.lines.read(LineReader(path: file + "\0b")).readerError?.code == .cannotOpen)
  }

  // Root has all permissions, so the child process drops them. For another user, this changes nothing.
  @Test("L5: a file without read permission causes an error")
  func permission() async {
    await #expect(processExitsWith: .success) {
      let folder = try TemporaryFolder()
      let path = try folder.write("a\n".utf8)
      try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: folder.path)
      try FileManager.default.setAttributes([.posixPermissions: 0], ofItemAtPath: path)
      let root = geteuid() == 0
      if root { try #require(seteuid(65_534) == 0) }
      let error = await Form.batches.read(LineReader(path: path)).readerError
      if root { try #require(seteuid(0) == 0) }
      #expect(error?.code == .permissionDenied)
      #expect(error?.systemErrorNumber == EACCES)
    }
  }

  #if os(Linux)
  // The first page of the address space is never mapped, so the first read fails, with EIO.
  @Test("L5: an input/output error is reported in every form", arguments: Form.allCases)
  func inputOutput(form: Form) async throws {
    let error = await form.read(LineReader(path: "/proc/self/mem")).readerError
    #expect(error?.code == .inputOutputError)
    #expect(error?.systemErrorNumber == EIO)
    #expect(error?.lineNumber == 1)
    #expect(error?.byteOffset == 0)
  }
  #endif

  @Test("L5: if a file is truncated between two batches, its complete lines precede the error")
  func truncation() async throws {
    let folder = try TemporaryFolder()
    // Lines of eight bytes, 512 per chunk.
    let path = try folder.write(repeating: Array("1234567\n".utf8), times: 4_096)
    var lines = 0
    let error = await #expect(throws: LineReaderError.self) {
      for try await batch in LineReader(path: path, options: .init(chunkSize: 4_096)).batches {
        if lines == 0 { try #require(truncate(path, 10_004) == 0) }
        lines += batch.count
      }
    }
    #expect(lines == 1_250)
    #expect(error?.code == .truncated)
    #expect(error?.lineNumber == 1_251)
    #expect(error?.byteOffset == 10_004)
  }

  @Test("L5: truncating a file below the bytes that were read causes an error")
  func truncationBelow() throws {
    let folder = try TemporaryFolder()
    let path = try folder.write(repeating: Array("1234567\n".utf8), times: 4_096)
    var lines = 0
    let error = #expect(throws: LineReaderError.self) {
      try LineReader(path: path, options: .init(chunkSize: 4_096)).forEachBatch { batch, _ in
        lines += batch.count
        try #require(truncate(path, 0) == 0)
      }
    }
    #expect(lines == 512)
    #expect(error?.code == .truncated)
  }

  @Test("L5: a file that grows while it is read is read to its new end")
  func growing() throws {
    let folder = try TemporaryFolder()
    let path = try folder.write("a\n".utf8)
    let handle = try #require(FileHandle(forWritingAtPath: path))
    var lines: [String] = []
    try LineReader(path: path).forEachLine { line in
      lines.append(try line.string)
      if line.number == 1 {
        try handle.seekToEnd()
        try handle.write(contentsOf: Data("b\n".utf8))
      }
    }
    #expect(lines == ["a", "b"])
  }
}
