// Services on demand: pickup and drop-off windows in zones, and booking rules.
extension FeedRule {
  static let onDemand: [FeedRule] = windows + bookingRules

  /// Whether a stop time is in a zone or at a group of stops, in SQL.
  static let isZone = "NOT (\(empty("location_group_id")) AND \(empty("location_id")))"
  /// Whether a stop time has a window of pickup or drop-off, in SQL.
  static let hasWindow =
    "NOT (\(empty("start_pickup_drop_off_window")) AND \(empty("end_pickup_drop_off_window")))"

  private static let windows: [FeedRule] = [
    missing(
      "start_pickup_drop_off_window", "stop_times", when: "for zones and groups of stops", isZone,
      code: "missing_pickup_or_drop_off_window"),
    missing(
      "end_pickup_drop_off_window", "stop_times", when: "for zones and groups of stops", isZone,
      code: "missing_pickup_or_drop_off_window"),
    FeedRule(
      .error, "invalid_pickup_drop_off_window", "stop_times",
      "end_pickup_drop_off_window is not after start_pickup_drop_off_window",
      where: """
        NOT \(empty("start_pickup_drop_off_window")) AND NOT \(empty("end_pickup_drop_off_window"))
        AND \(seconds("end_pickup_drop_off_window")) <= \(seconds("start_pickup_drop_off_window"))
        """),
    FeedRule(
      .error, "forbidden_arrival_or_departure_time", "stop_times",
      "arrival_time and departure_time must be empty where there is a window of pickup or drop-off",
      where: "(\(hasWindow)) AND NOT (\(empty("arrival_time")) AND \(empty("departure_time")))"),
    FeedRule(
      .error, "forbidden_pickup_type", "stop_times",
      "pickup_type must be 1 or 2 where there is a window of pickup or drop-off",
      where: "(\(hasWindow)) AND coalesce(pickup_type, 0) IN (0, 3)"),
    FeedRule(
      .error, "forbidden_drop_off_type", "stop_times",
      "drop_off_type must not be 0 or empty where there is a window of pickup or drop-off",
      where: "(\(hasWindow)) AND coalesce(drop_off_type, 0) = 0"),
    FeedRule(
      .error, "forbidden_continuous_pickup_drop_off", "stop_times",
      "continuous_pickup and continuous_drop_off must be 1 or empty where there is a window of pickup or drop-off",
      where: "(\(hasWindow)) AND (coalesce(continuous_pickup, 1) <> 1 OR coalesce(continuous_drop_off, 1) <> 1)"),
  ]

  private static let bookingRules: [FeedRule] = [
    missing(
      "prior_notice_duration_min", "booking_rules", when: "where booking_type is 1", "booking_type = 1",
      code: "missing_prior_notice_duration_min"),
    missing(
      "prior_notice_last_day", "booking_rules", when: "where booking_type is 2", "booking_type = 2",
      code: "missing_prior_notice_last_day"),
    missing(
      "prior_notice_last_time", "booking_rules", when: "where booking_type is 2", "booking_type = 2",
      code: "missing_prior_notice_last_time"),
    missing(
      "prior_notice_start_time", "booking_rules", when: "with prior_notice_start_day",
      "NOT \(empty("prior_notice_start_day"))", code: "missing_prior_notice_start_time"),
    FeedRule(
      .error, "forbidden_real_time_booking_field_value", "booking_rules",
      "notice is given for bookings in real time (booking_type 0)",
      where: "booking_type = 0 AND NOT (\(areEmpty(durations + days)))"),
    FeedRule(
      .error, "forbidden_same_day_booking_field_value", "booking_rules",
      "a last day or a calendar of notice is given for bookings on the same day (booking_type 1)",
      where: "booking_type = 1 AND NOT (\(areEmpty(lastDay + ["prior_notice_service_id"])))"),
    FeedRule(
      .error, "forbidden_prior_day_booking_field_value", "booking_rules",
      "minutes of notice are given for bookings on a day before (booking_type 2)",
      where: "booking_type = 2 AND NOT (\(areEmpty(durations)))"),
    FeedRule(
      .error, "forbidden_prior_notice_start_day", "booking_rules",
      "both prior_notice_start_day and prior_notice_duration_max are given",
      where: "NOT \(empty("prior_notice_start_day")) AND NOT \(empty("prior_notice_duration_max"))"),
    FeedRule(
      .error, "forbidden_prior_notice_start_time", "booking_rules",
      "prior_notice_start_time is given without prior_notice_start_day",
      where: "NOT \(empty("prior_notice_start_time")) AND \(empty("prior_notice_start_day"))"),
    FeedRule(
      .error, "invalid_prior_notice_duration_min", "booking_rules",
      "prior_notice_duration_max is less than prior_notice_duration_min",
      where: "prior_notice_duration_max < prior_notice_duration_min"),
    FeedRule(
      .error, "prior_notice_last_day_after_start_day", "booking_rules",
      "prior_notice_last_day is before prior_notice_start_day, in days before the trip",
      where: "prior_notice_last_day > prior_notice_start_day"),
  ]

  private static let durations = ["prior_notice_duration_min", "prior_notice_duration_max"]
  private static let lastDay = ["prior_notice_last_day", "prior_notice_last_time"]
  private static let days =
    lastDay + ["prior_notice_start_day", "prior_notice_start_time", "prior_notice_service_id"]

  /// Whether none of the columns has a value, in SQL.
  private static func areEmpty(_ columns: [String]) -> String { columns.map(empty).joined(separator: " AND ") }
}
