#if SQLite
import Dispatch
import Foundation
import Headway
import HeadwayCSV
import HeadwayImport
import HeadwayTestKit
import HeadwayTestSupport
import Testing

/// The content of real files: other encodings, other formats, other line endings.
@Suite("Import: file contents", .hangLimit)
struct FileContentTests {
  private func imported(
    _ bytes: [UInt8], options: ImportOptions = ImportOptions(),
    _ body: (ImportDatabase, ImportOperation) throws -> Void
  ) throws {
    try withWorkspace { workspace in
      let database = try workspace.database()
      let operation = ImportOperation(
        file: try workspace.write(bytes, to: "file.csv"), into: database, options: options,
        rejectedRows: workspace.rejectedRowsFile())
      run(operation)
      try body(database, operation)
    }
  }

  private static func bytes(_ text: String, _ encoding: String.Encoding) throws -> [UInt8] {
    Array(try #require(text.data(using: encoding)))
  }

  // MARK: Encodings

  @Test(
    "I3: an import detects the encoding of the text",
    arguments: [
      (String.Encoding.utf16LittleEndian, [0xFF, 0xFE], "UTF-16"), (.utf16BigEndian, [0xFE, 0xFF], "UTF-16"),
      (.utf16LittleEndian, [], "UTF-16LE"), (.utf16BigEndian, [], "UTF-16BE"),
      (.utf32LittleEndian, [0xFF, 0xFE, 0, 0], "UTF-32"), (.utf32BigEndian, [0, 0, 0xFE, 0xFF], "UTF-32"),
      (.windowsCP1252, [], "WINDOWS-1252"), (.isoLatin1, [], "WINDOWS-1252"),
      (.utf8, [0xEF, 0xBB, 0xBF], "UTF-8"), (.utf8, [], "UTF-8"),
    ] as [(String.Encoding, [UInt8], String)])
  func encodings(encoding: String.Encoding, mark: [UInt8], name: String) throws {
    // The text is larger than a buffer, which splits it anywhere. A character that requires four bytes in UTF-16 does
    // not exist in every encoding.
    let wide = name.hasPrefix("UTF") ? "😀" : "ß"
    let values = (1...30_000).map { "Größe \(wide)\(String(repeating: "é", count: $0 % 7)) \($0)" }
    let text = "Übung;name\n" + values.enumerated().map { "\($0);\"\($1)\"\n" }.joined()
    try imported(mark + Self.bytes(text, encoding)) { (database, operation) throws in
      #expect(operation.error == nil)
      #expect(operation.report.layout?.encoding.name == name)
      #expect(operation.report.layout?.dialect.delimiter == UInt8(ascii: ";"))
      #expect(operation.report.layout?.columns == ["Übung", "name"])
      #expect(operation.report.rejectedRowCount == 0)
      #expect(try database.strings("SELECT name FROM file ORDER BY rowid") == values)
      #expect(
        operation.report.committedByteCount == operation.report.fileSize && operation.progress.fractionCompleted == 1)
    }
  }

  @Test("I3: a specified encoding is used, regardless of the file's content")
  func givenEncoding() throws {
    let encoding = try #require(CSVTextEncoding("iso-8859-2"))
    try imported([0x61, 0x2C, 0x62, 0x0A, 0x31, 0x2C, 0xB1, 0x0A], options: ImportOptions(encoding: encoding)) {
      (database, operation) throws in
      #expect(try database.strings("SELECT * FROM file") == ["1|ą"])
    }
    // A lone surrogate costs its row, no matter how the encoding is specified; the content is not used to detect it.
    let units: [UInt16] = [0xFEFF] + Array("a\nx".utf16) + [0xD800] + Array("\ny\n€\n".utf16)
    for name in ["utf16", "UTF-16", "unicode", "UTF16LE"] {
      let encoding = try #require(CSVTextEncoding(name))
      try imported(units.flatMap { [UInt8($0 & 0xFF), UInt8($0 >> 8)] }, options: ImportOptions(encoding: encoding)) {
        (database, operation) throws in
        #expect(operation.report.rejectedRowCount == 1)
        #expect(try database.strings("SELECT a FROM file") == ["y", "€"])
      }
    }
    #expect(CSVTextEncoding("no-such") == nil && CSVTextEncoding("") == nil && CSVTextEncoding("UTF-16//IGNORE") == nil)
    #expect(CSVTextEncoding("utf8") == .utf8 && CSVTextEncoding("Windows-1252") == .windows1252)
  }

  @Test("I3: the last letter is imported even if the encoding could combine it with an accent")
  func lastLetter() throws {
    for (name, bytes, value) in [("CP1258", [0x65], "e"), ("CP1258", [0x65, 0xEC], "\u{E9}")] {
      let encoding = try #require(CSVTextEncoding(name))
      try imported(Array("a,b\n1,x".utf8) + bytes.map { UInt8($0) }, options: ImportOptions(encoding: encoding)) {
        (database, operation) throws in
        #expect(operation.error == nil)
        #expect(try database.strings("SELECT b FROM file") == ["x\(value)"])
      }
    }
  }

  @Test("I3: rows that are not valid UTF-8 are rejected in a UTF-8 file") func singleRows() throws {
    let latin = Array("1,Gr".utf8) + [0xFC] + Array("n\n".utf8)
    try imported(Array("id,name\n2,ü\n".utf8) + latin + latin + latin + latin) { (database, operation) throws in
      #expect(operation.report.layout?.encoding == .utf8)
      #expect(operation.report.rejectedRowCount == 4)
      #expect(try database.count("file") == 1)
    }
    try imported(Array("id,name\n".utf8) + latin, options: ImportOptions(encoding: .utf8)) { (_, operation) throws in
      #expect(operation.report.rejectedRowCount == 1)
    }
  }

  @Test(
    "I3: one or two Windows-1252 rows anywhere in an ASCII file are imported",
    arguments: [0, 1, 2_000, 40_000], [1, 2])
  func singleWindowsRows(position: Int, count: Int) throws {
    let latin = Array("1,Gr".utf8) + [0xFC] + Array("n\n".utf8)
    let others = Array(repeating: Array("2,Blue and more\n".utf8), count: position).joined()
    let text = Array("id,name\n".utf8) + others + (0..<count).flatMap { _ in latin } + Array("3,Red\n".utf8)
    try imported(text) { (database, operation) throws in
      #expect(operation.error == nil && operation.report.rejectedRowCount == 0)
      #expect(try database.strings("SELECT name FROM file WHERE id = 1") == Array(repeating: "Grün", count: count))
      #expect(try database.count("file") == position + count + 1)
      // The encoding is detected before the import, or noted at its end.
      let layout = try #require(operation.report.layout)
      let isDetected = layout.encoding == .windows1252 && layout.isEncodingAssumed && operation.report.notes.isEmpty
      let isNoted = layout.encoding == .utf8 && operation.report.notes.contains { $0.contains("WINDOWS-1252") }
      #expect(position < 10_000 ? isDetected : isNoted)
    }
  }

  #if Encodings
  @Test(
    "I3: the encoding of other scripts is detected by their characters, even far into the file",
    arguments: [
      ("CP932", "SHIFT_JIS", "東京,大阪府,山田太郎,ホッカイドウ"),
      ("EUC-JP", "EUC-JP", "東京,大阪府,山田太郎,ホッカイドウ"),
      ("GB18030", "GB18030", "北京,上海市,张伟,有限公司"),
      ("BIG5-HKSCS", "BIG5", "臺北,高雄市,陳大文,有限公司"),
      ("UHC", "EUC-KR", "서울,부산광역시,김철수,주식회사"),
      ("KOI8-R", "KOI8-R", "Москва,Санкт-Петербург,Казань,Да"),
      ("WINDOWS-1251", "WINDOWS-1251", "Москва,Санкт-Петербург,Казань,Да"),
      ("IBM866", "IBM866", "Москва,Санкт-Петербург,Казань,Да"),
      ("ISO-8859-7", "ISO-8859-7", "Αθήνα,Θεσσαλονίκη,Πάτρα,Ναι"),
      ("WINDOWS-1250", "WINDOWS-1250", "Łódź,Gdańsk,Częstochowa,Śląsk,Żółć,Świętochłowice,Poznań,Kraków"),
      ("WINDOWS-1252", "WINDOWS-1252", "Straße,Köln,Málaga,Besançon"),
    ] as [(found: String, written: String, values: String)], [0, 20_000])
  func characters(sample: (found: String, written: String, values: String), position: Int) throws {
    let (found, written) = (sample.found, sample.written)
    let values = sample.values.split(separator: ",").map(String.init)
    let others = String(repeating: "0,ASCII alone\n", count: position)
    let text = "id,name\n" + others + values.enumerated().map { "\($0 + 1),\($1)\n" }.joined()
    try imported(encoded(text, as: written)) { (database, operation) throws in
      #expect(operation.error == nil && operation.report.rejectedRowCount == 0)
      #expect(try database.strings("SELECT name FROM file WHERE id > 0 ORDER BY id") == values)
      let name = operation.report.layout?.encoding.name
      #expect(position == 0 ? name == found : operation.report.notes.contains { $0.contains(found) })
    }
  }

  /// The text in an encoding that `iconv` supports.
  private func encoded(_ text: String, as encoding: String) throws -> [UInt8] {
    let converter = try #require(iconv_open(encoding, "UTF-8"))
    defer { iconv_close(converter) }
    var (source, target) = (Array(text.utf8), Array(repeating: UInt8(0), count: text.utf8.count * 2))
    var (sourceLeft, targetLeft) = (source.count, target.count)
    source.withUnsafeMutableBytes { source in
      target.withUnsafeMutableBytes { target in
        var input = source.baseAddress?.assumingMemoryBound(to: CChar.self)
        var output = target.baseAddress?.assumingMemoryBound(to: CChar.self)
        iconv(converter, &input, &sourceLeft, &output, &targetLeft)
      }
    }
    #expect(sourceLeft == 0)
    return Array(target.dropLast(targetLeft))
  }
  #endif

  @Test("I3: bytes that are invalid in their encoding cause only their own row to be rejected")
  func undecodable() throws {
    // A lone high surrogate; and 0x81, which Windows-1252 does not have.
    let utf16: [UInt16] = Array("a,b\n1,".utf16) + [0xD800] + Array("x\n2,y\n".utf16)
    try imported([0xFF, 0xFE] + utf16.flatMap { [UInt8($0 & 0xFF), UInt8($0 >> 8)] }) {
      (database, operation) throws in
      #expect(operation.report.rejectedRowCount == 1)
      #expect(try database.strings("SELECT * FROM file") == ["2|y"])
    }
    // The last character is truncated.
    let cut: [UInt8] = [0xFF, 0xFE] + Array("a,b\n1,2\n3,".utf16).flatMap { [UInt8($0 & 0xFF), 0] } + [0x34]
    try imported(cut) { (database, operation) throws in
      #expect(operation.report.rejectedRowCount == 1)
      #expect(try database.strings("SELECT * FROM file") == ["1|2"])
    }
    let windows = Array("a,b\n1,".utf8) + [0x81] + Array("\n2,".utf8) + [0x80] + Array("\n".utf8)
    try imported(windows, options: ImportOptions(encoding: .windows1252)) { (database, operation) throws in
      #expect(operation.report.rejectedRowCount == 1)
      #expect(try database.strings("SELECT * FROM file") == ["2|€"])
    }
  }

  // MARK: Other formats

  #if Compression
  static let isUnpacked = true

  @Test("L6, I4: compressed files are imported, by their name without the ending") func compressedFiles() throws {
    try withWorkspace { workspace in
      let database = try workspace.database()
      let text = "stop_id,stop_name\n" + (1...30_000).map { "S\($0),\u{FC}ber \($0)\n" }.joined()
      let latin = Array(try #require(text.data(using: .windowsCP1252)))
      let file = try workspace.write(compressed(latin, by: "gzip"), to: "stops.txt.gz")
      let operation = ImportOperation(file: file, into: database)
      #expect(operation.table == GTFSSchema.table(named: "stops"))
      let fractions = EventRecorder<Double>()
      let watch = operation.progress.onChange { fractions.record($0.fractionCompleted) }
      run(operation)
      watch.invalidate()
      #expect(operation.error == nil)
      #expect(try database.count("stops") == 30_000)
      #expect(try database.strings("SELECT stop_name FROM stops WHERE stop_id = 'S7'") == ["über 7"])
      #expect(fractions.events == fractions.events.sorted() && fractions.events.last == 1)
      #expect(operation.report.committedByteCount == operation.report.fileSize)
      #expect(ImportOperation(file: "a/people.csv.zst", into: database).table.name == "people")
      #expect(ImportOperation(file: "a/b.gz", into: database).table.name == "b")
    }
  }

  @Test("L6: reading a truncated compressed file fails, and the rows that were read stay") func cut() throws {
    try withWorkspace { workspace in
      let database = try workspace.database()
      let lines = (1...100_000).map { "\($0),name \($0 &* 2_654_435_761)\n" }.joined()
      let whole = compressed(Array("id,name\n\(lines)".utf8), by: "gzip")
      let operation = ImportOperation(
        file: try workspace.write(Array(whole[..<(whole.count * 3 / 4)]), to: "t.csv.gz"), into: database)
      run(operation)
      let error = try importError(operation)
      #expect(error.code == .foreignContent && error.context.contains("damaged"))
      #expect(operation.report.rowCount > 10_000 && operation.report.rowCount < 80_000)
      #expect(try database.count("t") == operation.report.rowCount)
    }
  }
  #else
  static let isUnpacked = false
  #endif

  @Test(
    "I3: a file that is not text causes an error that names its likely format",
    arguments: [
      ([0x50, 0x4B, 3, 4], "zip archive"), ([0x1F, 0x8B, 8], isUnpacked ? "damaged" : "compressed by gzip"),
      ([0x28, 0xB5, 0x2F, 0xFD], isUnpacked ? "damaged" : "compressed by Zstandard"),
      (Array("SQLite format 3\0".utf8), "SQLite database"), (Array("%PDF-1.7".utf8), "PDF"),
      ([0x89, 0x50, 0x4E, 0x47], "PNG"), (Array(1...0x1F), "not a text file"),
    ] as [([UInt8], String)])
  func foreign(start: [UInt8], meaning: String) throws {
    try imported(start + Array("a,b\n1,2\n".utf8)) { (database, operation) throws in
      let error = try importError(operation)
      #expect(error.code == .foreignContent && error.path == operation.file)
      #expect(error.context.contains(meaning))
      #expect(try !database.hasTable("file"))
      #expect(throws: ImportError.self) { try CSVLayout(ofFile: operation.file) }
    }
  }

  @Test("I3: a column name that resembles the signature of a compressed file is text")
  func likeSignature() throws {
    try imported(Array("BZhead,PARK\n1,2\n".utf8)) { (database, operation) throws in
      #expect(operation.error == nil)
      #expect(try database.columns("file") == ["BZhead", "PARK"])
    }
  }

  // MARK: Lines and headers

  @Test("I3: lines that end with CR alone are found, with any delimiter", arguments: [",", "|"])
  func carriageReturns(delimiter: String) throws {
    let text = "a,b\r1,2\r3,\"4\r5\"\r".replacing(",", with: delimiter)
    for options in [ImportOptions(), ImportOptions(delimiter: Array(delimiter.utf8)[0])] {
      try imported(Array(text.utf8), options: options) { (database, operation) throws in
        #expect(operation.report.layout?.dialect.endsRecordsAtLoneCarriageReturn == true)
        #expect(try database.strings("SELECT * FROM file") == ["1|2", "3|4\r5"])
      }
    }
  }

  @Test("I3: lines that end with CR are detected even if fields contain LF, or the file ends with one")
  func mostlyCarriageReturns() throws {
    for text in ["a,b\r1,2\r3,4\r\n", "a,b\r1,\"x\ny\"\r3,4\r"] {
      try imported(Array(text.utf8)) { (database, operation) throws in
        #expect(operation.report.rowCount == 2 && operation.report.rejectedRowCount == 0)
        #expect(try database.columns("file") == ["a", "b"])
      }
    }
  }

  @Test(
    "I3: an unusable header causes an error with its line number, and no table is created",
    arguments: [
      ("a name that is not UTF-8", Array("a,".utf8) + [0xFF] + Array("\nü,2\n".utf8), "column 2 is not valid UTF-8"),
      ("a NUL", Array("a,b\0c\n1,2\n".utf8), "column 2 has a NUL"),
      (
        "2,001 names", Array(((1...2_001).map { "c\($0)" }.joined(separator: ",") + "\n").utf8),
        "There are 2001 columns"
      ),
    ].map(UnusableHeader.init))
  fileprivate func headers(header: UnusableHeader) throws {
    let (text, message) = (header.text, header.message)
    let options = ImportOptions(encoding: message.contains("UTF-8") ? .utf8 : nil)
    try imported(text, options: options) { (database, operation) throws in
      let error = try importError(operation)
      #expect(error.code == .badHeader && error.lineNumber == 1)
      #expect(error.context.contains(message), "\(error)")
      #expect(try !database.hasTable("file"))
    }
  }

  @Test("I3: 1,999 columns are imported, and a first line that is not a header can contain any bytes")
  func manyColumns() throws {
    let names = (1...1_999).map { "c\($0)" }.joined(separator: ",")
    try imported(Array("\(names)\n\(names.replacing("c", with: ""))\n".utf8)) { (database, operation) throws in
      #expect(operation.error == nil)
      #expect(try database.count("file") == 1)
    }
    try imported(Array("a,\0\n1,2\n".utf8), options: ImportOptions(hasHeader: false)) {
      (database, operation) throws in
      #expect(operation.error == nil)
      #expect(try database.columns("file") == ["column_1", "column_2"])
      #expect(try database.count("file") == 2)
    }
  }

  @Test("I3: the format of a pipe is detected from more than its first piece")
  func pipe() throws {
    try withWorkspace { workspace in
      let path = workspace.path("pipe")
      try #require(mkfifo(path, 0o600) == 0)
      let pieces = ["a", ",b;c\n", "1,5;2\n", "3,5;", "4\n"] + (5...2_000).map { "\($0);6\n" }
      let written = DispatchGroup()
      DispatchQueue.global().async(group: written) {
        let file = FileHandle(forWritingAtPath: path)
        for piece in pieces { try? file?.write(contentsOf: Data(piece.utf8)) }
      }
      let database = try workspace.database()
      let operation = ImportOperation(file: path, into: database)
      run(operation)
      written.wait()
      #expect(operation.error == nil)
      #expect(operation.report.layout?.columns == ["a,b", "c"])
      #expect(operation.report.rowCount == 1_998 && operation.report.rejectedRowCount == 0)
    }
  }

  @Test(
    "I3: a first line that specifies the delimiter, as Excel writes it, is not the header", arguments: [true, false])
  func separatorLine(hasHeader: Bool) throws {
    for mark in [[], [0xEF, 0xBB, 0xBF]] as [[UInt8]] {
      let text = "sep=;\r\n" + (hasHeader ? "a,b;c\r\n" : "") + "1,5;2\r\n"
      try imported(mark + Array(text.utf8), options: ImportOptions(hasHeader: hasHeader)) {
        (database, operation) throws in
        #expect(try database.columns("file") == (hasHeader ? ["a,b", "c"] : ["column_1", "column_2"]))
        #expect(try database.strings("SELECT * FROM file") == ["1,5|2"])
      }
    }
  }

  @Test("I3: CSVLayout detects the properties of a file and throws errors for its header") func layout() throws {
    try withWorkspace { workspace in
      let layout = try CSVLayout(ofFile: workspace.write("a|b\n1|2\n", to: "x.csv"))
      #expect(
        layout.columns == ["a", "b"] && layout.dialect.delimiter == UInt8(ascii: "|") && layout.encoding == .utf8)
      let twice = try workspace.write("a,A\n1,2\n", to: "y.csv")
      #expect(try CSVLayout(ofFile: twice).renamedColumns == ["A_2": "A"])
      #expect {
        try CSVLayout(ofFile: twice, table: TableSchema(name: "y", columns: [], key: ["a"]))
      } throws: {
        ($0 as? ImportError)?.code == .badHeader
      }
    }
  }

  @Test("I3: columns have the order of the file, regardless of the order of their descriptions") func order()
    throws
  {
    try withWorkspace { workspace in
      let database = try workspace.database()
      let table = TableSchema(
        name: "t", columns: [ColumnSchema(name: "c", type: .integer), ColumnSchema(name: "B")], key: ["d", "c"])
      let operation = ImportOperation(
        file: try workspace.write("a,b,c,d\n1,2,3,4\n", to: "t.csv"), table: table, into: database)
      run(operation)
      #expect(operation.error == nil)
      #expect(try database.columns("t") == ["a", "B", "c", "d"])
      #expect(try database.strings("SELECT * FROM t") == ["1|2|3|4"])
    }
  }
}

/// A file whose header can't name columns.
private struct UnusableHeader: CustomTestStringConvertible, Sendable {
  let testDescription: String
  let text: [UInt8]
  /// The error message.
  let message: String

  init(_ testDescription: String, _ text: [UInt8], _ message: String) {
    (self.testDescription, self.text, self.message) = (testDescription, text, message)
  }
}
#endif
