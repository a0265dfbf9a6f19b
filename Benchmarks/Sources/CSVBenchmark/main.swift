// Reading CSV: compares `CSVReader` with Python's `csv` module, on a file in the page cache. Each way reads all rows
// and adds up one column, so that no work can be omitted. Prints a table in Markdown. Usage: CSVBenchmark [ROUNDS]

import Glibc
import HeadwayCSV

struct Stop: Decodable {
  var id: Int
  var name: String
  var latitude: Double
  var height: Double?
}

struct Way {
  let name: String
  /// The sum of the column `id`.
  let read: (String) async throws -> Int
  var seconds: [Double] = []

  var median: Double { seconds.sorted()[seconds.count / 2] }
}

func ways() -> [Way] {
  [
    Way(name: "Python `csv.reader`, lists of `str`") { try Python.sum(by: Python.reader, $0) },
    Way(name: "Python `csv.DictReader`") { try Python.sum(by: Python.dictionaryReader, $0) },
    Way(name: "`CSVReader.forEachRow`, a column as `Int`") { path in
      let id = CSVColumn("id")
      var sum = 0
      try CSVReader(path: path).forEachRow { sum += try $0.value(id, as: Int.self) }
      return sum
    },
    Way(name: "`CSVReader.rows`, a column as `Int`") { path in
      let id = CSVColumn("id")
      var sum = 0
      for try await row in CSVReader(path: path).rows { sum += try row.value(id, as: Int.self) }
      return sum
    },
    Way(name: "`CSVReader.forEachRow`, all fields as `String`") { path in
      var sum = 0
      try CSVReader(path: path).forEachRow { row in
        let fields = try row.fields
        sum += Int(fields[0]) ?? 0
      }
      return sum
    },
    Way(name: "`CSVReader.rows(as:)`, `Decodable` of four fields") { path in
      var sum = 0
      for try await stop in CSVReader(path: path).rows(as: Stop.self) { sum += stop.id }
      return sum
    },
  ]
}

let rounds = CommandLine.arguments.count > 1 ? Int(CommandLine.arguments[1]) ?? 5 : 5
let path = "/tmp/headway-csv-\(getpid()).csv"
let sample = try SampleTable.write(to: path, rows: 1_000_000)
defer { unlink(path) }
var measured = ways()
// Alternates between the ways, so that other work of the machine affects all of them equally.
for _ in 0..<rounds {
  for position in measured.indices {
    let start = ContinuousClock.now
    let sum = try await measured[position].read(path)
    measured[position].seconds.append((ContinuousClock.now - start) / .seconds(1))
    precondition(
      sum == sample.sum, "\(measured[position].name) read different values: the sum is \(sum), not \(sample.sum)")
  }
}
print(
  "\n\(sample.rows) rows of \(SampleTable.columns) fields, \(sample.bytes / 1_000_000) MB; median of \(rounds) rounds\n"
)
print("| | MB/s | × Python `csv.reader` |\n|---|---|---|")
for way in measured {
  let rate = Int((Double(sample.bytes) / 1e6 / way.median).rounded())
  print("| \(way.name) | \(rate) | \((measured[0].median / way.median * 100).rounded() / 100) |")
}
