#if Jobs
@_spi(JobStore) import HeadwayJobs

/// The statements of audits that only SQLite needs.
enum AuditSQL {
  /// Whether the pages of the database are intact.
  static let integrity = "PRAGMA integrity_check"

  /// The rules about the numbers in `headway_meta`.
  static let rules = [
    AuditRule(
      "jobs have a number that was not assigned",
      """
      SELECT id FROM (SELECT id FROM headway_job UNION ALL SELECT id FROM headway_done)
      WHERE id < 1 OR id > (SELECT value FROM headway_meta WHERE name = 'job')
      """),
    AuditRule(
      "jobs have a position that was not assigned",
      """
      SELECT id FROM headway_job WHERE position > (SELECT value FROM headway_meta WHERE name = 'position')
      """),
    AuditRule(
      "keys that are held for a time belong to jobs with a number that was not assigned",
      "SELECT job FROM headway_key WHERE job > (SELECT value FROM headway_meta WHERE name = 'job')"),
  ]

  /// The number of jobs that were assigned a number, and the numbers of unfinished, finished and deleted jobs.
  static let sums = """
    SELECT (SELECT value FROM headway_meta WHERE name = 'job'), (SELECT count(*) FROM headway_job),
    (SELECT count(*) FROM headway_done), (SELECT value FROM headway_meta WHERE name = 'deleted')
    """
}
#endif
