#if Jobs
@_spi(JobStore) import HeadwayJobs

/// Statements about error groups: the errors are in `headway_error`, and their counts in `headway_error_count`.
enum ErrorSQL: ErrorStatements {
  /// A group; by the primary key.
  static let existing = "SELECT id FROM headway_error WHERE id = ?1"
  /// The number of groups of a kind; by `headway_error_kind`.
  static let countsByKind = "SELECT ?1, count(*) FROM headway_error WHERE kind = ?1"
  /// Inserts a group that does not exist; by the primary key.
  static let insert = """
    INSERT INTO headway_error (id, kind, type, text, first_seen) VALUES (?1, ?2, ?3, ?4, ?5) ON CONFLICT DO NOTHING
    """
  /// Adds failed attempts; by the primary key.
  static let count = """
    INSERT INTO headway_error_count (error, hour, place, count, last_seen, last_job) VALUES (?1, ?2, ?3, ?4, ?5, ?6)
    \(sum)
    """
  /// Changes the mute of a group; by the primary key.
  static let setMute = """
    UPDATE headway_error SET note = ?2, author = ?3, muted = ?4
    WHERE id = ?1 AND (note IS NOT ?2 OR author IS NOT ?3) RETURNING id
    """
  /// Adds up the counts of the hours before the second parameter; reads all counts.
  static let merge = [
    """
    INSERT INTO headway_error_count (error, hour, place, count, last_seen, last_job)
    SELECT error, \(JobErrorGroup.earlierHours), 0, sum(count), max(last_seen), last_job FROM headway_error_count
    WHERE \(earlier) GROUP BY error \(sum)
    """,
    "DELETE FROM headway_error_count WHERE \(earlier)",
  ]
  private static let earlier = "hour < ?2 AND hour <> \(JobErrorGroup.earlierHours)"
  /// Deletes a group; by the primary key.
  static let delete = "DELETE FROM headway_error WHERE id = ?1"
  /// Deletes the counts of groups that do not exist; reads all counts.
  static let deleteCounts = """
    DELETE FROM headway_error_count WHERE hour < ?1 AND error NOT IN (SELECT id FROM headway_error)
    """

  /// Adds the values of a row to the values of the stored row.
  private static let sum = """
    ON CONFLICT (error, hour, place) DO UPDATE SET count = count + excluded.count,
    last_seen = max(last_seen, excluded.last_seen),
    last_job = iif((excluded.last_seen, excluded.last_job) > (last_seen, last_job), excluded.last_job, last_job)
    """
}
#endif
