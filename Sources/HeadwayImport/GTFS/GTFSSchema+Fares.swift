// GTFS-Fares V1: a price per fare class, and the zones and routes where it applies.
extension GTFSSchema {
  static let fareAttributes = TableSchema.gtfs(
    "fare_attributes", key: ["fare_id"],
    columns: [
      .required(.id, "fare_id"),
      .required(.float, "price"),
      .required(.currencyCode, "currency_type"),
      .optional(.enumeration, "payment_method"),
      // The reference requires the column and also defines an empty field: any number of transfers.
      .optional(.enumeration, "transfers"),
      .optional(.id, "agency_id", references: "agency", "agency_id"),
      .optional(.integer, "transfer_duration"),
    ])

  // Primary key (*).
  static let fareRules = TableSchema.gtfs(
    "fare_rules", key: [],
    columns: [
      .required(.id, "fare_id", references: "fare_attributes", "fare_id"),
      .optional(.id, "route_id", references: "routes", "route_id"),
      .optional(.id, "origin_id", references: "stops", "zone_id"),
      .optional(.id, "destination_id", references: "stops", "zone_id"),
      .optional(.id, "contains_id", references: "stops", "zone_id"),
    ])
}
