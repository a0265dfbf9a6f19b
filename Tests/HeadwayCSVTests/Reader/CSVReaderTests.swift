import HeadwayCSV
import HeadwayTestSupport
import Testing

@Suite(.hangLimit) struct CSVReaderTests {
  @Test("I3: each form of reading delivers the same rows", arguments: ReadingForm.allCases)
  func forms(form: ReadingForm) async throws {
    let text = "id,name\r\n1,\"Zoo, \"\"Berlin\"\"\"\r\n\r\n2,\"two\nlines\"\n3,"
    let (rows, error) = await form.read(CSVReader(text: text))
    #expect(error == nil)
    #expect(try rows.map { try $0.fields } == [["1", "Zoo, \"Berlin\""], ["2", "two\nlines"], ["3", ""]])
    #expect(rows.map(\.rowNumber) == [1, 2, 3])
    #expect(rows.map(\.lineNumber) == [2, 4, 6])
    #expect(rows.allSatisfy { $0.header.names == ["id", "name"] })
  }

  @Test("I3: a file, a descriptor, bytes, and a string deliver the same rows") func sources() throws {
    let text = "\u{FEFF}id;name\n1;Zoo\n"
    let folder = try TemporaryFolder()
    let path = try folder.write(text.utf8)
    let descriptor = openForReading(path)
    defer { closeDescriptor(descriptor) }
    let readers = [
      CSVReader(path: path), CSVReader(fileDescriptor: descriptor), CSVReader(bytes: Array(text.utf8)),
      CSVReader(text: text),
    ]
    for reader in readers { #expect(try fields(reader) == [["1", "Zoo"]], "\(reader.path)") }
    // A path is read from its start each time, a descriptor from its current position.
    #expect(try fields(readers[0]).count == 1)
    #expect(try fields(readers[1]).isEmpty)
  }

  @Test("I3: an empty file, or a header without rows, provides its columns but no rows")
  func empty() async throws {
    for (text, columns) in [("", []), ("\n\n", []), ("id,name", ["id", "name"]), ("\u{FEFF}id\n", ["id"])] {
      for form in ReadingForm.allCases {
        let (rows, error) = await form.read(CSVReader(text: text))
        #expect(rows.isEmpty && error == nil)
      }
      #expect(try CSVReader(text: text).detectLayout().columns == columns)
    }
  }

  @Test("I3: column names are read from the file, specified, or generated")
  func headers() throws {
    func names(_ header: CSVReader.Options.Header, _ text: String) throws -> [String] {
      try CSVReader(text: text, options: .init(header: header)).detectLayout().columns
    }
    #expect(try names(.firstRecord, "a, b ,,a,A\n") == ["a", "b", "column_3", "a_2", "A"])
    #expect(try names(.absent, "1,2\n") == ["column_1", "column_2"])
    #expect(try names(.names(["x", "y"]), "1,2\n") == ["x", "y"])
    #expect(try names(.names(["x", "y"]), "") == ["x", "y"])
    #expect(try names(.names(["x", "x"]), "1,2\n") == ["x", "x_2"])
    let titled = "Report of May\n\nid,name,height\n1,Zoo,2.5\n2,Alex,3.5\n"
    #expect(try names(.detected, titled) == ["id", "name", "height"])
    let reader = CSVReader(text: titled, options: .init(header: .detected))
    #expect(try fields(reader) == [["1", "Zoo", "2.5"], ["2", "Alex", "3.5"]])
    let plain = CSVReader(text: "1,2\n3,4\n", options: .init(header: .names(["x", "y"])))
    #expect(try fields(plain) == [["1", "2"], ["3", "4"]])
  }

  @Test("I3: the dialect and the encoding are detected or specified")
  func forms() throws {
    let latin = Array("näme;größe\nä;1\nö;2\n".unicodeScalars.map { UInt8($0.value) })
    let reader = CSVReader(bytes: latin)
    #expect(try reader.detectLayout().encoding == .windows1252)
    #expect(try reader.detectLayout().dialect.delimiter == UInt8(ascii: ";"))
    #expect(try reader.detectLayout().columns == ["näme", "größe"])
    #expect(try fields(reader) == [["ä", "1"], ["ö", "2"]])

    let text = "# made by hand\na|b,c\n# more\n1|2,3\n"
    let options = CSVReader.Options(delimiter: UInt8(ascii: "|"), comment: UInt8(ascii: "#"))
    #expect(try fields(CSVReader(text: text, options: options)) == [["1", "2,3"]])
    let dialect = CSVDialect(delimiter: UInt8(ascii: ","))
    let given = CSVReader.Options(dialect: dialect, comment: UInt8(ascii: "#"))
    #expect(try fields(CSVReader(text: text, options: given)) == [["1|2", "3"]])
    let skipping = CSVReader.Options(dialect: dialect, skippedLineCount: 1)
    #expect(try CSVReader(text: text, options: skipping).detectLayout().columns == ["a|b", "c"])
    #expect(try fields(CSVReader(text: "sep=;\na;b\n1;2\n")) == [["1", "2"]])
  }

  @Test("I3: rows with more or fewer fields are delivered if an option allows it")
  func raggedRowPolicy() throws {
    var seen: [Int] = []
    let reader = CSVReader(text: "a,b\n1\n1,2\n1,2,3\n", options: .init(raggedRowPolicy: .keep))
    for row in try rows(reader) {
      seen.append(row.count)
      #expect(try row.value("b", as: String?.self) == (row.count == 1 ? nil : "2"))
      if row.count == 3 { #expect(try row[2] == "3") }
    }
    #expect(seen == [1, 2, 3])
  }

  @Test("I3: the closure can stop reading") func stopping() throws {
    var seen = 0
    try CSVReader(text: "a\n1\n2\n3\n").forEachRow { _, stop in
      seen += 1
      stop = seen == 2
    }
    #expect(seen == 2)
  }

  #if Compression
  @Test(
    "I3, L6: reading a compressed file delivers the rows of its content",
    arguments: ["gzip", "bzip2", "xz", "zstd", "lz4"])
  func compressedFiles(filter: String) throws {
    let folder = try TemporaryFolder()
    let path = try folder.write(compressed(Array("id,name\n1,Zoo\n".utf8), by: filter))
    #expect(try fields(CSVReader(path: path)) == [["1", "Zoo"]])
  }
  #endif
}
