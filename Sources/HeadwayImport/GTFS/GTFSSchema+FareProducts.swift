// GTFS-Fares V2: products, and the rules that assign them to legs and transfers.
extension GTFSSchema {
  // Primary key (*). `fare_leg_rules` refers to the group.
  static let timeframes = TableSchema.gtfs(
    "timeframes", key: [], indices: ["timeframe_group_id", "service_id"],
    columns: [
      .required(.id, "timeframe_group_id"),
      .optional(.localTime, "start_time"),
      .optional(.localTime, "end_time"),
      // From `calendar` or `calendar_dates`, as in `trips`.
      .required(.id, "service_id"),
    ])

  static let riderCategories = TableSchema.gtfs(
    "rider_categories", key: ["rider_category_id"],
    columns: [
      .required(.id, "rider_category_id"),
      .required(.text, "rider_category_name"),
      // Empty means 0.
      .optional(.enumeration, "is_default_fare_category"),
      .optional(.url, "eligibility_url"),
    ])

  static let fareMedia = TableSchema.gtfs(
    "fare_media", key: ["fare_media_id"],
    columns: [
      .required(.id, "fare_media_id"),
      .optional(.text, "fare_media_name"),
      .required(.enumeration, "fare_media_type"),
    ])

  static let fareProducts = TableSchema.gtfs(
    "fare_products", key: ["fare_product_id", "rider_category_id", "fare_media_id"],
    columns: [
      .required(.id, "fare_product_id"),
      .optional(.text, "fare_product_name"),
      .optional(.id, "rider_category_id", references: "rider_categories", "rider_category_id"),
      .optional(.id, "fare_media_id", references: "fare_media", "fare_media_id"),
      .required(.currencyAmount, "amount"),
      .required(.currencyCode, "currency"),
    ])

  // `fare_transfer_rules` refers to the group.
  static let fareLegRules = TableSchema.gtfs(
    "fare_leg_rules",
    key: [
      "network_id", "from_area_id", "to_area_id", "from_timeframe_group_id", "to_timeframe_group_id", "fare_product_id",
    ],
    indices: ["leg_group_id"],
    columns: [
      .optional(.id, "leg_group_id"),
      // From `routes.network_id` or `networks`.
      .optional(.id, "network_id"),
      .optional(.id, "from_area_id", references: "areas", "area_id"),
      .optional(.id, "to_area_id", references: "areas", "area_id"),
      .optional(.id, "from_timeframe_group_id", references: "timeframes", "timeframe_group_id"),
      .optional(.id, "to_timeframe_group_id", references: "timeframes", "timeframe_group_id"),
      .required(.id, "fare_product_id", references: "fare_products", "fare_product_id"),
      .optional(.integer, "rule_priority"),
    ])

  // The networks are from `routes.network_id` or `networks`. The reference marks them as required and also defines an
  // empty one, which is ignored. Rows without a network are therefore kept.
  static let fareLegJoinRules = TableSchema.gtfs(
    "fare_leg_join_rules", key: ["from_network_id", "to_network_id", "from_stop_id", "to_stop_id"],
    columns: [
      .optional(.id, "from_network_id"),
      .optional(.id, "to_network_id"),
      .optional(.id, "from_stop_id", references: "stops", "stop_id"),
      .optional(.id, "to_stop_id", references: "stops", "stop_id"),
    ])

  static let fareTransferRules = TableSchema.gtfs(
    "fare_transfer_rules",
    key: ["from_leg_group_id", "to_leg_group_id", "fare_product_id", "transfer_count", "duration_limit"],
    columns: [
      .optional(.id, "from_leg_group_id", references: "fare_leg_rules", "leg_group_id"),
      .optional(.id, "to_leg_group_id", references: "fare_leg_rules", "leg_group_id"),
      .optional(.integer, "transfer_count"),
      .optional(.integer, "duration_limit"),
      .optional(.enumeration, "duration_limit_type"),
      .required(.enumeration, "fare_transfer_type"),
      .optional(.id, "fare_product_id", references: "fare_products", "fare_product_id"),
    ])
}
