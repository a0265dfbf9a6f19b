// Groups of stops and of routes that fare rules apply to.
extension GTFSSchema {
  static let areas = TableSchema.gtfs(
    "areas", key: ["area_id"],
    columns: [
      .required(.id, "area_id"),
      .optional(.text, "area_name"),
    ])

  // Primary key (*).
  static let stopAreas = TableSchema.gtfs(
    "stop_areas", key: [],
    columns: [
      .required(.id, "area_id", references: "areas", "area_id"),
      .required(.id, "stop_id", references: "stops", "stop_id"),
    ])

  static let networks = TableSchema.gtfs(
    "networks", key: ["network_id"],
    columns: [
      .required(.id, "network_id"),
      .optional(.text, "network_name"),
    ])

  static let routeNetworks = TableSchema.gtfs(
    "route_networks", key: ["route_id"],
    columns: [
      .required(.id, "network_id", references: "networks", "network_id"),
      .required(.id, "route_id", references: "routes", "route_id"),
    ])
}
