// The timetable: the tables that every feed has.
extension GTFSSchema {
  // `agency_id` can be empty in a feed with one agency.
  static let agency = TableSchema.gtfs(
    "agency", key: ["agency_id"],
    columns: [
      .optional(.id, "agency_id"),
      .required(.text, "agency_name"),
      .optional(.url, "agency_url"),
      .required(.timezone, "agency_timezone"),
      .optional(.languageCode, "agency_lang"),
      .optional(.phoneNumber, "agency_phone"),
      .optional(.url, "agency_fare_url"),
      .optional(.email, "agency_email"),
      .optional(.enumeration, "cemv_support"),
    ])

  // `fare_rules` refers to `zone_id`.
  static let stops = TableSchema.gtfs(
    "stops", key: ["stop_id"], indices: ["zone_id"],
    columns: [
      .required(.id, "stop_id"),
      .optional(.text, "stop_code"),
      .optional(.text, "stop_name"),
      .optional(.text, "tts_stop_name"),
      .optional(.text, "stop_desc"),
      .optional(.latitude, "stop_lat"),
      .optional(.longitude, "stop_lon"),
      .optional(.id, "zone_id"),
      .optional(.url, "stop_url"),
      .optional(.enumeration, "location_type"),
      .optional(.id, "parent_station", references: "stops", "stop_id"),
      .optional(.timezone, "stop_timezone"),
      .optional(.enumeration, "wheelchair_boarding"),
      .optional(.id, "level_id", references: "levels", "level_id"),
      .optional(.text, "platform_code"),
      .optional(.enumeration, "stop_access"),
    ])

  // `network_id` is one of the two columns that fare leg rules can refer to.
  static let routes = TableSchema.gtfs(
    "routes", key: ["route_id"], indices: ["network_id"],
    columns: [
      .required(.id, "route_id"),
      .optional(.id, "agency_id", references: "agency", "agency_id"),
      .optional(.text, "route_short_name"),
      .optional(.text, "route_long_name"),
      .optional(.text, "route_desc"),
      .required(.enumeration, "route_type"),
      .optional(.url, "route_url"),
      .optional(.color, "route_color"),
      .optional(.color, "route_text_color"),
      .optional(.integer, "route_sort_order"),
      .optional(.enumeration, "continuous_pickup"),
      .optional(.enumeration, "continuous_drop_off"),
      .optional(.id, "network_id"),
      .optional(.enumeration, "cemv_support"),
    ])

  static let trips = TableSchema.gtfs(
    "trips", key: ["trip_id"], indices: ["service_id"],
    columns: [
      .required(.id, "route_id", references: "routes", "route_id"),
      // From `calendar` or `calendar_dates`: a service on single dates need not be in `calendar`.
      .required(.id, "service_id"),
      .required(.id, "trip_id"),
      .optional(.text, "trip_headsign"),
      .optional(.text, "trip_short_name"),
      .optional(.enumeration, "direction_id"),
      .optional(.id, "block_id"),
      .optional(.id, "shape_id", references: "shapes", "shape_id"),
      .optional(.enumeration, "wheelchair_accessible"),
      .optional(.enumeration, "bikes_allowed"),
      .optional(.enumeration, "cars_allowed"),
      .optional(.float, "safe_duration_factor"),
      .optional(.float, "safe_duration_offset"),
    ])

  // Times can be empty between the first and the last stop of a trip. The stop is empty if a location group or a zone
  // replaces it.
  static let stopTimes = TableSchema.gtfs(
    "stop_times", key: ["trip_id", "stop_sequence"],
    columns: [
      .required(.id, "trip_id", references: "trips", "trip_id"),
      .optional(.time, "arrival_time"),
      .optional(.time, "departure_time"),
      .optional(.id, "stop_id", references: "stops", "stop_id"),
      .optional(.id, "location_group_id", references: "location_groups", "location_group_id"),
      // From `locations.geojson`, which is not a table.
      .optional(.id, "location_id"),
      .required(.integer, "stop_sequence"),
      .optional(.text, "stop_headsign"),
      .optional(.time, "start_pickup_drop_off_window"),
      .optional(.time, "end_pickup_drop_off_window"),
      .optional(.enumeration, "pickup_type"),
      .optional(.enumeration, "drop_off_type"),
      .optional(.enumeration, "continuous_pickup"),
      .optional(.enumeration, "continuous_drop_off"),
      .optional(.float, "shape_dist_traveled"),
      .optional(.enumeration, "timepoint"),
      .optional(.id, "pickup_booking_rule_id", references: "booking_rules", "booking_rule_id"),
      .optional(.id, "drop_off_booking_rule_id", references: "booking_rules", "booking_rule_id"),
    ])
}
