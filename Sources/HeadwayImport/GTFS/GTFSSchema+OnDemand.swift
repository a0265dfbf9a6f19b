// Services on demand: groups of locations, and booking rules.
extension GTFSSchema {
  static let locationGroups = TableSchema.gtfs(
    "location_groups", key: ["location_group_id"],
    columns: [
      .required(.id, "location_group_id"),
      .optional(.text, "location_group_name"),
    ])

  // Primary key (*).
  static let locationGroupStops = TableSchema.gtfs(
    "location_group_stops", key: [],
    columns: [
      .required(.id, "location_group_id", references: "location_groups", "location_group_id"),
      .required(.id, "stop_id", references: "stops", "stop_id"),
    ])

  static let bookingRules = TableSchema.gtfs(
    "booking_rules", key: ["booking_rule_id"],
    columns: [
      .required(.id, "booking_rule_id"),
      .required(.enumeration, "booking_type"),
      .optional(.integer, "prior_notice_duration_min"),
      .optional(.integer, "prior_notice_duration_max"),
      .optional(.integer, "prior_notice_last_day"),
      .optional(.time, "prior_notice_last_time"),
      .optional(.integer, "prior_notice_start_day"),
      .optional(.time, "prior_notice_start_time"),
      // Unlike the other services, this one is from `calendar` only.
      .optional(.id, "prior_notice_service_id", references: "calendar", "service_id"),
      .optional(.text, "message"),
      .optional(.text, "pickup_message"),
      .optional(.text, "drop_off_message"),
      .optional(.phoneNumber, "phone_number"),
      .optional(.url, "info_url"),
      .optional(.url, "booking_url"),
    ])
}
