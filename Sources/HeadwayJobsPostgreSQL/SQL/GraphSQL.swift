#if PostgreSQL
@_spi(JobStore) import HeadwayJobs

/// Statements about dependencies.
enum GraphSQL: GraphStatements {
  // MARK: Jobs

  /// The states of unfinished jobs, whose rows are locked in ascending order of ID; by the primary key.
  static let unfinishedStandings = """
    SELECT id, state, NULL::bigint FROM headway.job WHERE id = ANY($1) ORDER BY id FOR UPDATE
    """
  /// The states of finished jobs, which are not deleted before the end of the transaction; by the primary key.
  static let finishedStandings = """
    SELECT id, state, culprit FROM headway.done WHERE id = ANY($1) ORDER BY id FOR KEY SHARE
    """
  /// Notes that unfinished jobs have dependents; by the primary key.
  static let noteDependents = "UPDATE headway.job SET flags = flags | \(JobRow.hasDependents) WHERE id = ANY($1)"
  /// Makes held jobs wait for more jobs; by the primary key.
  static let addUnmet = "UPDATE headway.job SET unmet = unmet + $2 WHERE id = ANY($1)"

  // MARK: Ends

  /// The edges that ended jobs can meet, in order, up to a limit; by `edge_unmet`.
  ///
  /// The parameters are the jobs, whether they have succeeded, and the limit. The server executes this as a loop over
  /// the jobs, which ends as soon as there are enough edges.
  private static let meetable = """
    SELECT x.id AS dependency, e.dependent, x.place FROM
    unnest($1::bigint[], $2::boolean[]) WITH ORDINALITY AS x(id, ok, place)
    CROSS JOIN LATERAL (
      SELECT dependent FROM headway.edge WHERE dependency = x.id AND status = 0 AND (x.ok OR NOT success)
      ORDER BY dependent LIMIT $3) e
    LIMIT $3
    """
  /// Locks the dependents of jobs that have ended, in ascending order of ID; by the primary key.
  ///
  /// The store executes this statement and the next one itself, because calling the function takes a tenth longer.
  static let lockDependents = """
    SELECT id FROM headway.job WHERE id IN (SELECT dependent FROM (\(meetable)) m) ORDER BY id FOR UPDATE
    """
  /// Makes the same changes as `JobGraph.status` and `JobGraph.meet`, for several jobs that have ended.
  ///
  /// This is a separate statement, so that it reads the locked versions of the rows. Its last row contains the number
  /// of edges instead of a state.
  static let meetEdges = """
    WITH meetable AS MATERIALIZED (\(meetable)),
    met AS (
      UPDATE headway.edge e SET status = 1 FROM meetable m
      WHERE e.dependency = m.dependency AND e.dependent = m.dependent AND e.status = 0
      RETURNING e.dependent, m.place),
    number AS (
      SELECT id, number, nextval('headway.position') AS position FROM (
        SELECT dependent AS id, count(*) AS number FROM met GROUP BY dependent ORDER BY max(place), dependent) m),
    changed AS (
      UPDATE headway.job j SET unmet = j.unmet - n.number,
      position = CASE WHEN j.unmet = n.number AND j.slots IS DISTINCT FROM 0 THEN n.position ELSE j.position END,
      ready = CASE WHEN j.unmet = n.number AND j.slots IS DISTINCT FROM 0 THEN $4 ELSE j.ready END,
      due = CASE WHEN j.unmet = n.number AND j.due <= $4 THEN NULL ELSE j.due END,
      state = CASE WHEN j.unmet > n.number THEN \(JobState.held.rawValue)
        WHEN j.due > $4 THEN \(JobState.scheduled.rawValue) ELSE \(JobState.waiting.rawValue) END
      FROM number n WHERE j.id = n.id AND j.\(JobState.held.condition) RETURNING j.state, j.queue)
    SELECT state::bigint, queue FROM changed UNION ALL SELECT count(*), NULL FROM met
    """

  // MARK: Edges

  /// The unmet edges from jobs, in order, up to a limit; by `edge_unmet`.
  static let unmetEdges = """
    SELECT \(JobRow.edge) FROM unnest($1::bigint[]) AS x(id) CROSS JOIN LATERAL (
      SELECT * FROM headway.edge WHERE dependency = x.id AND status = 0 ORDER BY dependent LIMIT $2) e
    LIMIT $2
    """
  /// The given jobs that have unmet edges to dependents; by `edge_unmet`.
  static let withUnmetEdges = """
    SELECT id FROM unnest($1::bigint[]) AS x(id)
    WHERE EXISTS (SELECT FROM headway.edge WHERE dependency = x.id AND status = 0)
    """
  /// The edges to jobs; by `edge_dependent`.
  static let edgesTo = """
    SELECT \(JobRow.edge) FROM headway.edge WHERE dependent = ANY($1) ORDER BY dependent, dependency
    """
  /// Inserts edges.
  static let insertEdges = "INSERT INTO headway.edge (\(JobRow.edge)) SELECT * FROM unnest($1, $2, $3, $4)"
  /// Changes the status of edges; by the primary key.
  static let setStatus = """
    UPDATE headway.edge e SET status = $3 FROM unnest($1::bigint[], $2::bigint[]) AS x(dependency, dependent)
    WHERE e.dependency = x.dependency AND e.dependent = x.dependent
    """
  /// Deletes the edges to jobs; by `edge_dependent`.
  static let deleteEdges = "DELETE FROM headway.edge WHERE dependent = ANY($1)"

  // MARK: Edges that are settled later

  /// The ended jobs whose edges are not settled, and locks these notes, up to a limit; by the primary keys.
  static let cascades = """
    SELECT job, c.culprit, state FROM headway.cascade c LEFT JOIN headway.done ON id = job ORDER BY job
    LIMIT $1 FOR UPDATE OF c
    """
  /// Notes jobs whose edges are not settled; by the primary key.
  static let putCascades = """
    INSERT INTO headway.cascade (job, culprit) SELECT * FROM unnest($1::bigint[], $2::bigint[])
    ON CONFLICT (job) DO UPDATE SET culprit = excluded.culprit
    """
  /// Removes these notes; by the primary key.
  static let deleteCascades = "DELETE FROM headway.cascade WHERE job = ANY($1)"
}
#endif
