// Information about the feed itself: translations, publisher, attributions.
extension GTFSSchema {
  static let translations = TableSchema.gtfs(
    "translations",
    key: ["table_name", "field_name", "language", "record_id", "record_sub_id", "field_value"],
    columns: [
      .required(.textEnumeration, "table_name"),
      .required(.text, "field_name"),
      .required(.languageCode, "language"),
      .required(.text, "translation"),
      // Ids of the table that `table_name` names.
      .optional(.id, "record_id"),
      .optional(.id, "record_sub_id"),
      .optional(.text, "field_value"),
    ])

  // Primary key (none): one row.
  static let feedInfo = TableSchema.gtfs(
    "feed_info", key: [],
    columns: [
      .required(.text, "feed_publisher_name"),
      .optional(.url, "feed_publisher_url"),
      .optional(.languageCode, "feed_lang"),
      .optional(.languageCode, "default_lang"),
      .optional(.date, "feed_start_date"),
      .optional(.date, "feed_end_date"),
      .optional(.text, "feed_version"),
      .optional(.email, "feed_contact_email"),
      .optional(.url, "feed_contact_url"),
    ])

  // The reference's primary key is `attribution_id`, which it also makes optional. A valid feed can have many rows with
  // an empty id, which this key would treat as a single row. All fields together identify a row instead.
  static let attributions = TableSchema.gtfs(
    "attributions", key: [],
    columns: [
      .optional(.id, "attribution_id"),
      .optional(.id, "agency_id", references: "agency", "agency_id"),
      .optional(.id, "route_id", references: "routes", "route_id"),
      .optional(.id, "trip_id", references: "trips", "trip_id"),
      .required(.text, "organization_name"),
      .optional(.enumeration, "is_producer"),
      .optional(.enumeration, "is_operator"),
      .optional(.enumeration, "is_authority"),
      .optional(.url, "attribution_url"),
      .optional(.email, "attribution_email"),
      .optional(.phoneNumber, "attribution_phone"),
    ])
}
