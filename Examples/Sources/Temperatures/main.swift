// Reads the measurements of several stations, with one operation per file, and writes their means in file order.

import Headway
import HeadwayCSV

let files = [
  ("dahlem.csv", "day,degrees\n2020-01-01,2.5\n2020-01-02,\n2020-01-03,4.0\n"),
  ("tegel.csv", "degrees;day\n\"3.5\";2020-01-01\n1.5;2020-01-02\n"),
  ("tempelhof.csv", "day,degrees\n2020-01-01,3.0\n2020-01-02,cold\n"),
]

struct Mean: Codable {
  var station: String
  var days: Int
  var degrees: Double
}

/// Returns the mean of the measurements.
///
/// Days without a measurement do not count.
func mean(of name: String, _ text: String) throws -> Mean {
  let degrees = CSVColumn("degrees")
  var (sum, days) = (0.0, 0)
  try CSVReader(text: text, name: name).forEachRow { row in
    guard let value: Double = try row.value(degrees) else { return }
    (sum, days) = (sum + value, days + 1)
  }
  return Mean(station: String(name.dropLast(".csv".count)), days: days, degrees: sum / Double(days))
}

let queue = OperationQueue()
let operations = files.map { name, text in queue.addTask { try mean(of: name, text) } }
let writer = CSVWriter()
for operation in operations {
  do {
    try writer.encode(try await operation.value)
  } catch let error as CSVReaderError {
    print("Left out:", error)
  }
}
print(writer.text, terminator: "")
