/// The statements that compare the tables of a store with each other.
enum AuditSQL {
  /// All jobs of a table.
  static func all(_ columns: String, _ table: String) -> String { "SELECT \(columns) FROM \(table)" }

  /// The rules of all databases.
  static let rules = [
    AuditRule(
      "jobs are unfinished and finished at the same time", "SELECT id FROM headway.job JOIN headway.done USING (id)"),
    AuditRule("unfinished jobs have the state of a finished one", unfinished("NOT (\(range(JobState.unfinished)))")),
    AuditRule(
      "finished jobs have the state of an unfinished one",
      "SELECT id FROM headway.done WHERE NOT (\(range(JobState.finished)))"),
    AuditRule(
      "jobs are running although their worker is not registered",
      unfinished("\(running) AND (owner IS NULL OR owner NOT IN (SELECT id FROM headway.worker))")),
    AuditRule(
      "jobs are running although they were never claimed", unfinished("\(running) AND (attempt < 1 OR epoch < 1)")),
    AuditRule("scheduled jobs have no time", unfinished("\(JobState.scheduled.condition) AND due IS NULL")),
    AuditRule(
      "retrying jobs have no time, or no attempt that has failed",
      unfinished("\(JobState.retrying.condition) AND (due IS NULL OR attempt < 1)")),
    AuditRule(
      "jobs wait for a signal or sleep, but not for a time",
      unfinished("NOT (\(JobState.scheduled.condition)) AND awaits IS NOT NULL")),
    AuditRule(
      "jobs that are not running have a request to cancel them",
      unfinished("NOT (\(running)) AND (flags & \(JobRow.cancelRequested)) <> 0")),
    AuditRule(
      "jobs are running and hold a key that they have released",
      unfinished("\(running) AND (flags & \(JobRow.holdsKeyUntilClaim)) <> 0 AND unique_key IS NOT NULL")),
    AuditRule(
      "jobs have succeeded and have the group of an error",
      "SELECT id FROM headway.done WHERE \(JobState.succeeded.condition) AND error IS NOT NULL"),
    AuditRule(
      "checkpoints belong to jobs that do not exist or have succeeded",
      """
      SELECT DISTINCT job FROM headway.checkpoint c WHERE NOT EXISTS (SELECT 1 FROM headway.job WHERE id = c.job)
      AND NOT EXISTS (SELECT 1 FROM headway.done WHERE id = c.job AND NOT (\(JobState.succeeded.condition)))
      """),
    AuditRule(
      "held jobs have a wrong number of unmet dependencies",
      """
      SELECT id FROM headway.job j WHERE \(JobState.held.condition)
      AND unmet <> (SELECT count(*) FROM headway.edge WHERE dependent = j.id AND status = 0)
      """),
    AuditRule(
      "dependencies belong to jobs that do not exist",
      """
      SELECT DISTINCT dependent FROM headway.edge e WHERE NOT EXISTS (SELECT 1 FROM headway.job WHERE id = e.dependent)
      AND NOT EXISTS (SELECT 1 FROM headway.done WHERE id = e.dependent)
      """),
    AuditRule(
      "held jobs wait for a job that has ended or was deleted, and whose dependents are not being updated",
      """
      SELECT DISTINCT dependent FROM headway.edge e JOIN headway.job j ON j.id = e.dependent
      WHERE e.status = 0 AND NOT EXISTS (SELECT 1 FROM headway.job WHERE id = e.dependency)
      AND NOT EXISTS (SELECT 1 FROM headway.cascade WHERE job = e.dependency)
      """),
  ]

  private static let running = JobState.running.condition

  private static func range(_ states: Set<JobState>) -> String {
    let numbers = states.map(\.rawValue)
    return "state BETWEEN \(numbers.min() ?? 0) AND \(numbers.max() ?? 0)"
  }

  private static func unfinished(_ condition: String) -> String { "SELECT id FROM headway.job WHERE \(condition)" }
}
