import Foundation
import HeadwayImport
import HeadwaySampleData
import HeadwayTestSupport
import Testing

@Suite("Sample feed", .hangLimit)
struct SampleFeedTests {
  // MARK: Content

  @Test("I4: a sample contains the declared files, which are a complete feed")
  func files() throws {
    try withFeed(SampleFeed(stopTimes: 200, seed: 1)) { feed in
      #expect(try feed.fileNames() == SampleFeed.fileNames.sorted())
      #expect(GTFSSchema.unmetRequirements(for: Set(try feed.fileNames())) == [])
      for name in SampleFeed.fileNames {
        let table = try #require(GTFSSchema.table(forFileNamed: name))
        let header = try feed.table(table.name).header
        #expect(Set(table.columns.map(\.name)).isSuperset(of: header))
        #expect(Set(header).isSuperset(of: table.key))
      }
    }
  }

  @Test(
    "I4: a sample has exactly the requested number of stop times",
    arguments: [2, 3, 19, 20, 21, 40, 41, 999, 1000, 1001, 20_011])
  func counts(stopTimes: Int) throws {
    try withFeed(SampleFeed(stopTimes: stopTimes, seed: 3)) { feed in
      #expect(try feed.table("stop_times").rows.count == stopTimes)
      #expect(try feed.table("stops").rows.count == min(40_000, max(20, stopTimes / 75)))
      let trips = try feed.table("trips").rows.count
      #expect(abs(trips - stopTimes / 20) <= 2 + stopTimes / 200)
    }
  }

  @Test("I4: every trip has at least two stops, for any number of stop times", arguments: 2...120)
  func tripLengths(stopTimes: Int) throws {
    try withFeed(SampleFeed(stopTimes: stopTimes, seed: 9)) { feed in
      let stops = try feed.table("stop_times").column("trip_id").reduce(into: [:]) { $0[$1, default: 0] += 1 }
      #expect(stops.values.allSatisfy { $0 >= 2 })
      #expect(try Set(feed.table("trips").column("trip_id")) == Set(stops.keys))
    }
  }

  @Test("I4: references are valid, keys are unique, and required fields are not empty", arguments: [1, 77] as [UInt64])
  func references(seed: UInt64) throws {
    try withFeed(SampleFeed(stopTimes: 30_000, seed: seed)) { feed in
      for name in SampleFeed.fileNames {
        let schema = try #require(GTFSSchema.table(forFileNamed: name))
        let table = try feed.table(schema.name)
        #expect(table.rows.allSatisfy { $0.count == table.header.count }, "\(name)")
        for column in schema.columns where table.header.contains(column.name) {
          let values = try table.column(column.name)
          if column.isRequired { #expect(!values.contains(""), "\(name) \(column.name)") }
          if let reference = column.reference {
            let known = Set(try feed.table(reference.table).column(reference.column))
            #expect(Set(values).subtracting([""]).isSubset(of: known), "\(name) \(column.name)")
          }
        }
        if !schema.key.isEmpty {
          let keys = try table.rows.indices.map { row in try schema.key.map { try table.value($0, row: row) } }
          #expect(Set(keys).count == keys.count, "\(name)")
        }
      }
      // References that the schema does not specify.
      let services = Set(try feed.table("calendar").column("service_id"))
      #expect(Set(try feed.table("trips").column("service_id")).isSubset(of: services))
      #expect(Set(try feed.table("calendar_dates").column("service_id")).isSubset(of: services))
    }
  }

  @Test("I4: a sample has parents after children, night trips, quoted names and six decimals")
  func realism() throws {
    try withFeed(SampleFeed(stopTimes: 30_000, seed: 5)) { feed in
      let stops = try feed.table("stops")
      let ids = try stops.column("stop_id")
      let position = Dictionary(uniqueKeysWithValues: zip(ids, 0...))
      let parents = try stops.column("parent_station").enumerated().filter { $0.element != "" }
      #expect(parents.contains { index, parent in position[parent, default: 0] > index })
      #expect(parents.contains { index, parent in position[parent, default: 0] < index })
      #expect(try stops.column("stop_lat").allSatisfy { $0.wholeMatch(of: #/52\.\d{6}/#) != nil })
      #expect(try stops.column("stop_lon").allSatisfy { $0.wholeMatch(of: #/13\.\d{6}/#) != nil })

      let names = try stops.column("stop_name")
      #expect(names.contains { $0.contains(",") })
      #expect(names.contains { $0.contains("\"") })
      #expect(names.contains { $0.contains("ü") })
      let bytes = String(decoding: try feed.bytes("stops.txt"), as: UTF8.self)
      #expect(bytes.contains("\"\"\""), "A doubled quote at the edge of a quoted field")
      #expect(bytes.contains(",\"\","), "An empty field between quotes")

      let times = try feed.table("stop_times").column("departure_time")
      #expect(times.allSatisfy { $0.wholeMatch(of: #/[0-3]\d:[0-5]\d:[0-5]\d/#) != nil })
      #expect(times.contains { $0 >= "24:00:00" })
      #expect(times.contains { $0 < "06:00:00" })
    }
  }

  @Test("I4: stop times are sorted by trip and sequence, and times increase within each trip")
  func order() throws {
    try withFeed(SampleFeed(stopTimes: 5_000, seed: 11)) { feed in
      let table = try feed.table("stop_times")
      let trips = try table.column("trip_id").compactMap { Int($0) }
      let sequences = try table.column("stop_sequence").compactMap { Int($0) }
      let arrivals = try table.column("arrival_time")
      let departures = try table.column("departure_time")
      for row in 1..<table.rows.count {
        #expect(arrivals[row] <= departures[row])
        if trips[row] == trips[row - 1] {
          #expect(sequences[row] == sequences[row - 1] + 1)
          #expect(departures[row - 1] < arrivals[row])
        } else {
          #expect(trips[row] > trips[row - 1])
          #expect(sequences[row] == 0)
        }
      }
    }
  }

  // MARK: Reproducibility

  @Test("I4: the same seed produces the same bytes, and another seed produces different ones")
  func determinism() throws {
    let one = try contents(of: SampleFeed(stopTimes: 5_000, seed: 42))
    let same = try contents(of: SampleFeed(stopTimes: 5_000, seed: 42))
    let other = try contents(of: SampleFeed(stopTimes: 5_000, seed: 43))
    #expect(one == same)
    for name in ["stops.txt", "trips.txt", "stop_times.txt", "shapes.txt", "calendar_dates.txt"] {
      #expect(one[name] != other[name], "\(name)")
    }
  }

  // Detects a change of the generator, or a platform where it works differently. In that case, measurements on one
  // sample feed could no longer be compared. A deliberate change replaces the numbers.
  @Test("I4: a seed produces the same bytes on every platform and in every version")
  func checksums() throws {
    let sums = try contents(of: SampleFeed(stopTimes: 5_000, seed: 42)).mapValues(checksum)
    #expect(sums == Self.knownChecksums)
  }

  private static let knownChecksums: [String: UInt64] = [
    "agency.txt": 0xF5CE_46DE_FF9A_9C83,
    "calendar.txt": 0xEE19_51A1_20AD_1C14,
    "calendar_dates.txt": 0xEDD0_6132_335C_63F9,
    "feed_info.txt": 0x75E1_0A29_E419_2C50,
    "routes.txt": 0x78B6_E311_929F_FB36,
    "shapes.txt": 0xE902_D865_8F08_6E37,
    "stop_times.txt": 0x4F02_2E5D_767E_5CFC,
    "stops.txt": 0x5E1F_5130_790F_E761,
    "trips.txt": 0x40BF_17ED_74D4_2EBA,
  ]

  /// FNV-1a.
  private func checksum(_ bytes: [UInt8]) -> UInt64 {
    bytes.reduce(0xCBF2_9CE4_8422_2325) { ($0 ^ UInt64($1)) &* 0x0000_0100_0000_01B3 }
  }

  @Test("I4: CRLF feeds differ from LF feeds only in their line endings")
  func lineEnding() throws {
    let lf = try contents(of: SampleFeed(stopTimes: 1_000, seed: 6, lineEnding: .lf))
    let crlf = try contents(of: SampleFeed(stopTimes: 1_000, seed: 6, lineEnding: .crlf))
    for (name, bytes) in lf {
      #expect(!bytes.contains(UInt8(ascii: "\r")))
      #expect(bytes.last == UInt8(ascii: "\n"))
      let expected = bytes.flatMap { $0 == UInt8(ascii: "\n") ? Array("\r\n".utf8) : [$0] }
      #expect(crlf[name] == expected, "\(name)")
    }
  }

  // MARK: Progress, cancellation, errors

  @Test("I2: progress grows, is reported at most 100 times, and ends at 1", arguments: [2, 500, 40_000])
  func progress(stopTimes: Int) throws {
    var fractions: [Double] = []
    try withFolder { folder in
      try SampleFeed(stopTimes: stopTimes, seed: 1).write(to: folder, progress: { fractions.append($0) })
    }
    #expect(fractions.count <= 100)
    #expect(fractions.last == 1)
    #expect(zip(fractions, fractions.dropFirst()).allSatisfy { $0 < $1 })
  }

  @Test("I2: cancelling leaves no incomplete file", arguments: [1, 2, 40, 300, 500])
  func cancellation(questions: Int) throws {
    let feed = SampleFeed(stopTimes: 4_000, seed: 1)
    let complete = try contents(of: feed)
    try withFolder { folder in
      var asked = 0
      let error = #expect(throws: SampleFeedError.self) {
        try feed.write(
          to: folder,
          isCancelled: {
            asked += 1
            return asked == questions
          })
      }
      #expect(error?.code == .cancelled)
      #expect(asked == questions, "Not called again after it returned true")
      let written = try WrittenFeed(folder: folder).contents()
      #expect(written.count < complete.count)
      for (name, bytes) in written { #expect(bytes == complete[name], "\(name)") }
    }
  }

  @Test("I4: a folder and its parents are created, and existing files are replaced on request")
  func folders() throws {
    try withFolder { folder in
      let deep = folder + "/a/b//c/"
      try SampleFeed(stopTimes: 500, seed: 1).write(to: deep)
      let refused = #expect(throws: SampleFeedError.self) { try SampleFeed(stopTimes: 50, seed: 1).write(to: deep) }
      #expect(refused?.code == .fileExists && refused?.path == deep + "/agency.txt")
      #expect(try WrittenFeed(folder: deep).table("stop_times").rows.count == 500)
      try SampleFeed(stopTimes: 50, seed: 1).write(to: deep, replacesFiles: true)
      #expect(try WrittenFeed(folder: deep).table("stop_times").rows.count == 50)
    }
  }

  @Test("I4: a sample that can't be written causes a typed error with the path and the system's reason")
  func errors() throws {
    try withFolder { folder in
      let few = #expect(throws: SampleFeedError.self) { try SampleFeed(stopTimes: 1).write(to: folder) }
      #expect(few?.code == .tooFewStopTimes)

      let file = folder + "/file"
      try Data().write(to: URL(filePath: file))
      let blocked = #expect(throws: SampleFeedError.self) { try SampleFeed(stopTimes: 10).write(to: file) }
      #expect(blocked?.code == .cannotCreateFolder)
      #expect(blocked?.path == file)
      #expect(blocked?.systemErrorNumber == EEXIST)
      #expect(blocked?.description == "\(file): The folder can't be created. (File exists)")

      // A folder instead of a file: root can write everywhere, so permissions would not prevent it.
      try FileManager.default.createDirectory(atPath: folder + "/routes.txt", withIntermediateDirectories: true)
      let occupied = #expect(throws: SampleFeedError.self) {
        try SampleFeed(stopTimes: 10).write(to: folder, replacesFiles: true)
      }
      #expect(occupied?.code == .cannotCreateFile)
      #expect(occupied?.path == folder + "/routes.txt")
      #expect(occupied?.systemErrorNumber == EISDIR)
    }
  }

  #if os(Linux)
  @Test("I4: a full disk causes a typed error")
  func fullDisk() throws {
    try withFolder { folder in
      try FileManager.default.createSymbolicLink(atPath: folder + "/trips.txt", withDestinationPath: "/dev/full")
      let error = #expect(throws: SampleFeedError.self) {
        try SampleFeed(stopTimes: 500).write(to: folder, replacesFiles: true)
      }
      #expect(error?.code == .cannotWrite)
      #expect(error?.path == folder + "/trips.txt")
      #expect(error?.systemErrorNumber == ENOSPC)
    }
  }
  #endif
}

// MARK: Reading it back

/// Calls `body` with the path of a new folder, which is removed afterwards.
private func withFolder(_ body: (String) throws -> Void) throws {
  let folder = try TemporaryFolder()
  defer { withExtendedLifetime(folder) {} }
  try body(folder.path)
}

private func withFeed(_ feed: SampleFeed, _ body: (WrittenFeed) throws -> Void) throws {
  try withFolder { folder in
    try feed.write(to: folder)
    try body(WrittenFeed(folder: folder))
  }
}

private func contents(of feed: SampleFeed) throws -> [String: [UInt8]] {
  var contents: [String: [UInt8]] = [:]
  try withFeed(feed) { contents = try $0.contents() }
  return contents
}

private struct WrittenFeed {
  let folder: String

  func contents() throws -> [String: [UInt8]] {
    Dictionary(uniqueKeysWithValues: try fileNames().map { ($0, try bytes($0)) })
  }

  func fileNames() throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: folder).sorted()
  }

  func bytes(_ file: String) throws -> [UInt8] {
    Array(try Data(contentsOf: URL(filePath: folder + "/" + file)))
  }

  func table(_ name: String) throws -> Table {
    var rows = try split(bytes(name + ".txt"))
    return Table(header: rows.removeFirst(), rows: rows)
  }
}

private struct Table {
  let header: [String]
  let rows: [[String]]

  func column(_ name: String) throws -> [String] {
    let index = try #require(header.firstIndex(of: name))
    return rows.map { $0[index] }
  }

  func value(_ name: String, row: Int) throws -> String {
    rows[row][try #require(header.firstIndex(of: name))]
  }
}

/// Splits CSV by RFC 4180 into rows, independently of the package's parser.
private func split(_ bytes: [UInt8]) -> [[String]] {
  let (quote, comma, newline) = (UInt8(ascii: "\""), UInt8(ascii: ","), UInt8(ascii: "\n"))
  var rows: [[String]] = []
  var row: [String] = []
  var field: [UInt8] = []
  var isQuoted = false
  var index = 0
  while index < bytes.count {
    let byte = bytes[index]
    if isQuoted {
      if byte == quote, index + 1 < bytes.count, bytes[index + 1] == quote {
        field.append(quote)
        index += 1
      } else if byte == quote {
        isQuoted = false
      } else {
        field.append(byte)
      }
    } else if byte == quote {
      isQuoted = true
    } else if byte == comma || byte == newline {
      if byte == newline, field.last == UInt8(ascii: "\r") { field.removeLast() }
      row.append(String(decoding: field, as: UTF8.self))
      field.removeAll(keepingCapacity: true)
      if byte == newline {
        rows.append(row)
        row = []
      }
    } else {
      field.append(byte)
    }
    index += 1
  }
  return rows
}
