// Paths of vehicles and of people: shapes, transfers, and pathways in stations.
extension GTFSSchema {
  static let shapes = TableSchema.gtfs(
    "shapes", key: ["shape_id", "shape_pt_sequence"],
    columns: [
      .required(.id, "shape_id"),
      .required(.latitude, "shape_pt_lat"),
      .required(.longitude, "shape_pt_lon"),
      .required(.integer, "shape_pt_sequence"),
      .optional(.float, "shape_dist_traveled"),
    ])

  // An empty `transfer_type` means 0. The type determines which ids are present.
  static let transfers = TableSchema.gtfs(
    "transfers",
    key: ["from_stop_id", "to_stop_id", "from_trip_id", "to_trip_id", "from_route_id", "to_route_id"],
    columns: [
      .optional(.id, "from_stop_id", references: "stops", "stop_id"),
      .optional(.id, "to_stop_id", references: "stops", "stop_id"),
      .optional(.id, "from_route_id", references: "routes", "route_id"),
      .optional(.id, "to_route_id", references: "routes", "route_id"),
      .optional(.id, "from_trip_id", references: "trips", "trip_id"),
      .optional(.id, "to_trip_id", references: "trips", "trip_id"),
      .optional(.enumeration, "transfer_type"),
      .optional(.integer, "min_transfer_time"),
    ])

  static let pathways = TableSchema.gtfs(
    "pathways", key: ["pathway_id"],
    columns: [
      .required(.id, "pathway_id"),
      .required(.id, "from_stop_id", references: "stops", "stop_id"),
      .required(.id, "to_stop_id", references: "stops", "stop_id"),
      .required(.enumeration, "pathway_mode"),
      .required(.enumeration, "is_bidirectional"),
      .optional(.float, "length"),
      .optional(.integer, "traversal_time"),
      .optional(.integer, "stair_count"),
      .optional(.float, "max_slope"),
      .optional(.float, "min_width"),
      .optional(.text, "signposted_as"),
      .optional(.text, "reversed_signposted_as"),
    ])

  static let levels = TableSchema.gtfs(
    "levels", key: ["level_id"],
    columns: [
      .required(.id, "level_id"),
      .required(.float, "level_index"),
      .optional(.text, "level_name"),
    ])
}
