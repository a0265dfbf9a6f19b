#if SQLite
import Foundation
import GRDB
import HeadwayImport
import Testing

/// A real feed, if this machine has it: `vbb-2020` in the folder that `HEADWAY_SHARED_DATA` names, or in a folder
/// `shared/data` next to or above the package.
let realFeed: String? = {
  var candidates: [String] = []
  if let folder = ProcessInfo.processInfo.environment["HEADWAY_SHARED_DATA"] { candidates.append(folder) }
  var folder = URL(filePath: #filePath).resolvingSymlinksInPath()
  while folder.pathComponents.count > 1 {
    folder.deleteLastPathComponent()
    candidates.append(folder.appending(path: "shared/data").path)
  }
  return candidates.map { $0 + "/vbb-2020" }.first { FileManager.default.fileExists(atPath: $0 + "/stops.txt") }
}()

/// A feed as the test's own splitter reads it.
struct ReferenceFeed {
  struct Table {
    let schema: TableSchema
    let header: [String]
    let rows: [[String]]

    func position(of column: String) -> Int? { header.firstIndex(of: column) }

    func values(of column: String) -> Set<String> {
      guard let position = position(of: column) else { return [] }
      return Set(rows.map { $0[position] })
    }
  }

  private(set) var tables: [String: Table] = [:]

  init(_ folder: String) throws {
    for file in try FileManager.default.contentsOfDirectory(atPath: folder) where file.hasSuffix(".txt") {
      var rows = referenceRows(Array(try Data(contentsOf: URL(filePath: "\(folder)/\(file)"))))
      let name = String(file.dropLast(4))
      tables[name] = Table(
        schema: GTFSSchema.table(named: name) ?? TableSchema(name: name, columns: []), header: rows.removeFirst(),
        rows: rows)
    }
  }

  /// The expected issues of the rows of a table: values that are in the wrong place.
  func reportCount(of table: Table) -> Int {
    var count = 0
    for column in table.schema.columns {
      guard let reference = column.reference, let position = table.position(of: column.name) else { continue }
      guard let parent = tables[reference.table] else { continue }
      let known = parent.values(of: reference.column)
      count += table.rows.count { !$0[position].isEmpty && !known.contains($0[position]) }
    }
    return count
  }
}

extension ImportDatabase {
  /// Compares a table, row by row and value by value, with its file.
  func expectContent(_ table: ReferenceFeed.Table, _ location: SourceLocation = #_sourceLocation) throws {
    let names = table.header.map { "\"\($0)\"" }.joined(separator: ", ")
    let rows = try pool.read {
      try Row.fetchAll($0, sql: "SELECT \(names) FROM \"\(table.schema.name)\" ORDER BY rowid")
    }
    try #require(rows.count == table.rows.count, "\(table.schema.name)", sourceLocation: location)
    var different: [String] = []
    for (row, fields) in zip(rows, table.rows) {
      for (position, (value, field)) in zip(row.databaseValues, fields).enumerated() {
        let column = table.header[position]
        let isKey = table.schema.key.contains(column)
        guard value != expected(field, table.schema.column(named: column)?.type ?? .text, isKey) else { continue }
        different.append("\(table.schema.name).\(column): \(value) for \(field)")
      }
    }
    #expect(different == [], sourceLocation: location)
  }

  private func expected(_ field: String, _ type: ColumnType, _ isKey: Bool) -> DatabaseValue {
    if field.isEmpty { return isKey ? "".databaseValue : .null }
    switch type {
    case .text: return field.databaseValue
    case .integer: return Int64(field)?.databaseValue ?? field.databaseValue
    case .real, .numeric: return Double(field)?.databaseValue ?? field.databaseValue
    }
  }

  /// Compares the declarations of a table with the reference.
  func expectDeclarations(
    _ table: ReferenceFeed.Table, of feed: ReferenceFeed, _ location: SourceLocation = #_sourceLocation
  ) throws {
    let (name, schema) = (table.schema.name, table.schema)
    let isStored = { (column: String) in table.header.contains(column) || schema.key.contains(column) }
    let described = schema.columns.filter { isStored($0.name) }
    let names = table.header + schema.key.filter { !table.header.contains($0) }
    let columns = names.map { "\($0)|\(schema.column(named: $0)?.type.rawValue.uppercased() ?? "TEXT")" }
    let info = "FROM pragma_table_info('\(name)')"
    #expect(try strings("SELECT name, type \(info)") == columns, "\(name)", sourceLocation: location)
    let key = try strings("SELECT name \(info) WHERE pk > 0 ORDER BY pk")
    #expect(key == schema.key, "\(name)", sourceLocation: location)
    let filled = described.filter { $0.isRequired || schema.key.contains($0.name) }.map(\.name)
    let declaredFilled = try strings("SELECT name \(info) WHERE \"notnull\"")
    #expect(Set(declaredFilled) == Set(filled), "\(name)", sourceLocation: location)

    let references = described.compactMap { column -> String? in
      guard let reference = column.reference, let parent = feed.tables[reference.table],
        parent.schema.key == [reference.column]
      else { return nil }
      return "\(column.name)|\(reference.table)|\(reference.column)"
    }
    let declared = try strings("SELECT \"from\", \"table\", \"to\" FROM pragma_foreign_key_list('\(name)')")
    #expect(Set(declared) == Set(references), "\(name)", sourceLocation: location)

    let indices = schema.indices.filter { $0.allSatisfy(table.header.contains) }.map { $0.joined(separator: ",") }
    let made = try strings(
      """
      SELECT (SELECT group_concat(name) FROM pragma_index_info(list.name)) FROM pragma_index_list('\(name)') AS list
      WHERE origin = 'c'
      """)
    #expect(Set(made) == Set(indices), "\(name)", sourceLocation: location)
    #expect(made.count == indices.count, "\(name)", sourceLocation: location)
  }
}

extension Workspace {
  /// A small valid feed, with some of its files replaced or, by nil, omitted; returns its folder.
  func feed(_ changes: [String: String?] = [:]) throws -> String {
    var files: [String: String?] = [
      "agency.txt": "agency_id,agency_name,agency_url,agency_timezone\nA,Test,https://a.example,Europe/Berlin\n",
      "stops.txt": "stop_id,stop_name,parent_station\nS1,One,P\nS2,Two,\nP,Parent,\n",
      "routes.txt": "route_id,agency_id,route_short_name,route_type\nR,A,1,3\n",
      "trips.txt": "route_id,service_id,trip_id\nR,D,T\n",
      "stop_times.txt":
        "trip_id,arrival_time,departure_time,stop_id,stop_sequence\nT,06:00:00,06:00:00,S1,0\nT,25:10:00,,S2,1\n",
      "calendar.txt":
        """
      service_id,monday,tuesday,wednesday,thursday,friday,saturday,sunday,start_date,end_date
      D,1,1,1,1,1,1,1,20260101,20261231

      """,
    ]
    files.merge(changes) { $1 }
    let folder = path("feed")
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    for (name, text) in files {
      if let text { try write(text, to: "feed/\(name)") }
    }
    return folder
  }
}
#endif
