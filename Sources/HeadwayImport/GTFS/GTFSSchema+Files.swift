extension GTFSSchema {
  /// The name of a table's file.
  ///
  /// - Parameter table: The table's name.
  /// - Returns: The file's name, for instance `stop_times.txt`.
  public static func fileName(forTable table: String) -> String {
    table + ".txt"
  }

  /// The table that a file of a feed holds, if the reference defines it.
  ///
  /// - Parameter fileName: The file's name, without its folder; names are case-sensitive.
  /// - Returns: The table, or `nil`.
  public static func table(forFileNamed fileName: String) -> TableSchema? {
    guard fileName.hasSuffix(".txt") else { return nil }
    return table(named: String(fileName.dropLast(4)))
  }

  /// The files that every feed has.
  public static let requiredFiles: [String] = ["agency.txt", "routes.txt", "trips.txt", "stop_times.txt"]

  /// The files that every feed must have, including conditional requirements, in the reference's order.
  ///
  /// Conditions on the content of files are not included (levels are required if a pathway is an elevator). Neither is
  /// `feed_info.txt`, which is required together with `translations.txt`, because nothing in a feed refers to it, and a
  /// feed is readable without it.
  public static let fileRequirements: [GTFSFileRequirement] = [
    GTFSFileRequirement(anyOf: ["agency.txt"]),
    // Optional in a feed that serves only zones.
    GTFSFileRequirement(anyOf: ["stops.txt", "locations.geojson"]),
    GTFSFileRequirement(anyOf: ["routes.txt"]),
    GTFSFileRequirement(anyOf: ["trips.txt"]),
    GTFSFileRequirement(anyOf: ["stop_times.txt"]),
    // Service can be specified by week or by date.
    GTFSFileRequirement(anyOf: ["calendar.txt", "calendar_dates.txt"]),
  ]

  /// Whether a set of files belongs to a feed, even one that lacks files: at least one of them is a required file.
  ///
  /// - Parameter files: The file names, without their folder.
  /// - Returns: `true` if one of ``requiredFiles`` is among them.
  public static func isFeed(_ files: some Sequence<String>) -> Bool {
    files.contains { requiredFiles.contains($0) }
  }

  /// The requirements that a feed does not meet.
  ///
  /// - Parameter files: The file names in the feed, without their folder.
  /// - Returns: The requirements that are not met, in the reference's order; empty for a complete feed.
  public static func unmetRequirements(for files: Set<String>) -> [GTFSFileRequirement] {
    fileRequirements.filter { !$0.isMet(by: files) }
  }
}
