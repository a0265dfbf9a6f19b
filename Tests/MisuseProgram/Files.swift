import HeadwayCSV
import HeadwayLines

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

private let path = "/dev/null"

private func parse(_ text: String, maxRecordLength: Int = 100, _ body: (borrowing CSVRecord) -> Void) {
  var parser = CSVParser(maxRecordLength: maxRecordLength)
  Array(text.utf8).withUnsafeBytes { bytes in
    _ = parser.parse(bytes, isFinal: true) { record in
      body(record)
      return .continue
    } malformed: { _ in
      .continue
    }
  }
}

/// Calls a closure with the two lines of a file.
private func withLines(_ body: (LineBatch) throws -> Void) throws {
  let path = "/tmp/headway-misuse-\(getpid())"
  let descriptor = open(path, O_CREAT | O_EXCL | O_RDWR, 0o600)
  // The process ends while it reads the file.
  unlink(path)
  guard descriptor >= 0, write(descriptor, "a b\nc d\n", 8) == 8 else { return }
  lseek(descriptor, 0, SEEK_SET)
  try LineReader(path: "/dev/fd/\(descriptor)").forEachBatch { batch, _ in try body(batch) }
}

let misusesOfFiles = [
  Misuse("lines: chunk size", "LineReader", "0", "4 KiB to 1 GiB") {
    _ = LineReader(path: path, options: .init(chunkSize: 0))
  },
  Misuse("lines: chunk size that is set", "LineReader", "-1", "4 KiB to 1 GiB") {
    var options = LineReader.Options()
    options.chunkSize = -1
    _ = LineReader(path: path, options: options)
  },
  Misuse("lines: line length", "LineReader", "0", "1 byte to 1 GiB") {
    _ = LineReader(path: path, options: .init(maxLineLength: 0))
  },
  Misuse("lines: interval", "LineReader", "0.0 seconds", "greater than zero") {
    _ = LineReader(following: path, checkInterval: .zero)
  },
  Misuse("lines: count of last lines", "LineReader", "-1", "zero or more") {
    _ = LineReader(following: path, from: .lastLines(-1))
  },
  Misuse("lines: a followed file on a thread", path, "enumerateLines") {
    try LineReader(following: path).forEachBatch { _, _ in }
  },
  Misuse("lines: a line beyond the batch", "LineBatch", "no line 2", "batch of 2") {
    try withLines { batch in _ = batch[2].bytes.count }
  },
  Misuse("lines: a string beyond the batch", "LineBatch", "no line -1", "batch of 2") {
    try withLines { batch in _ = try batch.string(at: -1) }
  },
  Misuse("lines: an empty separator", "LineReader.Line", "text between fields") {
    try withLines { batch in _ = batch[0].split(separator: "") }
  },
  Misuse("lines: a negative field", "LineReader.Line", "-1", "start at 0") {
    try withLines { batch in _ = batch[0].field(-1, separator: " ") }
  },
  Misuse("csv: record length", "CSVParser", "0", "1 byte to 2³⁰ − 1") { parse("a,b\n", maxRecordLength: 0) { _ in } },
  Misuse("csv: skipped lines", "CSVParser", "-1", "0 or more") { _ = CSVParser(skippedLineCount: -1) },
  Misuse("csv: dialect", "CSVDialect", "delimiter 34", "quote 34", "different bytes") {
    _ = CSVParser(dialect: CSVDialect(delimiter: UInt8(ascii: "\"")))
  },
  Misuse("csv: dialect of a writer", "CSVDialect", "delimiter 10", "neither CR nor LF") {
    _ = CSVWriter(options: .init(dialect: CSVDialect(delimiter: UInt8(ascii: "\n"))))
  },
  Misuse("csv: a field beyond the record", "line 1", "no field 2", "has 2") {
    parse("a,b\n") { record in _ = record.string(at: 2) }
  },
  Misuse("csv: quotes of a negative field", "line 1", "no field -1", "has 2") {
    parse("a,b\n") { record in _ = record.wasQuoted(at: -1) }
  },
  Misuse("csv: a row after the end", "CSVWriter", "finish()") {
    let writer = CSVWriter(columns: ["a"])
    try writer.finish()
    try writer.write(["1"])
  },
]
