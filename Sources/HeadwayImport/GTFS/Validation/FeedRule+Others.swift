// Calendars, fares, transfers, pathways, and the feed's metadata.
extension FeedRule {
  static let calendars: [FeedRule] = [
    FeedRule(
      .error, "start_and_end_range_out_of_order", "calendar", "end_date is before start_date",
      where: "end_date < start_date"),
    FeedRule(
      .warning, "service_without_days", "calendar", "the service runs on no day of the week, and on no other date",
      source: """
        SELECT rowid AS record, * FROM calendar
        WHERE monday + tuesday + wednesday + thursday + friday + saturday + sunday = 0
          AND NOT EXISTS (
            SELECT 1 FROM calendar_dates AS other WHERE other.service_id = calendar.service_id AND exception_type = 1)
        """),
    FeedRule(
      .error, "start_and_end_range_out_of_order", "feed_info", "feed_end_date is before feed_start_date",
      columns: ["feed_publisher_name"],
      where: "feed_end_date < feed_start_date AND NOT \(empty("feed_end_date"))"),
  ]

  static let fares: [FeedRule] = [
    missing("agency_id", "fare_attributes", when: "with several agencies", severalAgencies),
    missing("payment_method", "fare_attributes", when: "always", "1"),
    FeedRule(
      .error, "timeframe_only_start_or_end_time_specified", "timeframes",
      "only one of start_time and end_time is given", columns: ["timeframe_group_id"],
      where: "(\(empty("start_time"))) <> (\(empty("end_time")))"),
  ]

  static let others: [FeedRule] = transfers + pathways + metadata

  private static let betweenStops = "coalesce(transfer_type, 0) IN (0, 1, 2, 3)"
  private static let betweenTrips = "transfer_type IN (4, 5)"

  private static let transfers: [FeedRule] =
    ["from_stop_id", "to_stop_id"].map {
      missing($0, "transfers", when: "unless transfer_type is 4 or 5", betweenStops)
    }
    + ["from_trip_id", "to_trip_id"].map {
      missing($0, "transfers", when: "where transfer_type is 4 or 5", betweenTrips)
    } + [
      FeedRule(
        .warning, "missing_recommended_field", "transfers",
        "min_transfer_time is empty, although transfer_type 2 requires it", columns: ["from_stop_id", "to_stop_id"],
        where: "transfer_type = 2 AND \(empty("min_transfer_time"))")
    ]

  private static let pathways: [FeedRule] = [
    FeedRule(
      .error, "missing_required_file", "pathways",
      "there is an elevator (pathway_mode 5), which requires levels.txt",
      where: "pathway_mode = 5 AND NOT EXISTS (SELECT 1 FROM levels)"),
    FeedRule(
      .error, "missing_level_id", "stops", "level_id is empty, which is required at elevators",
      source: """
        SELECT rowid AS record, * FROM stops WHERE \(empty("level_id")) AND stop_id IN (
          SELECT from_stop_id FROM pathways WHERE pathway_mode = 5
          UNION SELECT to_stop_id FROM pathways WHERE pathway_mode = 5)
        """),
    FeedRule(
      .error, "bidirectional_exit_gate", "pathways", "an exit gate (pathway_mode 7) leads in both directions",
      where: "pathway_mode = 7 AND is_bidirectional = 1"),
    FeedRule(
      .error, "pathway_to_wrong_location_type", "pathways",
      "an end is a station (location_type 1) and not a place in it",
      where: "EXISTS (SELECT 1 FROM stops WHERE stop_id IN (from_stop_id, to_stop_id) AND location_type = 1)"),
  ]

  private static let metadata: [FeedRule] = [
    missing("feed_publisher_url", "feed_info", when: "always", "1"),
    missing("feed_lang", "feed_info", when: "always", "1"),
    FeedRule(
      .error, "more_than_one_entity", "feed_info", "there may be one row only", columns: ["feed_publisher_name"],
      source: "SELECT rowid AS record, *, row_number() OVER (ORDER BY rowid) AS n FROM feed_info", where: "n > 1"),
    FeedRule(
      .error, "missing_required_file", "translations", "there is no feed_info.txt, which translations require",
      where: "NOT EXISTS (SELECT 1 FROM feed_info) AND record = (SELECT min(rowid) FROM translations)"),
    missing(
      "record_id", "translations", when: "without field_value, except feed_info",
      "table_name <> 'feed_info' AND \(empty("field_value"))"),
    missing(
      "record_sub_id", "translations", when: "for stop_times with record_id",
      "table_name = 'stop_times' AND NOT \(empty("record_id"))"),
    FeedRule(
      .warning, "attribution_without_role", "attributions",
      "none of is_producer, is_operator and is_authority is 1", columns: ["organization_name"],
      where: "coalesce(is_producer, 0) + coalesce(is_operator, 0) + coalesce(is_authority, 0) = 0"),
  ]
}
