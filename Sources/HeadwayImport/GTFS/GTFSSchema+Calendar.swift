// The days when services run, and how often.
extension GTFSSchema {
  static let calendar = TableSchema.gtfs(
    "calendar", key: ["service_id"],
    columns: [
      .required(.id, "service_id"),
      .required(.enumeration, "monday"),
      .required(.enumeration, "tuesday"),
      .required(.enumeration, "wednesday"),
      .required(.enumeration, "thursday"),
      .required(.enumeration, "friday"),
      .required(.enumeration, "saturday"),
      .required(.enumeration, "sunday"),
      .required(.date, "start_date"),
      .required(.date, "end_date"),
    ])

  // Indexed by date, because a query for the services of a day starts there.
  static let calendarDates = TableSchema.gtfs(
    "calendar_dates", key: ["service_id", "date"], indices: ["date"],
    columns: [
      // Refers to `calendar`, or defines the service itself in a feed without that file.
      .required(.id, "service_id"),
      .required(.date, "date"),
      .required(.enumeration, "exception_type"),
    ])

  static let frequencies = TableSchema.gtfs(
    "frequencies", key: ["trip_id", "start_time"],
    columns: [
      .required(.id, "trip_id", references: "trips", "trip_id"),
      .required(.time, "start_time"),
      .required(.time, "end_time"),
      .required(.integer, "headway_secs"),
      .optional(.enumeration, "exact_times"),
    ])
}
