import HeadwayImport
import Testing

@Suite("GTFS schema", .hangLimit)
struct GTFSSchemaTests {
  // MARK: Internal consistency

  @Test("I4: the schema has a table for each file of the reference, in the same order")
  func tableNames() {
    #expect(
      GTFSSchema.tables.map(\.name) == [
        "agency", "stops", "routes", "trips", "stop_times", "calendar", "calendar_dates", "fare_attributes",
        "fare_rules", "timeframes", "rider_categories", "fare_media", "fare_products", "fare_leg_rules",
        "fare_leg_join_rules", "fare_transfer_rules", "areas", "stop_areas", "networks", "route_networks", "shapes",
        "frequencies", "transfers", "pathways", "levels", "location_groups", "location_group_stops", "booking_rules",
        "translations", "feed_info", "attributions",
      ])
  }

  @Test(
    "I4: column names are unique per table, and keys and indices name existing columns", arguments: GTFSSchema.tables)
  func names(table: TableSchema) {
    let names = table.columns.map(\.name)
    #expect(Set(names).count == names.count)
    #expect(Set(table.key).count == table.key.count)
    #expect(Set(names).isSuperset(of: table.key))
    for index in table.indices {
      #expect(!index.isEmpty)
      #expect(Set(names).isSuperset(of: index))
    }
    #expect(Set(table.indices).count == table.indices.count)
    #expect(table.key.isEmpty || !table.indices.contains([table.key[0]]), "The key has an index of its own")
  }

  @Test("I4: a reference names a column of the same type, and both columns have an index", arguments: GTFSSchema.tables)
  func references(table: TableSchema) throws {
    for column in table.columns {
      guard let reference = column.reference else { continue }
      let referred = try #require(GTFSSchema.table(named: reference.table))
      #expect(referred.column(named: reference.column)?.type == column.type)
      #expect(isLookedUp(column.name, in: table))
      #expect(isLookedUp(reference.column, in: referred))
    }
  }

  private func isLookedUp(_ column: String, in table: TableSchema) -> Bool {
    table.key.first == column || table.indices.contains { $0.first == column }
  }

  @Test("I4: the load order places each table after the tables that it refers to")
  func loadOrder() {
    let order = GTFSSchema.loadOrder.map(\.name)
    #expect(order.sorted() == GTFSSchema.tables.map(\.name).sorted())
    var loaded: Set<String> = []
    for name in order {
      #expect(GTFSSchema.dependencies(of: name).isSubset(of: loaded), "\(name) comes too early")
      loaded.insert(name)
    }
  }

  @Test("I4: a cycle of tables has no load order; references to itself or a missing table are allowed")
  func circles() {
    func table(_ name: String, to others: String...) -> TableSchema {
      let columns = others.map { ColumnSchema(name: "to_\($0)", reference: ColumnReference(table: $0, column: "id")) }
      return TableSchema(name: name, columns: [ColumnSchema(name: "id")] + columns, key: ["id"])
    }
    #expect(TableSchema.loadOrder(of: [table("a", to: "b"), table("b", to: "c"), table("c", to: "a")]) == nil)
    #expect(TableSchema.loadOrder(of: [table("a", to: "a", "x")])?.map(\.name) == ["a"])
    let order = TableSchema.loadOrder(of: [table("a", to: "c"), table("b"), table("c")])
    #expect(order?.map(\.name) == ["b", "c", "a"])
    #expect(TableSchema.loadOrder(of: []) == [])
  }

  // MARK: Consistency with the reference

  @Test(
    "I4: primary keys match the reference",
    arguments: [
      ("agency", ["agency_id"]), ("stops", ["stop_id"]), ("routes", ["route_id"]), ("trips", ["trip_id"]),
      ("stop_times", ["trip_id", "stop_sequence"]), ("calendar", ["service_id"]),
      ("calendar_dates", ["service_id", "date"]), ("shapes", ["shape_id", "shape_pt_sequence"]),
      ("frequencies", ["trip_id", "start_time"]),
      ("transfers", ["from_stop_id", "to_stop_id", "from_trip_id", "to_trip_id", "from_route_id", "to_route_id"]),
      ("fare_products", ["fare_product_id", "rider_category_id", "fare_media_id"]),
      ("route_networks", ["route_id"]), ("fare_rules", []), ("feed_info", []), ("stop_areas", []),
      ("attributions", []),
    ])
  func keys(name: String, key: [String]) {
    #expect(GTFSSchema.table(named: name)?.key == key)
  }

  @Test(
    "I4: each table has as many columns as in the reference",
    arguments: [
      ("agency", 9), ("stops", 16), ("routes", 14), ("trips", 13), ("stop_times", 18), ("calendar", 10),
      ("calendar_dates", 3), ("fare_attributes", 7), ("fare_rules", 5), ("timeframes", 4), ("rider_categories", 4),
      ("fare_media", 3), ("fare_products", 6), ("fare_leg_rules", 8), ("fare_leg_join_rules", 4),
      ("fare_transfer_rules", 7), ("areas", 2), ("stop_areas", 2), ("networks", 2), ("route_networks", 2),
      ("shapes", 5), ("frequencies", 5), ("transfers", 8), ("pathways", 12), ("levels", 3), ("location_groups", 2),
      ("location_group_stops", 2), ("booking_rules", 15), ("translations", 7), ("feed_info", 9), ("attributions", 11),
    ])
  func columnCounts(name: String, count: Int) {
    #expect(GTFSSchema.table(named: name)?.columns.count == count)
  }

  @Test(
    "I4: types and required columns match the reference",
    arguments: [
      ("stops", "stop_lat", ColumnType.real, false), ("stops", "location_type", .integer, false),
      ("stop_times", "arrival_time", .text, false), ("stop_times", "stop_sequence", .integer, true),
      ("stop_times", "shape_dist_traveled", .real, false), ("stop_times", "stop_id", .text, false),
      ("calendar", "monday", .integer, true), ("calendar", "start_date", .text, true),
      ("routes", "route_color", .text, false), ("routes", "route_type", .integer, true),
      ("shapes", "shape_pt_lon", .real, true), ("levels", "level_index", .real, true),
      ("fare_attributes", "price", .real, true), ("fare_attributes", "transfers", .integer, false),
      ("fare_products", "amount", .text, true), ("translations", "table_name", .text, true),
      ("agency", "agency_id", .text, false), ("transfers", "transfer_type", .integer, false),
      ("trips", "safe_duration_factor", .real, false), ("pathways", "stair_count", .integer, false),
    ])
  func types(table: String, column: String, type: ColumnType, isRequired: Bool) throws {
    let column = try #require(GTFSSchema.table(named: table)?.column(named: column))
    #expect(column.type == type)
    #expect(column.isRequired == isRequired)
  }

  @Test("I4: foreign references match the GTFS reference; an ID with two sources has none")
  func spotReferences() {
    func reference(_ table: String, _ column: String) -> ColumnReference? {
      GTFSSchema.table(named: table)?.column(named: column)?.reference
    }
    #expect(reference("stops", "parent_station") == ColumnReference(table: "stops", column: "stop_id"))
    #expect(reference("trips", "shape_id") == ColumnReference(table: "shapes", column: "shape_id"))
    #expect(reference("fare_rules", "origin_id") == ColumnReference(table: "stops", column: "zone_id"))
    #expect(
      reference("booking_rules", "prior_notice_service_id") == ColumnReference(table: "calendar", column: "service_id"))
    #expect(reference("trips", "service_id") == nil)
    #expect(reference("timeframes", "service_id") == nil)
    #expect(reference("calendar_dates", "service_id") == nil)
    #expect(reference("fare_leg_rules", "network_id") == nil)
    #expect(reference("stop_times", "location_id") == nil)
    #expect(GTFSSchema.dependencies(of: "stops") == ["levels"])
    #expect(
      GTFSSchema.dependencies(of: "stop_times") == ["trips", "stops", "location_groups", "booking_rules"])
    #expect(GTFSSchema.dependencies(of: "vehicles") == [])
  }

  // MARK: Files

  @Test("I4: table names and file names map to each other")
  func fileNames() {
    for table in GTFSSchema.tables {
      #expect(GTFSSchema.table(forFileNamed: GTFSSchema.fileName(forTable: table.name)) == table)
    }
    #expect(GTFSSchema.fileName(forTable: "stop_times") == "stop_times.txt")
    #expect(GTFSSchema.table(forFileNamed: "locations.geojson") == nil)
    #expect(GTFSSchema.table(forFileNamed: "Stops.txt") == nil, "File names are case-sensitive")
    #expect(GTFSSchema.table(forFileNamed: "stops") == nil)
  }

  private static let complete: Set<String> = [
    "agency.txt", "stops.txt", "routes.txt", "trips.txt", "stop_times.txt", "calendar.txt",
  ]

  @Test("I4: a feed with the required files is complete, regardless of other files")
  func completeFeed() {
    #expect(GTFSSchema.unmetRequirements(for: Self.complete) == [])
    #expect(GTFSSchema.unmetRequirements(for: Self.complete.union(["notes.txt", "calendar_dates.txt"])) == [])
  }

  @Test("I4: each missing required file is reported", arguments: GTFSSchema.requiredFiles)
  func missingRequired(file: String) {
    let missing = GTFSSchema.unmetRequirements(for: Self.complete.subtracting([file]))
    #expect(missing == [GTFSFileRequirement(anyOf: [file])])
    #expect(missing.first?.description == file)
  }

  @Test("I4: one calendar file is sufficient, locations can replace stops, and messages name both files")
  func missingConditional() {
    let withoutCalendar = Self.complete.subtracting(["calendar.txt"])
    #expect(
      GTFSSchema.unmetRequirements(for: withoutCalendar).map(\.description)
        == ["calendar.txt or calendar_dates.txt"])
    #expect(GTFSSchema.unmetRequirements(for: withoutCalendar.union(["calendar_dates.txt"])) == [])
    let withoutStops = Self.complete.subtracting(["stops.txt"])
    #expect(
      GTFSSchema.unmetRequirements(for: withoutStops).map(\.description) == ["stops.txt or locations.geojson"])
    #expect(GTFSSchema.unmetRequirements(for: withoutStops.union(["locations.geojson"])) == [])
  }

  @Test("I4: an empty folder lacks all required files, in the reference's order")
  func emptyFolder() {
    #expect(
      GTFSSchema.unmetRequirements(for: []).map { $0.anyOf[0] }
        == ["agency.txt", "stops.txt", "routes.txt", "trips.txt", "stop_times.txt", "calendar.txt"])
  }
}
