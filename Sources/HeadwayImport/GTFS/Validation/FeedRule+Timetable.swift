// Trips, their times, and their shapes.
extension FeedRule {
  static let timetable: [FeedRule] = trips + places + times + order + shapes

  private static let trips: [FeedRule] = [
    FeedRule(
      .warning, "unused_trip", "trips", "the trip has no stop times",
      source: """
        SELECT rowid AS record, * FROM trips
        WHERE NOT EXISTS (SELECT 1 FROM stop_times WHERE stop_times.trip_id = trips.trip_id)
        """),
    FeedRule(
      .warning, "unusable_trip", "trips", "the trip has one stop time only",
      source: """
        SELECT rowid AS record, * FROM trips
        WHERE (SELECT count(*) FROM stop_times WHERE stop_times.trip_id = trips.trip_id) = 1
        """),
  ]

  private static let places: [FeedRule] = [
    missing("stop_id", "stop_times", when: "without location_group_id and location_id", "NOT (\(isZone))"),
    FeedRule(
      .error, "forbidden_geography_id", "stop_times",
      "only one of stop_id, location_group_id and location_id may be given",
      where: """
        (NOT \(empty("stop_id"))) + (NOT \(empty("location_group_id"))) + (NOT \(empty("location_id"))) > 1
        """),
  ]

  private static let times: [FeedRule] = [
    FeedRule(
      .error, "missing_trip_edge", "stop_times",
      "arrival_time or departure_time is empty at the first or last stop of a trip, which is required there",
      source: """
        SELECT rowid AS record, * FROM stop_times AS this
        WHERE (\(empty("arrival_time")) OR \(empty("departure_time"))) AND NOT (\(hasWindow))
          AND stop_sequence IS NOT NULL AND NOT (\(hasOther("<")) AND \(hasOther(">")))
        """),
    FeedRule(
      .error, "stop_time_timepoint_without_times", "stop_times",
      "arrival_time or departure_time is empty, which is required where timepoint is 1",
      where: "timepoint = 1 AND (\(empty("arrival_time")) OR \(empty("departure_time")))"),
    FeedRule(
      .error, "stop_time_with_only_arrival_or_departure_time", "stop_times",
      "only one of arrival_time and departure_time is given",
      where: "(\(empty("arrival_time"))) <> (\(empty("departure_time")))"),
    FeedRule(
      .error, "stop_time_with_departure_before_arrival_time", "stop_times", "departure_time is before arrival_time",
      where: """
        NOT \(empty("arrival_time")) AND NOT \(empty("departure_time"))
        AND \(seconds("departure_time")) < \(seconds("arrival_time"))
        """),
  ]

  /// Whether the trip has a stop before or after this one, in SQL.
  private static func hasOther(_ relation: String) -> String {
    "EXISTS (SELECT 1 FROM stop_times AS other "
      + "WHERE other.trip_id IS this.trip_id AND other.stop_sequence \(relation) this.stop_sequence)"
  }

  // The sorted queries have only the columns that the rules need, because a feed can have millions of stop times.
  private static let order: [FeedRule] = [
    FeedRule(
      .error, "stop_time_with_arrival_before_previous_departure_time", "stop_times",
      "arrival_time is before the departure_time of the stop before",
      // Stops without times are skipped, because readers interpolate the times between stops that have some.
      source: """
        SELECT rowid AS record, trip_id, stop_sequence, \(seconds("arrival_time")) AS arrival,
          lag(\(seconds("departure_time"))) OVER (PARTITION BY trip_id ORDER BY stop_sequence) AS previous
        FROM stop_times WHERE NOT \(empty("arrival_time")) AND NOT \(empty("departure_time"))
        """, where: "arrival < previous"),
    FeedRule(
      .error, "decreasing_or_equal_stop_time_distance", "stop_times",
      "shape_dist_traveled is not more than at the stop before",
      source: """
        SELECT rowid AS record, trip_id, stop_sequence, shape_dist_traveled,
          lag(shape_dist_traveled) OVER (PARTITION BY trip_id ORDER BY stop_sequence) AS previous
        FROM stop_times WHERE NOT \(empty("shape_dist_traveled"))
        """, where: "shape_dist_traveled <= previous"),
    FeedRule(
      .warning, "unsorted_stop_times", "stop_times", "the row follows one of the same trip with a later stop",
      source: """
        SELECT rowid AS record, trip_id, stop_sequence,
          lag(stop_sequence) OVER (PARTITION BY trip_id ORDER BY rowid) AS previous
        FROM stop_times
        """, where: "stop_sequence < previous"),
    FeedRule(
      .error, "start_and_end_range_out_of_order", "frequencies", "end_time is not after start_time",
      where: "\(seconds("end_time")) <= \(seconds("start_time"))"),
    FeedRule(
      .error, "overlapping_frequency", "frequencies", "the time overlaps with another row of the trip",
      source: """
        SELECT rowid AS record, *, \(seconds("start_time")) AS start, lag(\(seconds("end_time")))
          OVER (PARTITION BY trip_id ORDER BY \(seconds("start_time"))) AS previous
        FROM frequencies
        """, where: "start < previous"),
    FeedRule(
      .error, "number_out_of_range", "frequencies", "headway_secs is not more than 0", where: "headway_secs <= 0"),
  ]

  private static let shapes: [FeedRule] = [
    FeedRule(
      .error, "decreasing_shape_distance", "shapes", "shape_dist_traveled is less than at the point before",
      source: """
        SELECT rowid AS record, shape_id, shape_pt_sequence, shape_dist_traveled,
          lag(shape_dist_traveled) OVER (PARTITION BY shape_id ORDER BY shape_pt_sequence) AS previous
        FROM shapes WHERE NOT \(empty("shape_dist_traveled"))
        """, where: "shape_dist_traveled < previous"),
    FeedRule(
      .warning, "single_shape_point", "shapes", "the shape has one point only", columns: ["shape_id"],
      source: "SELECT min(rowid) AS record, shape_id FROM shapes GROUP BY shape_id HAVING count(*) = 1"),
    FeedRule(
      .warning, "unused_shape", "shapes", "no trip has this shape", columns: ["shape_id"],
      source: """
        SELECT min(rowid) AS record, shape_id FROM shapes GROUP BY shape_id
        HAVING NOT EXISTS (SELECT 1 FROM trips WHERE trips.shape_id = shapes.shape_id)
        """),
  ]
}
