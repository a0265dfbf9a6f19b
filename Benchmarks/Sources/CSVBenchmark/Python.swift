import Glibc

/// Python's `csv` module, in a separate process.
///
/// The start of the process (about 15 ms) is also measured.
enum Python {
  static let reader = "csv.reader(f); next(rows); print(sum(int(row[0]) for row in rows))"
  static let dictionaryReader = "csv.DictReader(f); print(sum(int(row['id']) for row in rows))"

  static func sum(by expression: String, _ path: String) throws -> Int {
    let program = "import csv; f = open('\(path)', newline='', encoding='utf-8'); rows = \(expression)"
    guard let output = popen("python3 -c \"\(program)\"", "r") else { return 0 }
    defer { pclose(output) }
    var line = [CChar](repeating: 0, count: 64)
    guard fgets(&line, Int32(line.count), output) != nil else { return 0 }
    return line.withUnsafeBufferPointer { atol($0.baseAddress!) }
  }
}
