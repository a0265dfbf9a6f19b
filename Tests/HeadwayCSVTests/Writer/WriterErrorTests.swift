import Foundation
import HeadwayCSV
import HeadwayTestSupport
import Testing

/// Each error with its code and its text.
@Suite(.hangLimit) struct WriterErrorTests {
  private func failure(_ body: () throws -> Void) throws -> CSVWriterError {
    try #require(throws: CSVWriterError.self) { try body() }
  }

  @Test("I3: a missing folder, or a path that is a folder, causes an error") func places() throws {
    let folder = try TemporaryFolder()
    let nowhere = try failure { _ = try CSVWriter(path: folder.path + "/a/t.csv") }
    #expect(nowhere.code == .folderNotFound && nowhere.systemErrorNumber == ENOENT)
    #expect(nowhere.description == "\(folder.path)/a/t.csv: The folder of the file does not exist.")
    let directory = try failure { _ = try CSVWriter(path: folder.path) }
    #expect(directory.code == .isDirectory && directory.description == "\(folder.path): This is a folder.")
    #expect(try failure { _ = try CSVWriter(path: "") }.code == .cannotWrite)
    #expect(try folder.names.isEmpty)
  }

  // Root has all permissions, so the child process drops them. For another user, this changes nothing.
  @Test("I3: a folder or a file without write permission causes an error") func permission() async {
    await #expect(processExitsWith: .success) {
      let folder = try TemporaryFolder()
      let path = try folder.write("a\n".utf8)
      try FileManager.default.setAttributes([.posixPermissions: 0o444], ofItemAtPath: path)
      try FileManager.default.setAttributes([.posixPermissions: 0o555], ofItemAtPath: folder.path)
      let root = geteuid() == 0
      // access(2) checks the real user.
      if root { try #require(setreuid(65_534, 65_534) == 0) }
      for name in [path, folder.path + "/new.csv"] {
        let error = #expect(throws: CSVWriterError.self) { _ = try CSVWriter(path: name) }
        #expect(error?.code == .permissionDenied && error?.systemErrorNumber == EACCES)
      }
    }
  }

  #if os(Linux)
  @Test("I3: a full disk causes an error, even for later rows") func fullDisk() throws {
    let writer = try CSVWriter(path: "/dev/full", columns: ["id"])
    let error = try failure { for number in 1...40_000 { try writer.write(fields: number) } }
    #expect(error.code == .diskFull && error.systemErrorNumber == ENOSPC)
    #expect(error.description == "/dev/full: There is no room for the file. (No space left on device)")
    #expect(try failure { try writer.write(["1"]) }.code == .diskFull)
    #expect(try failure { try writer.finish() }.code == .diskFull)
    let small = try CSVWriter(path: "/dev/full", columns: ["id"])
    #expect(try failure { try small.finish() }.code == .diskFull)
  }
  #endif

  @Test("I3: a descriptor that is not open for writing causes an error") func badDescriptor() throws {
    let folder = try TemporaryFolder()
    let descriptor = openForReading(try folder.write([]))
    defer { closeDescriptor(descriptor) }
    let error = try failure { try CSVWriter(fileDescriptor: descriptor, columns: ["id"]).finish() }
    #expect(error.code == .cannotWrite && error.systemErrorNumber == EBADF && error.path == "/dev/fd/\(descriptor)")
  }

  @Test("O10: writing a row after finish() stops the process with a message") func rowAfterTheEnd() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      let writer = CSVWriter(columns: ["id"])
      try writer.finish()
      try writer.write(["1"])
    }
    let message = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
    #expect(message.contains("Fatal error: CSVWriter for memory: a row was written after finish()."))
  }

  @Test("I3: a row with the wrong number of fields is not written, and other rows can follow") func raggedRow() throws {
    let writer = CSVWriter(columns: ["id", "name"])
    let error = try failure { try writer.write(["1"]) }
    #expect(error.code == .raggedRow)
    #expect(error.description == "memory, row 1: The row has 1 field, and there are 2 columns.")
    try writer.write(["1", "Zoo"])
    #expect(writer.text == "id,name\n1,Zoo\n")
    let plain = CSVWriter()
    try plain.write(["1"])
    #expect(
      try failure { try plain.write(["1", "2"]) }.description
        == "memory, row 2: The row has 2 fields, and there is 1 column.")
  }

  @Test("I3: a number that is not finite causes an error") func notFinite() throws {
    let writer = CSVWriter(columns: ["id", "height"])
    let error = try failure { try writer.write(fields: 1, Double.nan) }
    #expect(error.code == .invalidValue && error.columnName == "height")
    #expect(error.description == "memory, row 1, column height: nan is not finite, and can't be written as a number.")
    struct Tower: Encodable { var id: Int, height: Float? }
    let encoded = try failure { try writer.encode(Tower(id: 1, height: .infinity)) }
    #expect(encoded.code == .invalidValue && encoded.columnName == "height")
    #expect(writer.rowCount == 0)
  }
}
