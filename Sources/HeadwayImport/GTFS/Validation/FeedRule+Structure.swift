// Rules that follow from the tables: keys, references, and the formats of values.
extension FeedRule {
  static let structure = GTFSSchema.tables.flatMap { table in
    [duplicates(table)].compactMap { $0 } + references(table) + forms(table)
  }

  private static func duplicates(_ table: TableSchema) -> FeedRule? {
    guard !table.key.isEmpty else { return nil }
    // Empty fields are NULL and also count as equal. The table has an index on its key.
    let isSame = table.key.map { "above.\($0) IS this.\($0)" }.joined(separator: " AND ")
    return FeedRule(
      .error, "duplicate_key", table.name, "\(table.key.joined(separator: ", ")) is the same as in a row above",
      source: """
        SELECT rowid AS record, * FROM \(table.name) AS this
        WHERE EXISTS (SELECT 1 FROM \(table.name) AS above WHERE \(isSame) AND above.rowid < this.rowid)
        """)
  }

  private static func references(_ table: TableSchema) -> [FeedRule] {
    table.columns.compactMap { column in
      column.reference.map { reference in
        dangling(column.name, table, in: [(reference.table, reference.column)])
      }
    } + (alternatives[table.name] ?? []).map { dangling($0.column, table, in: $0.parents) }
  }

  /// Columns with values from either of two tables.
  private static let alternatives: [String: [(column: String, parents: [(table: String, column: String)])]] = {
    let services = [("calendar", "service_id"), ("calendar_dates", "service_id")]
    let networks = [("networks", "network_id"), ("routes", "network_id")]
    return [
      "trips": [("service_id", services)], "timeframes": [("service_id", services)],
      "fare_leg_rules": [("network_id", networks)],
      "fare_leg_join_rules": [("from_network_id", networks), ("to_network_id", networks)],
    ]
  }()

  private static func dangling(
    _ column: String, _ table: TableSchema, in parents: [(table: String, column: String)]
  ) -> FeedRule {
    let missing = parents.map { parent in
      "NOT EXISTS (SELECT 1 FROM \(parent.table) AS parent WHERE parent.\(parent.column) = child.\(column))"
    }
    let names = parents.map { "\($0.table).\($0.column)" }.joined(separator: " nor in ")
    return FeedRule(
      .error, "foreign_key_violation", table.name, "\(column) is not in \(names)",
      columns: unique(table.key + [column]),
      source: "SELECT rowid AS record, * FROM \(table.name) AS child "
        + "WHERE coalesce(\(column), '') <> '' AND \(missing.joined(separator: " AND "))")
  }

  private static func forms(_ table: TableSchema) -> [FeedRule] {
    let two = "[0-5][0-9]"
    return table.columns.compactMap { column in
      func rule(_ code: String, _ form: String, _ condition: String) -> FeedRule {
        FeedRule(
          .error, code, table.name, "\(column.name) is not \(form)", columns: unique(table.key + [column.name]),
          where: "NOT \(empty(column.name)) AND NOT (\(condition))")
      }
      if times.contains(column.name) {
        let forms = ["[0-9]", "[0-9][0-9]", "[0-9][0-9][0-9]"].map { "trim(\(column.name)) GLOB '\($0):\(two):\(two)'" }
        return rule("invalid_time", "a time such as 08:05:00", forms.joined(separator: " OR "))
      }
      if dates.contains(column.name) {
        let parts =
          "substr(\(column.name), 1, 4) || '-' || substr(\(column.name), 5, 2) || '-' || substr(\(column.name), 7)"
        // With a modifier, SQLite converts February 30 to March 2.
        return rule(
          "invalid_date", "a date such as 20260131",
          "length(\(column.name)) = 8 AND date(\(parts), '+0 days') IS \(parts)")
      }
      if let range = ranges[column.name] {
        return rule(
          "number_out_of_range", "between \(range.lowerBound) and \(range.upperBound)",
          "\(column.name) BETWEEN \(range.lowerBound) AND \(range.upperBound)")
      }
      if colors.contains(column.name) {
        return rule(
          "invalid_color", "a color of six hexadecimal digits",
          "\(column.name) GLOB '\(String(repeating: "[0-9A-Fa-f]", count: 6))'")
      }
      return nil
    }
  }

  private static let times: Set = [
    "arrival_time", "departure_time", "start_time", "end_time", "start_pickup_drop_off_window",
    "end_pickup_drop_off_window", "prior_notice_last_time", "prior_notice_start_time",
  ]
  private static let dates: Set = ["date", "start_date", "end_date", "feed_start_date", "feed_end_date"]
  private static let colors: Set = ["route_color", "route_text_color"]
  private static let ranges: [String: ClosedRange<Int>] = [
    "stop_lat": -90...90, "shape_pt_lat": -90...90, "stop_lon": -180...180, "shape_pt_lon": -180...180,
    "location_type": 0...4, "direction_id": 0...1, "pickup_type": 0...3, "drop_off_type": 0...3, "timepoint": 0...1,
    "wheelchair_boarding": 0...2, "wheelchair_accessible": 0...2, "bikes_allowed": 0...2, "exact_times": 0...1,
    "exception_type": 1...2, "monday": 0...1, "tuesday": 0...1, "wednesday": 0...1, "thursday": 0...1, "friday": 0...1,
    "saturday": 0...1, "sunday": 0...1, "transfer_type": 0...5, "pathway_mode": 1...7, "is_bidirectional": 0...1,
    "continuous_pickup": 0...3, "continuous_drop_off": 0...3, "booking_type": 0...2, "payment_method": 0...1,
    "transfers": 0...2,
  ]

  private static func unique(_ names: [String]) -> [String] {
    names.enumerated().filter { !names[..<$0.offset].contains($0.element) }.map(\.element)
  }
}
