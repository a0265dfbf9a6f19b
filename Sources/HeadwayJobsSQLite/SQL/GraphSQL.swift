#if Jobs
@_spi(JobStore) import HeadwayJobs

/// Statements about dependencies.
enum GraphSQL: GraphStatements {
  // MARK: Jobs

  /// The state of a job; by the primary keys.
  static let standing = """
    SELECT id, state, NULL FROM headway_job WHERE id = ?1
    UNION ALL SELECT id, state, culprit FROM headway_done WHERE id = ?1
    """
  /// Notes that an unfinished job has dependents; by the primary key.
  static let noteDependents = "UPDATE headway_job SET flags = flags | \(JobRow.hasDependents) WHERE id = ?1"
  /// Makes a held job wait for more jobs; by the primary key.
  static let addUnmet = "UPDATE headway_job SET unmet = unmet + ?2 WHERE id = ?1"
  /// Makes the same change as `JobGraph.meet`; by the primary key.
  ///
  /// The parameters are the ID of the job, a position and the time.
  static let meet = """
    UPDATE headway_job SET unmet = unmet - 1, position = iif(unmet = 1 AND slots IS NOT 0, ?2, position),
    ready = iif(unmet = 1 AND slots IS NOT 0, ?3, ready), due = iif(unmet = 1 AND due <= ?3, NULL, due),
    state = CASE WHEN unmet > 1 THEN \(JobState.held.rawValue) WHEN due > ?3 THEN \(JobState.scheduled.rawValue)
    ELSE \(JobState.waiting.rawValue) END
    WHERE id = ?1 AND \(JobState.held.condition) RETURNING state, queue
    """

  // MARK: Edges

  /// The unmet edges from a job, up to a limit; by `headway_edge_unmet`.
  static let unmetEdges = """
    SELECT \(JobRow.edge) FROM headway_edge WHERE dependency = ?1 AND status = 0 ORDER BY dependent LIMIT ?2
    """
  /// Whether a job has unmet edges to dependents; by `headway_edge_unmet`.
  static let withUnmetEdges = "SELECT dependency FROM headway_edge WHERE dependency = ?1 AND status = 0 LIMIT 1"
  /// The dependents whose edges a job can meet, up to a limit; by `headway_edge_unmet`.
  ///
  /// The parameters are the ID of the job, whether it has succeeded, and the limit.
  static let meetable = """
    SELECT dependent FROM headway_edge WHERE dependency = ?1 AND status = 0 AND (success = 0 OR ?2) ORDER BY dependent
    LIMIT ?3
    """
  /// The edges to a job; by `headway_edge_dependent`.
  static let edgesTo = "SELECT \(JobRow.edge) FROM headway_edge WHERE dependent = ?1 ORDER BY dependency"
  /// Inserts an edge.
  static let insertEdges = "INSERT INTO headway_edge (\(JobRow.edge)) VALUES (?1, ?2, ?3, ?4)"
  /// Changes the status of an edge; by the primary key.
  static let setStatus = "UPDATE headway_edge SET status = ?3 WHERE dependency = ?1 AND dependent = ?2"
  /// Deletes the edges to a job; by `headway_edge_dependent`.
  static let deleteEdges = "DELETE FROM headway_edge WHERE dependent = ?1"

  // MARK: Edges that are settled later

  /// The ended jobs whose edges are not settled, up to a limit; by the primary keys.
  static let cascades = """
    SELECT job, c.culprit, state FROM headway_cascade c LEFT JOIN headway_done ON id = job ORDER BY job LIMIT ?1
    """
  /// Notes a job whose edges are not settled; by the primary key.
  static let putCascades = "INSERT OR REPLACE INTO headway_cascade (job, culprit) VALUES (?1, ?2)"
  /// Removes the note; by the primary key.
  static let deleteCascades = "DELETE FROM headway_cascade WHERE job = ?1"
}
#endif
