#if SQLite
import Foundation
import GRDB
import Headway
@testable import HeadwayImport
import HeadwaySampleData
import HeadwayTestKit
import Testing

@Suite("Feed validator", .hangLimit)
struct FeedValidatorTests {
  /// A feed without an issue.
  private static let clean: [String: String?] = [
    "agency.txt": "agency_id,agency_name,agency_url,agency_timezone\nA,Test,https://a.example,Europe/Berlin\n",
    "stops.txt":
      """
    stop_id,stop_name,stop_lat,stop_lon,location_type,parent_station
    S1,One,52.5,13.4,,P
    S2,Two,52.6,13.4,0,
    P,Parent,52.5,13.4,1,

    """,
    "routes.txt": "route_id,agency_id,route_short_name,route_type\nR,A,1,3\n",
    "trips.txt": "route_id,service_id,trip_id\nR,D,T\n",
    "stop_times.txt":
      """
    trip_id,arrival_time,departure_time,stop_id,stop_sequence
    T,06:00:00,06:00:00,S1,0
    T,,,S2,1
    T,25:10:00,25:11:00,S2,2

    """,
    "calendar.txt":
      """
    service_id,monday,tuesday,wednesday,thursday,friday,saturday,sunday,start_date,end_date
    D,1,1,1,1,1,1,1,20260101,20261231

    """,
    "feed_info.txt": "feed_publisher_name,feed_publisher_url,feed_lang\nX,https://x.example,de\n",
  ]

  private func issues(_ changes: [String: String?] = [:]) throws -> [FeedIssue] {
    try withWorkspace { workspace in
      let validator = try FeedValidator(folder: workspace.feed(Self.clean.merging(changes) { $1 }))
      run(validator.operations)
      #expect(validator.operations.last?.error == nil)
      return validator.issues
    }
  }

  @Test("I4: a valid feed has no issues, and a generated feed has no errors") func clean() throws {
    #expect(try issues() == [])
    try withWorkspace { workspace in
      try SampleFeed(stopTimes: 500, seed: 3).write(to: workspace.path("sample"))
      let validator = try FeedValidator(folder: workspace.path("sample"))
      run(validator.operations)
      #expect(validator.issues.filter { $0.severity == .error } == [])
    }
  }

  struct Defect: Sendable, CustomStringConvertible {
    let code: String
    let file: String
    let count: Int
    let isWarning: Bool
    let changes: [String: String]

    init(_ code: String, _ file: String, count: Int = 1, warning: Bool = false, _ changes: [String: String]) {
      (self.code, self.file, self.count, isWarning, self.changes) = (code, file, count, warning, changes)
    }

    var description: String { "\(code) of \(file)" }
  }

  private static let agencies =
    "agency_id,agency_name,agency_url,agency_timezone\nA,a,https://a,Europe/Berlin\nB,b,https://b,Europe/Berlin\n"
  private static let stops = "stop_id,stop_name,stop_lat,stop_lon,location_type,parent_station,level_id\n"
  private static let usualStops = stops + "S1,One,52.5,13.4,,,\nS2,Two,52.6,13.4,0,,\n"
  private static let times = "trip_id,arrival_time,departure_time,stop_id,stop_sequence"
  private static func stopTimes(_ rows: String, _ columns: String = "") -> [String: String] {
    ["stops.txt": usualStops, "stop_times.txt": times + columns + "\n" + rows + "\n"]
  }

  /// The changes for a stop time on demand, at a group of stops.
  private static func zone(
    _ window: String, types: String, _ time: String = "", continuous: String = ""
  ) -> [String: String] {
    let columns =
      ",location_group_id,start_pickup_drop_off_window,end_pickup_drop_off_window,pickup_type,drop_off_type,"
      + "continuous_pickup"
    let changes = stopTimes(
      "T,6:00:00,6:00:00,S1,1,,,,,,\nT,\(time),\(time),,2,G,\(window),\(types),\(continuous)\n"
        + "T,8:00:00,8:00:00,S2,3,,,,,,", columns)
    return changes.merging(["location_groups.txt": "location_group_id\nG\n"]) { $1 }
  }

  /// The changes for one way of booking.
  private static func booking(_ values: String) -> [String: String] {
    let columns = [
      "type", "prior_notice_duration_min", "prior_notice_duration_max", "prior_notice_last_day",
      "prior_notice_last_time", "prior_notice_start_day", "prior_notice_start_time", "prior_notice_service_id",
    ].joined(separator: ",")
    return ["booking_rules.txt": "booking_rule_id,booking_\(columns)\nB,\(values)\n"]
  }

  static let defects: [Defect] = [
    // Agencies, stops and routes.
    Defect(
      "missing_required_field", "agency.txt",
      [
        "agency.txt": agencies.replacing("B,b", with: ",b")
      ]),
    Defect(
      "inconsistent_agency_timezone", "agency.txt",
      [
        "agency.txt": agencies.replacing("https://b,Europe/Berlin", with: "https://b,Europe/Paris")
      ]),
    Defect(
      "missing_required_field", "routes.txt",
      [
        "agency.txt": agencies, "routes.txt": "route_id,agency_id,route_short_name,route_type\nR,,1,3\n",
      ]),
    Defect(
      "missing_required_field", "fare_attributes.txt",
      [
        "agency.txt": agencies,
        "fare_attributes.txt": "fare_id,price,currency_type,payment_method,transfers,agency_id\nF,1,EUR,0,,\n",
      ]),
    Defect("missing_required_field", "stops.txt", ["stops.txt": usualStops.replacing("Two", with: "")]),
    Defect("stop_without_location", "stops.txt", ["stops.txt": usualStops.replacing("52.6", with: "")]),
    Defect("point_near_origin", "stops.txt", ["stops.txt": usualStops.replacing("52.6,13.4", with: "0,0")]),
    Defect("number_out_of_range", "stops.txt", ["stops.txt": usualStops.replacing("52.6", with: "91")]),
    Defect("location_without_parent_station", "stops.txt", ["stops.txt": usualStops + "E,Entrance,52,13,2,,\n"]),
    Defect("wrong_parent_location_type", "stops.txt", ["stops.txt": usualStops + "E,Entrance,52,13,2,S1,\n"]),
    Defect("duplicate_key", "stops.txt", ["stops.txt": usualStops + "S2,Two,52.6,13.4,0,,\n"]),
    Defect("foreign_key_violation", "stops.txt", ["stops.txt": usualStops.replacing("13.4,0,,", with: "13.4,0,N,")]),
    Defect("stop_without_stop_time", "stops.txt", warning: true, ["stops.txt": usualStops + "S3,Three,52,13,,,\n"]),
    Defect(
      "route_both_short_and_long_name_missing", "routes.txt",
      [
        "routes.txt": "route_id,agency_id,route_short_name,route_type\nR,A,,3\n"
      ]),
    Defect(
      "invalid_color", "routes.txt",
      [
        "routes.txt": "route_id,agency_id,route_short_name,route_type,route_color\nR,A,1,3,#FF000\n"
      ]),
    Defect(
      "route_without_trips", "routes.txt", warning: true,
      [
        "routes.txt": "route_id,agency_id,route_short_name,route_type\nR,A,1,3\nQ,A,2,3\n"
      ]),
    // Trips and times.
    Defect(
      "foreign_key_violation", "trips.txt", count: 2,
      [
        "trips.txt": "route_id,service_id,trip_id,shape_id\nR,D,T,X\nR,D,T2,X\n",
        "stop_times.txt": times + "\nT,6:00:00,6:00:00,S1,1\nT,7:00:00,7:00:00,S2,2\n"
          + "T2,6:00:00,6:00:00,S1,1\nT2,7:00:00,7:00:00,S2,2\n",
      ]),
    Defect("foreign_key_violation", "trips.txt", ["trips.txt": "route_id,service_id,trip_id\nR,N,T\n"]),
    Defect(
      "missing_required_field", "trips.txt",
      [
        "routes.txt": "route_id,agency_id,route_short_name,route_type,continuous_pickup\nR,A,1,3,0\n"
      ]),
    Defect("unused_trip", "trips.txt", warning: true, ["trips.txt": "route_id,service_id,trip_id\nR,D,T\nR,D,U\n"]),
    Defect("missing_trip_edge", "stop_times.txt", count: 2, stopTimes("T,,,S1,1\nT,,,S2,2")),
    Defect(
      "stop_time_with_only_arrival_or_departure_time", "stop_times.txt",
      stopTimes("T,6:00:00,6:00:00,S1,1\nT,7:00:00,,S2,2\nT,8:00:00,8:00:00,S2,3")),
    Defect(
      "stop_time_timepoint_without_times", "stop_times.txt",
      stopTimes("T,6:00:00,6:00:00,S1,1,1\nT,,,S2,2,1\nT,8:00:00,8:00:00,S2,3,", ",timepoint")),
    Defect(
      "stop_time_with_departure_before_arrival_time", "stop_times.txt",
      stopTimes("T,6:00:00,6:00:00,S1,1\nT,7:00:00,6:59:59,S2,2")),
    Defect(
      "stop_time_with_arrival_before_previous_departure_time", "stop_times.txt",
      stopTimes("T,6:00:00,10:00:00,S1,1\nT,,,S2,2\nT,9:59:59,10:10:00,S2,3")),
    Defect(
      "unsorted_stop_times", "stop_times.txt", warning: true,
      stopTimes("T,7:00:00,7:00:00,S2,2\nT,6:00:00,6:00:00,S1,1")),
    Defect(
      "decreasing_or_equal_stop_time_distance", "stop_times.txt",
      stopTimes("T,6:00:00,6:00:00,S1,1,5\nT,7:00:00,7:00:00,S2,2,4.5", ",shape_dist_traveled")),
    Defect("invalid_time", "stop_times.txt", stopTimes("T,6:00:00,6:00:00,S1,1\nT,7:00:00,7:61:00,S2,2")),
    Defect(
      "foreign_key_violation", "stop_times.txt",
      stopTimes("T,6:00:00,6:00:00,S1,1\nT,7:00:00,7:00:00,S2,2\nT,8:00:00,8:00:00,N,3")),
    Defect(
      "invalid_row", "stop_times.txt",
      stopTimes("T,6:00:00,6:00:00,S1,1\nT,7:00:00,7:00:00,S2,2\nT,8:00:00")),
    Defect(
      "unused_shape", "shapes.txt", warning: true,
      [
        "shapes.txt": "shape_id,shape_pt_lat,shape_pt_lon,shape_pt_sequence\nX,52,13,1\nX,52,14,2\n"
      ]),
    Defect(
      "overlapping_frequency", "frequencies.txt",
      [
        "frequencies.txt":
          "trip_id,start_time,end_time,headway_secs\nT,6:00:00,9:00:00,600\nT,8:59:59,10:00:00,600\n"
      ]),
    // On demand.
    Defect(
      "missing_pickup_or_drop_off_window", "stop_times.txt",
      zone("7:00:00,", types: "2,2")),
    Defect("invalid_pickup_drop_off_window", "stop_times.txt", zone("07:00:00,7:00:00", types: "2,2")),
    Defect("forbidden_arrival_or_departure_time", "stop_times.txt", zone("7:00:00,9:00:00", types: "2,2", "7:10:00")),
    Defect("forbidden_pickup_type", "stop_times.txt", zone("7:00:00,9:00:00", types: ",2")),
    Defect("forbidden_pickup_type", "stop_times.txt", zone("7:00:00,9:00:00", types: "3,2")),
    Defect("forbidden_drop_off_type", "stop_times.txt", zone("7:00:00,9:00:00", types: "2,0")),
    Defect(
      "forbidden_continuous_pickup_drop_off", "stop_times.txt", zone("7:00:00,9:00:00", types: "2,2", continuous: "2")
    ),
    Defect("missing_prior_notice_duration_min", "booking_rules.txt", booking("1,,,,,,,")),
    Defect("missing_prior_notice_last_day", "booking_rules.txt", booking("2,,,,9:00:00,,,")),
    Defect("missing_prior_notice_last_time", "booking_rules.txt", booking("2,,,1,,,,")),
    Defect("missing_prior_notice_start_time", "booking_rules.txt", booking("2,,,1,9:00:00,7,,")),
    Defect("forbidden_real_time_booking_field_value", "booking_rules.txt", booking("0,5,,,,,,")),
    Defect("forbidden_real_time_booking_field_value", "booking_rules.txt", booking("0,,,,,,,D")),
    Defect("forbidden_same_day_booking_field_value", "booking_rules.txt", booking("1,30,,1,9:00:00,,,")),
    Defect("forbidden_prior_day_booking_field_value", "booking_rules.txt", booking("2,30,,1,9:00:00,,,")),
    Defect("forbidden_prior_notice_start_day", "booking_rules.txt", booking("1,30,60,,,7,8:00:00,")),
    Defect("forbidden_prior_notice_start_time", "booking_rules.txt", booking("1,30,,,,,8:00:00,")),
    Defect("invalid_prior_notice_duration_min", "booking_rules.txt", booking("1,30,20,,,,,")),
    Defect("prior_notice_last_day_after_start_day", "booking_rules.txt", booking("2,,,3,9:00:00,2,8:00:00,")),
    // Other files and violations.
    Defect(
      "start_and_end_range_out_of_order", "calendar.txt",
      [
        "calendar.txt":
          "service_id,monday,tuesday,wednesday,thursday,friday,saturday,sunday,start_date,end_date\n"
          + "D,1,1,1,1,1,1,1,20260101,20251231\n"
      ]),
    Defect(
      "invalid_date", "calendar_dates.txt",
      [
        "calendar_dates.txt": "service_id,date,exception_type\nD,20261341,1\n"
      ]),
    Defect(
      "missing_required_field", "transfers.txt",
      [
        "transfers.txt": "from_stop_id,to_stop_id,transfer_type,min_transfer_time\nS1,,2,60\n"
      ]),
    Defect(
      "missing_required_field", "transfers.txt",
      [
        "transfers.txt": "from_stop_id,to_stop_id,from_trip_id,to_trip_id,transfer_type\n,,T,,4\n"
      ]),
    Defect(
      "missing_required_file", "pathways.txt",
      [
        "stops.txt": usualStops.replacing(",,\n", with: ",,L\n"),
        "pathways.txt": "pathway_id,from_stop_id,to_stop_id,pathway_mode,is_bidirectional\nW,S1,S2,5,1\n",
      ]),
    Defect(
      "missing_level_id", "stops.txt", count: 2,
      [
        "stops.txt": usualStops, "levels.txt": "level_id,level_index\nL,0\n",
        "pathways.txt": "pathway_id,from_stop_id,to_stop_id,pathway_mode,is_bidirectional\nW,S1,S2,5,1\n",
      ]),
    Defect(
      "missing_required_file", "translations.txt",
      [
        "feed_info.txt": "feed_publisher_name,feed_publisher_url,feed_lang\n",
        "translations.txt": "table_name,field_name,language,translation,record_id\nstops,stop_name,fr,Un,S1\n",
      ]),
    Defect(
      "unknown_column", "trips.txt", count: 0, warning: true,
      [
        "trips.txt": "route_id,service_id,trip_id,colour\nR,D,T,red\n"
      ]),
    Defect("missing_required_column", "trips.txt", count: 0, ["trips.txt": "route_id,trip_id\nR,T\n"]),
    Defect(
      "missing_required_column", "stop_times.txt", count: 0,
      ["stop_times.txt": "trip_id,arrival_time,departure_time,stop_id\nT,06:00:00,06:00:00,S1\n"]),
    Defect(
      "invalid_date", "calendar_dates.txt", ["calendar_dates.txt": "service_id,date,exception_type\nD,20260230,1\n"]),
    Defect("unknown_file", "colours.txt", count: 0, warning: true, ["colours.txt": "name,code\nred,007\n"]),
    Defect(
      "invalid_value", "routes.txt",
      [
        "routes.txt": "route_id,agency_id,route_short_name,route_type\nR,A,1,tram\n"
      ]),
    Defect("invalid_header", "trips.txt", count: 0, ["trips.txt": "route_id,service_id,trip_id,trip_id\nR,D,T,T\n"]),
  ]

  @Test("I4: each error and each warning is reported exactly once", arguments: defects)
  func found(defect: Defect) throws {
    let issues = try issues(defect.changes.mapValues { $0 })
    let found = issues.filter { $0.code == defect.code && $0.file == defect.file }
    #expect(found.map(\.count) == [defect.count], "\(issues)")
    #expect(found.first?.severity == (defect.isWarning ? .warning : .error))
    // The consequences of a file that can't be read are also found.
    guard defect.code != "invalid_header" else { return }
    #expect(found.first.map { min($0.count, 3) } == found.first?.examples.count)
  }

  @Test("I4: missing required files are reported, and a folder that is not a feed causes an error")
  func files() throws {
    let missing = try issues(["calendar.txt": nil, "agency.txt": nil, "feed_info.txt": nil])
    #expect(
      missing.filter { $0.code.hasSuffix("_file") }.map { "\($0.severity.rawValue) \($0.file)" } == [
        "error agency.txt", "error calendar.txt or calendar_dates.txt", "warning feed_info.txt",
      ])
    try withWorkspace { workspace in
      try workspace.write("", to: "notes.txt")
      let error = #expect(throws: ImportError.self) { try FeedValidator(folder: workspace.path("")) }
      #expect(error?.code == .missingFiles)
    }
  }

  @Test("I4: the description of an issue is one line that identifies rows by record and key") func places() throws {
    let issue = try #require(
      issues(Self.stopTimes("T,6:00:00,6:00:00,S1,1\nT,7:00:00,6:59:59,S2,2")).first { $0.severity == .error })
    #expect(issue.examples == ["record 3: trip_id T, stop_sequence 2"])
    #expect(
      issue.description
        == "error: stop_times.txt: departure_time is before arrival_time: 1 row "
        + "(record 3: trip_id T, stop_sequence 2) [stop_time_with_departure_before_arrival_time]")
  }

  @Test("I4, C1: a check that is cancelled before it begins reads nothing and reports no issues")
  func cancelled() throws {
    try withWorkspace { workspace in
      let validator = try FeedValidator(folder: workspace.feed(Self.clean.merging(["routes.txt": nil]) { $1 }))
      for operation in validator.operations { operation.cancel() }
      run(validator.operations)
      #expect(validator.issues.isEmpty && validator.operations.allSatisfy(\.isCancelled))
      #expect(validator.imports.allSatisfy { $0.report.rowCount == 0 && !$0.report.isComplete })
    }
  }

  @Test("I4, C1: a check that is cancelled during an import stops there and reports no issues")
  func cancelledDuringImport() throws {
    try withWorkspace { workspace in
      let stops = Self.stops + (1...1_000).map { "S\($0),,52.5,13.4,,,\n" }.joined()
      let validator = try FeedValidator(
        folder: workspace.feed(Self.clean.merging(["stops.txt": stops]) { $1 }),
        options: ImportOptions(batchSize: 10))
      let statements = try statements(of: validator)
      let operation = try #require(validator.imports.first { $0.table.name == "stops" })
      operation.commitHandler = { [weak validator] report in
        if report.rowCount == 20 { validator?.operations.forEach { $0.cancel() } }
      }
      run(validator.operations)
      #expect(operation.report.rowCount == 20 && !operation.report.isComplete)
      #expect(statements.count == 0)
      #expect(validator.issues.isEmpty && validator.operations.allSatisfy { $0.error == nil })
    }
  }

  @Test(
    "I4, C1: a check that is cancelled during a query makes no further query, and reports no issues and no error",
    // SQLite interrupts a query of many rows; a query of few rows returns first.
    arguments: [2, 5_000])
  func cancelledDuringQuery(stopTimes: Int) throws {
    try withWorkspace { workspace in
      let rows = (1...stopTimes).map { "T,7:00:00,6:00:00,S1,\($0)\n" }.joined()
      let validator = try FeedValidator(
        folder: workspace.feed(Self.clean.merging(["stop_times.txt": Self.times + "\n" + rows]) { $1 }))
      let statements = try statements(of: validator) { [weak validator] in
        if $0.contains("stop_times") { validator?.operations.last?.cancel() }
      }
      run(validator.operations)
      #expect(statements.count > 1 && statements.events.count { $0.contains("stop_times") } == 1)
      #expect(statements.events.last?.contains("stop_times") == true)
      #expect(validator.issues.isEmpty && validator.operations.allSatisfy { $0.error == nil })
      #expect(validator.operations.last?.isCancelled == true && validator.imports.allSatisfy(\.report.isComplete))
    }
  }

  /// Records the queries of the rules and calls a function when each begins.
  private func statements(
    of validator: FeedValidator, observer: @escaping @Sendable (String) -> Void = { _ in }
  ) throws -> EventRecorder<String> {
    let statements = EventRecorder<String>()
    try #require(validator.imports.first).database.pool.writeWithoutTransaction { connection in
      connection.trace { event in
        guard case .statement(let statement) = event, statement.sql.hasPrefix("SELECT record") else { return }
        statements.record(statement.sql)
        observer(statement.sql)
      }
    }
    return statements
  }
}
#endif
