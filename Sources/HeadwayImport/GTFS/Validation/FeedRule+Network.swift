// Agencies, stops, and routes.
extension FeedRule {
  static let network: [FeedRule] = agencies + stops + routes

  private static let agencies: [FeedRule] = [
    missing("agency_id", "agency", when: "with several agencies", severalAgencies),
    missing("agency_url", "agency", when: "always", "1"),
    FeedRule(
      .error, "inconsistent_agency_timezone", "agency", "agency_timezone differs from the first agency's",
      where: "agency_timezone <> (SELECT agency_timezone FROM agency ORDER BY rowid LIMIT 1)"),
  ]

  private static let location = "coalesce(location_type, 0)"
  private static let place = "for stops, stations, and entrances (location_type 0, 1, 2)"

  private static let stops: [FeedRule] = [
    missing("stop_name", "stops", when: place, "\(location) IN (0, 1, 2)"),
    missing("stop_lat", "stops", when: place, "\(location) IN (0, 1, 2)", code: "stop_without_location"),
    missing("stop_lon", "stops", when: place, "\(location) IN (0, 1, 2)", code: "stop_without_location"),
    missing(
      "parent_station", "stops", when: "for entrances, nodes, and boarding areas (location_type 2, 3, 4)",
      "\(location) IN (2, 3, 4)", code: "location_without_parent_station"),
    FeedRule(
      .error, "station_with_parent_station", "stops", "a station (location_type 1) has a parent_station",
      where: "location_type = 1 AND NOT \(empty("parent_station"))"),
    FeedRule(
      .error, "wrong_parent_location_type", "stops",
      "parent_station is not a station (location_type 1) or, of a boarding area, not a platform (0)",
      source: """
        SELECT child.rowid AS record, child.stop_id, coalesce(child.location_type, 0) AS child_type,
          coalesce(parent.location_type, 0) AS parent_type
        FROM stops AS child JOIN stops AS parent ON parent.stop_id = child.parent_station
        """, where: "parent_type <> CASE child_type WHEN 4 THEN 0 ELSE 1 END AND child_type <> 1"),
    FeedRule(
      .error, "point_near_origin", "stops", "the place is at 0, 0",
      where: "abs(stop_lat) <= 1 AND abs(stop_lon) <= 1"),
    FeedRule(
      .warning, "stop_without_stop_time", "stops", "no trip calls there",
      source: """
        SELECT rowid AS record, * FROM stops
        WHERE \(location) = 0 AND NOT EXISTS (SELECT 1 FROM stop_times WHERE stop_times.stop_id = stops.stop_id)
          AND NOT EXISTS (SELECT 1 FROM location_group_stops AS grouped WHERE grouped.stop_id = stops.stop_id)
        """),
    FeedRule(
      .warning, "unused_station", "stops", "the station has no stops",
      source: """
        SELECT rowid AS record, * FROM stops AS station
        WHERE location_type = 1 AND NOT EXISTS (SELECT 1 FROM stops WHERE stops.parent_station = station.stop_id)
        """),
  ]

  private static func isContinuous(_ table: String) -> String {
    "coalesce(\(table).continuous_pickup, 1) <> 1 OR coalesce(\(table).continuous_drop_off, 1) <> 1"
  }

  private static let routes: [FeedRule] = [
    FeedRule(
      .error, "route_both_short_and_long_name_missing", "routes",
      "route_short_name and route_long_name are both empty, and one is required",
      where: "\(empty("route_short_name")) AND \(empty("route_long_name"))"),
    missing("agency_id", "routes", when: "with several agencies", severalAgencies),
    FeedRule(
      .warning, "route_without_trips", "routes", "the route has no trips",
      source: """
        SELECT rowid AS record, * FROM routes
        WHERE NOT EXISTS (SELECT 1 FROM trips WHERE trips.route_id = routes.route_id)
        """),
    FeedRule(
      .error, "route_networks_specified_in_more_than_one_file", "routes",
      "network_id must be empty if route_networks.txt specifies the networks",
      where: "NOT \(empty("network_id")) AND EXISTS (SELECT 1 FROM route_networks)"),
    FeedRule(
      .error, "missing_required_field", "trips",
      "shape_id is empty, which is required where people may get on or off along the way",
      source: """
        SELECT trips.rowid AS record, trips.* FROM trips JOIN routes USING (route_id)
        WHERE \(empty("trips.shape_id")) AND (\(isContinuous("routes"))
          OR EXISTS (SELECT 1 FROM stop_times AS call WHERE call.trip_id = trips.trip_id AND (\(isContinuous("call")))))
        """),
  ]
}
