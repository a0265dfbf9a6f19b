#if SQLite
import Foundation
import GRDB
import Headway
import HeadwayCSV
@testable import HeadwayImport
@testable import HeadwaySampleData
import Testing

/// How the rows of polluted files were treated.
private struct Tally: CustomStringConvertible {
  var files = 0
  /// Rows that are in the database as intended.
  var right = 0
  /// Rows that are among the rejected rows, with a reason.
  var rejected = 0
  /// Rows that are in the database but should not be.
  var wrong = 0
  /// Rows that are intended, but not in the database.
  var missing = 0
  var losses: [String] = []
  var wrongRows: [String] = []

  var description: String {
    "\(files) files: \(right) rows right, \(rejected) rejected with reason, \(wrong) wrong, "
      + "\(missing) of those meant left out"
  }

  mutating func note(_ file: PollutedFile, _ stored: [[String]], rejected: Int) {
    var meant = Dictionary(file.expected.map { ($0, 1) }, uniquingKeysWith: +)
    var wrong: [[String]] = []
    for row in stored {
      if let count = meant[row], count > 0 { meant[row] = count - 1 } else { wrong.append(row) }
    }
    let missing = meant.values.reduce(0, +)
    files += 1
    right += file.expected.count - missing
    self.rejected += rejected
    self.wrong += wrong.count
    self.missing += missing
    wrongRows += wrong.map { "\(file.name): \($0)" }
    if missing > 0 { losses.append("\(file.name): \(missing)") }
  }
}

@Suite("Import: polluted files", .hangLimit)
struct PollutionTests {
  /// Imports each file into a separate table.
  private func tally(_ files: [PollutedFile]) throws -> Tally {
    try withWorkspace { workspace in
      let database = try workspace.database()
      var tally = Tally()
      for (number, file) in files.enumerated() {
        let path = try workspace.write(file.bytes, to: "t\(number).csv")
        let operation = ImportOperation(file: path, into: database, options: ImportOptions(batchSize: 5_000))
        run(operation)
        try FileManager.default.removeItem(atPath: path)
        let stored = operation.error == nil ? try database.texts("t\(number)") : []
        #expect(stored.count == operation.report.rowCount, "\(file.name)")
        tally.note(file, stored, rejected: operation.report.rejectedRowCount)
      }
      return tally
    }
  }

  @Test("I3: no row of a polluted file is stored incorrectly or missing") func structure() throws {
    for seed in 1...3 as ClosedRange<UInt64> {
      let tally = try tally(CleanTable(rows: 40, seed: seed).pollutedFiles)
      print("structure, seed \(seed): \(tally)")
      #expect(tally.wrongRows == [])
      #expect(tally.losses == [])
    }
  }

  @Test("I3: one polluted cell affects at most its row and the rows inside its quote") func cells() throws {
    let table = CleanTable(rows: 84, seed: 7)
    // Together, they require some time.
    let isWhole = ProcessInfo.processInfo.environment["HEADWAY_POLLUTION"] == "all"
    let tally = try tally(table.files(pollutingRecords: isWhole ? Array(0...84) : [0, 1, 40, 84]))
    print("cells: \(tally)")
    #expect(tally.wrongRows == [])
    #expect(tally.missing <= tally.files / 2)
    // A header that can't be used costs no row.
    #expect(!tally.losses.contains { $0.contains("-0-") }, "\(tally.losses)")
  }

  /// External files: the intended rows of each are in a clean file next to it, `NAME.expected.csv`.
  @Test("I3: the files of a folder have the expected rows", .enabled(if: foreignFolder != nil)) func foreign()
    throws
  {
    let folder = try #require(foreignFolder)
    let names = try FileManager.default.contentsOfDirectory(atPath: folder).sorted()
    func bytes(_ name: String) throws -> [UInt8] { Array(try Data(contentsOf: URL(filePath: "\(folder)/\(name)"))) }
    let files = try names.filter { names.contains($0 + ".expected.csv") }.map { name in
      PollutedFile(name, try bytes(name), Array(referenceRows(try bytes(name + ".expected.csv")).dropFirst()))
    }
    let tally = try tally(files)
    print("\(folder): \(tally)")
    print((tally.wrongRows + tally.losses).joined(separator: "\n"))
  }

  @Test("I3: each record is imported or rejected if bytes are flipped, removed, doubled, or inserted")
  func mutations() throws {
    let count = ProcessInfo.processInfo.environment["HEADWAY_MUTATIONS"].flatMap { Int($0) } ?? 200
    try withWorkspace { workspace in
      let database = try workspace.database()
      var random = SplitMix64(seed: 5_000)
      let originals = CleanTable(rows: 6, seed: 3).pollutedFiles.map(\.bytes)
      for number in 0..<count {
        var bytes = originals[random.below(originals.count)]
        for _ in 0...random.below(4) { mutate(&bytes, &random) }
        let path = try workspace.write(bytes, to: "m\(number).csv")
        let operation = ImportOperation(file: path, into: database)
        run(operation)
        if let error = operation.error {
          let code = (error as? ImportError)?.code
          let expected: [ImportError.Code] = [.badHeader, .foreignContent, .unsuitableTable, .noRows]
          #expect(code.map(expected.contains) == true, "\(number): \(error)")
        } else {
          let report = operation.report
          #expect(try database.count("m\(number)") == report.rowCount, "\(number)")
          #expect(report.rowCount + report.rejectedRowCount == (try recordCount(path)), "\(number)")
        }
        try FileManager.default.removeItem(atPath: path)
      }
      #expect(try database.isIntact())
    }
  }

  /// The records behind the header.
  private func recordCount(_ path: String) throws -> Int {
    let source = try RecordSource(path: path, options: ImportOptions(), findsLayout: true)
    _ = try source.requireHeader()
    var count = 0
    try source.forEach { _ in
      count += 1
      return .continue
    } malformed: { _ in
      count += 1
      return .continue
    }
    return count
  }

  private func mutate(_ bytes: inout [UInt8], _ random: inout SplitMix64) {
    guard !bytes.isEmpty else { return }
    let start = random.below(bytes.count)
    let range = start..<min(bytes.count, start + 1 + random.below(20))
    switch random.below(5) {
    case 0: bytes[start] ^= 1 << UInt8(random.below(8))
    case 1: bytes.removeSubrange(range)
    case 2: bytes.insert(contentsOf: bytes[range], at: start)
    case 3: bytes.insert(Array("\",;'\\\n\r\t \0#".utf8)[random.below(11)], at: start)
    default: bytes.removeSubrange(start...)
    }
  }
}

private let foreignFolder = ProcessInfo.processInfo.environment["HEADWAY_POLLUTED_FILES"]

extension ImportDatabase {
  /// All rows of a table as the strings that were in the file.
  fileprivate func texts(_ table: String) throws -> [[String]] {
    try pool.read { connection in
      let columns = try String.fetchAll(
        connection, sql: "SELECT name FROM pragma_table_info(?)", arguments: [table])
      let values = columns.map { SQL.name($0) }.map {
        "CASE typeof(\($0)) WHEN 'real' THEN printf('%.2f', \($0)) ELSE CAST(\($0) AS TEXT) END"
      }
      let rows = try Row.fetchAll(
        connection, sql: "SELECT \(values.joined(separator: ", ")) FROM \(SQL.name(table)) ORDER BY rowid")
      return rows.map { row in row.databaseValues.map { String.fromDatabaseValue($0) ?? "" } }
    }
  }
}
#endif
