import Headway

/// The tables of a GTFS Schedule feed, as the reference defines them.
///
/// ```swift
/// let stopTimes = GTFSSchema.table(named: "stop_times")
/// print(stopTimes?.key ?? [])                            // ["trip_id", "stop_sequence"]
/// print(GTFSSchema.unmetRequirements(for: ["agency.txt"]))  // what a feed still lacks
/// ```
///
/// The definitions follow <https://gtfs.org/documentation/schedule/reference/>, revision of April 27, 2026.
/// `locations.geojson` is part of a feed but not a table and is not described here.
///
/// The statements of the reference are represented as follows:
///
/// - **Columns** are in the reference's order.
/// - **A column is required** if the reference requires it unconditionally, does not define an empty field, and a row
///   without the value has no meaning. Addresses of web pages and the like are not required, because a row without one
///   is still usable.
/// - **A key** is the reference's primary key. It is empty where the reference specifies `*` (all fields together
///   identify a row, so equal rows are the same row) or `none` (the file has one row). It is also empty for
///   `attributions`, whose key can be empty in several rows.
/// - **A reference** is included where the reference names one column of one table. If an id can be from either of two
///   tables, there is no reference, and a comment at the column explains it.
public enum GTFSSchema {
  /// All tables, in the reference's order.
  public static let tables: [TableSchema] = [
    agency, stops, routes, trips, stopTimes,
    calendar, calendarDates,
    fareAttributes, fareRules,
    timeframes, riderCategories, fareMedia, fareProducts, fareLegRules, fareLegJoinRules, fareTransferRules,
    areas, stopAreas, networks, routeNetworks,
    shapes, frequencies, transfers, pathways, levels,
    locationGroups, locationGroupStops, bookingRules,
    translations, feedInfo, attributions,
  ]

  /// All tables, ordered so that each one follows the tables that it refers to.
  public static let loadOrder: [TableSchema] = {
    guard let order = TableSchema.loadOrder(of: tables) else {
      misuse("The tables of GTFSSchema refer to each other in a cycle.")
    }
    return order
  }()

  /// The table with a name, if the reference defines it.
  ///
  /// - Parameter name: The file's name without `.txt`, for instance `stop_times`.
  /// - Returns: The table, or `nil`.
  public static func table(named name: String) -> TableSchema? {
    tablesByName[name]
  }

  /// The names of the other tables that a table refers to.
  ///
  /// - Parameter name: The table's name.
  /// - Returns: The names, without `name` itself; empty for a table that the reference does not define.
  public static func dependencies(of name: String) -> Set<String> {
    tablesByName[name]?.dependencies ?? []
  }

  private static let tablesByName = Dictionary(uniqueKeysWithValues: tables.map { ($0.name, $0) })
}
