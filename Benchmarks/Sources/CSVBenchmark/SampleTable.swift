import Glibc
import HeadwayTestKit

/// A file of stops, which is always the same for the same number of rows.
///
/// A tenth of the names is in quotes, with a comma inside.
struct SampleTable {
  let rows: Int
  let bytes: Int
  /// The sum of the column `id`.
  let sum: Int

  static let columns = 7

  static func write(to path: String, rows: Int) throws -> SampleTable {
    var random = SeededGenerator(seed: 42)
    let file = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0o600)
    precondition(file >= 0, "\(path) can't be written.")
    defer { close(file) }
    var text = "id,name,latitude,longitude,height,zone,is_open\n"
    var bytes = 0
    for id in 1...rows {
      let number = Int.random(in: 1...99_999, using: &random)
      let name = number % 10 == 0 ? "\"Station \(number), north\"" : "Station \(number)"
      let height = number % 3 == 0 ? "" : "\(number % 200).5"
      text += "\(id),\(name),52.\(100_000 + number),13.\(100_000 + id % 99_999),\(height),\(number % 5),\(id % 2)\n"
      if text.utf8.count > 1 << 20 || id == rows {
        let block = Array(text.utf8)
        precondition(Glibc.write(file, block, block.count) == block.count, "\(path) could not be written whole.")
        bytes += block.count
        text = ""
      }
    }
    return SampleTable(rows: rows, bytes: bytes, sum: rows * (rows + 1) / 2)
  }
}
