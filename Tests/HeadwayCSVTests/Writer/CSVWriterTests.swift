import Foundation
import HeadwayCSV
import HeadwayTestSupport
import Testing

@Suite(.hangLimit) struct CSVWriterTests {
  @Test("I3: fields are quoted only if a reader requires it") func quoting() throws {
    let writer = CSVWriter(columns: ["id", "na,me"])
    try writer.write(["1", "Zoo"])
    try writer.write(["", " a "])
    try writer.write(["a\"b", "c,d"])
    try writer.write(["e\nf", "g\rh"].map { $0[...] })
    #expect(writer.text == "id,\"na,me\"\n1,Zoo\n, a \n\"a\"\"b\",\"c,d\"\n\"e\nf\",\"g\rh\"\n")
    #expect(writer.rowCount == 4 && writer.columns == ["id", "na,me"])
    let single = CSVWriter(options: .init(lineEnding: .crlf))
    for field in ["", "a", ""] { try single.write([field]) }
    #expect(single.text == "\"\"\r\na\r\n\"\"\r\n")
  }

  @Test("I3: text that a reader would misinterpret is written in quotes") func unusualFields() throws {
    let dialect = CSVDialect(
      delimiter: UInt8(ascii: ";"), quote: UInt8(ascii: "'"), escape: UInt8(ascii: "\\"),
      skipsSpacesAfterDelimiter: true, comment: UInt8(ascii: "#"))
    let writer = CSVWriter(options: .init(dialect: dialect))
    try writer.write(["\u{FEFF}a", "b"])
    try writer.write(["#c", " d"])
    try writer.write(["e\\", "f'\\"])
    #expect(writer.text == "'\u{FEFF}a';b\n'#c';' d'\ne\\;'f''\\\\'\n")
    let options = CSVReader.Options(header: .absent, dialect: dialect)
    #expect(
      try fields(CSVReader(bytes: writer.bytes, options: options)) == [
        ["\u{FEFF}a", "b"], ["#c", " d"], ["e\\", "f'\\"],
      ])
    let separator = CSVWriter(columns: ["sep=x", "y"])
    try separator.write(["1", "2"])
    #expect(try CSVReader(bytes: separator.bytes).detectLayout().columns == ["sep=x", "y"])
  }

  @Test("I3: values of several types can be written as a row, and rows that were read are written unchanged")
  func values() throws {
    let writer = CSVWriter(columns: ["id", "name", "height", "open", "note"])
    try writer.write(fields: 1, "Zoo, \"B\"", 2.5, true, String?.none)
    try writer.write(fields: UInt8(2), "", Double?(1e300), false, "ä")
    #expect(writer.text == "id,name,height,open,note\n1,\"Zoo, \"\"B\"\"\",2.5,true,\n2,,1e+300,false,ä\n")
    let copy = CSVWriter(
      columns: try CSVReader(bytes: writer.bytes).detectLayout().columns,
      options: .init(dialect: CSVDialect(delimiter: UInt8(ascii: "\t"))))
    try CSVReader(bytes: writer.bytes).forEachRow { try copy.write($0) }
    #expect(copy.text == "id\tname\theight\topen\tnote\n1\t\"Zoo, \"\"B\"\"\"\t2.5\ttrue\t\n2\t\t1e+300\tfalse\tä\n")
  }

  @Test("I3: finishing the writer replaces the file; until then, the existing file stays")
  func files() throws {
    let folder = try TemporaryFolder()
    let path = try folder.write("before\n".utf8, to: "t.csv")
    try FileManager.default.setAttributes([.posixPermissions: 0o640], ofItemAtPath: path)
    let writer = try CSVWriter(path: path, columns: ["id"])
    // More than one buffer.
    for number in 1...40_000 { try writer.write(fields: number) }
    #expect(try String(contentsOfFile: path, encoding: .utf8) == "before\n")
    #expect(try folder.names.count == 2)
    try writer.finish()
    try writer.finish()
    #expect(try folder.names == ["t.csv"])
    let ids = try rows(CSVReader(path: path)).map { try $0.value("id", as: Int.self) }
    #expect(ids == Array(1...40_000))
    let attributes = try FileManager.default.attributesOfItem(atPath: path)
    #expect(attributes[.posixPermissions] as? Int == 0o640)
  }

  @Test("I3: an unfinished writer leaves no file, and writing to a link keeps the link") func unfinished() throws {
    let folder = try TemporaryFolder()
    for name in ["new.csv", "old.csv"] {
      if name == "old.csv" { _ = try folder.write("old\n".utf8, to: name) }
      var writer: CSVWriter? = try CSVWriter(path: folder.path + "/" + name, columns: ["id"])
      try writer?.write(["1"])
      writer = nil
    }
    #expect(try folder.names == ["old.csv"])
    let link = folder.path + "/link.csv"
    try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: folder.path + "/old.csv")
    let writer = try CSVWriter(path: link, columns: ["id"])
    try writer.finish()
    #expect(try FileManager.default.destinationOfSymbolicLink(atPath: link) == folder.path + "/old.csv")
    #expect(try String(contentsOfFile: folder.path + "/old.csv", encoding: .utf8) == "id\n")
  }

  @Test("I3: a descriptor is written from its current offset, and stays open") func descriptors() throws {
    let folder = try TemporaryFolder()
    let path = try folder.write([])
    let descriptor = openForWriting(path)
    defer { closeDescriptor(descriptor) }
    for number in 1...2 {
      let writer = CSVWriter(fileDescriptor: descriptor, columns: ["id"])
      try writer.write(fields: number)
      try writer.finish()
    }
    #expect(try String(contentsOfFile: path, encoding: .utf8) == "id\n1\nid\n2\n")
  }

  @Test("I3: rows with more or fewer fields are written if an option allows it") func raggedRowPolicy() throws {
    let writer = CSVWriter(columns: ["a", "b"], options: .init(writesHeader: false, raggedRowPolicy: .keep))
    try writer.write(["1"])
    try writer.write(["1", "2", "3"])
    try writer.write([String]())
    #expect(writer.text == "1\n1,2,3\n\"\"\n")
  }
}
