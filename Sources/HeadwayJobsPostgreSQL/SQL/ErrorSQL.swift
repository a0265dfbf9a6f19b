#if PostgreSQL
@_spi(JobStore) import HeadwayJobs

/// Statements about error groups: the errors are in the table `error`, and their counts in `error_count`.
///
/// Exchanges insert rows of both tables in ascending order of ID, at the end of the transaction.
enum ErrorSQL: ErrorStatements {
  /// The number of rows that the connections of all processes count in, for each group and hour.
  static let placeCount = 8

  /// The given groups that exist; by the primary key.
  static let existing = "SELECT id FROM headway.error WHERE id = ANY($1)"
  /// The number of groups of each kind; by `error_kind`.
  static let countsByKind = "SELECT kind, count(*) FROM headway.error WHERE kind = ANY($1) GROUP BY kind"
  /// Inserts groups that do not exist; by the primary key.
  static let insert = """
    INSERT INTO headway.error (id, kind, type, text, first_seen)
    SELECT * FROM unnest($1::bigint[], $2::text[], $3::text[], $4::text[], $5::timestamptz[])
    ON CONFLICT (id) DO NOTHING
    """
  /// Adds failed attempts; by the primary key.
  static let count = """
    INSERT INTO headway.error_count AS e (error, hour, place, count, last_seen, last_job) SELECT * FROM unnest(
    $1::bigint[], $2::bigint[], $3::bigint[], $4::bigint[], $5::timestamptz[], $6::bigint[])
    \(sum)
    """
  /// Changes the mute of a group; by the primary key.
  static let setMute = """
    UPDATE headway.error SET note = $2, author = $3, muted = $4
    WHERE id = $1 AND (note IS DISTINCT FROM $2 OR author IS DISTINCT FROM $3) RETURNING id
    """
  /// Adds up the counts of all places of past hours, and of the hours before the second parameter, except locked ones,
  /// up to a limit; reads all counts.
  ///
  /// No exchange counts in these hours any longer, unless its transaction began before the end of the hour.
  static let merge = [
    """
    WITH old AS (
      DELETE FROM headway.error_count c USING (
        SELECT error, hour, place FROM headway.error_count
        WHERE hour < $1 AND place > 0 OR hour < $2 AND hour <> \(JobErrorGroup.earlierHours)
        ORDER BY error, hour, place LIMIT \(JobCommand.maxPrunedKeyCount) FOR UPDATE SKIP LOCKED) found
      WHERE c.error = found.error AND c.hour = found.hour AND c.place = found.place
      RETURNING c.error, CASE WHEN c.hour < $2 THEN \(JobErrorGroup.earlierHours) ELSE c.hour END AS hour, c.count,
      c.last_seen, c.last_job)
    INSERT INTO headway.error_count AS e (error, hour, place, count, last_seen, last_job)
    SELECT error, hour, 0, sum(count), max(last_seen), (array_agg(last_job ORDER BY last_seen DESC, last_job DESC))[1]
    FROM old GROUP BY error, hour ORDER BY error, hour
    \(sum)
    """
  ]
  /// Deletes groups, except locked ones; by the primary key.
  static let delete = """
    DELETE FROM headway.error WHERE id IN (
      SELECT id FROM headway.error WHERE id = ANY($1) ORDER BY id FOR UPDATE SKIP LOCKED)
    """
  /// Deletes the counts of groups that do not exist, except locked ones; reads all counts.
  static let deleteCounts = """
    DELETE FROM headway.error_count WHERE (error, hour, place) IN (
      SELECT error, hour, place FROM headway.error_count c
      WHERE hour < $1 AND NOT EXISTS (SELECT FROM headway.error WHERE id = c.error)
      ORDER BY error, hour, place LIMIT \(JobCommand.maxPrunedKeyCount) FOR UPDATE SKIP LOCKED)
    """

  /// Adds the values of a row to the values of the stored row.
  private static let sum = """
    ON CONFLICT (error, hour, place) DO UPDATE SET count = e.count + excluded.count,
    last_seen = greatest(e.last_seen, excluded.last_seen), last_job = CASE
    WHEN (excluded.last_seen, excluded.last_job) > (e.last_seen, e.last_job) THEN excluded.last_job ELSE e.last_job END
    """
}
#endif
