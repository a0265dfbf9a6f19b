// The statements of a store in an SQL database, under the functions of ``SQLJobRows``.
//
// Each description lists the parameters by number. Many statements have elements, such as jobs. If
// parameters of the database can be lists, the statement receives one list for each value of the elements. Otherwise,
// the statement is executed for each element. The other parameters follow.

/// Statements about jobs.
///
/// If transactions overlap, the statements that find jobs lock the rows in ascending order of ID.
@_spi(JobStore) public protocol JobStatements {
  /// Finds unfinished jobs by ID.
  static var findUnfinished: String { get }
  /// Finds finished jobs by ID.
  static var findFinished: String { get }
  /// Finds an unfinished job by its number.
  static var isUnfinished: String { get }
  /// Finds the job of an attempt: number, attempt, epoch and owner.
  static var findRunning: String { get }
  /// Finds jobs of a worker that it runs: worker, limit.
  static var runningJobs: String { get }
  /// Finds jobs that have missed their deadlines: time, limit.
  static var lateJobs: String { get }
  /// Finds scheduled and retrying jobs that are due: time, limit.
  static var dueJobs: String { get }
  /// Returns `unique_key, id` for keys that unfinished jobs hold.
  static var holders: String { get }
  /// Returns `key, job` for keys that jobs hold for a time: keys, time.
  static var timedHolders: String { get }

  /// Inserts finished jobs, or replaces the rows with the same numbers.
  static var putFinished: String { get }
  /// Deletes unfinished jobs.
  static var deleteUnfinished: String { get }
  /// Deletes finished jobs.
  static var deleteFinished: String { get }
  /// Changes the progress of a job: number, fraction, text.
  static var setProgress: String { get }
  /// Deletes keys that were held until a time, up to a limit: time.
  static var pruneKeys: String { get }
  /// Deletes buckets that are full since a time, up to a limit: time.
  static var pruneBuckets: String { get }
  /// Returns the settings and the history of a job.
  static var findParts: String { get }
  /// Changes the settings and the history of an unfinished job: number, settings, history.
  static var setUnfinishedParts: String { get }
  /// Changes the settings and the history of a finished job: number, settings, history.
  static var setFinishedParts: String { get }
}

/// Statements about checkpoints.
@_spi(JobStore) public protocol CheckpointStatements {
  /// Returns `job, value`: jobs, name.
  static var find: String { get }
  /// Inserts or replaces checkpoints: jobs, names, values.
  static var put: String { get }
  /// Notes that jobs have checkpoints.
  static var note: String { get }
  /// Deletes the checkpoints of jobs.
  static var delete: String { get }
}

/// Statements about dependencies.
@_spi(JobStore) public protocol GraphStatements {
  /// Returns `dependency, dependent, success, status` for dependents.
  static var edgesTo: String { get }
  /// Returns those jobs that have unmet edges to dependents.
  static var withUnmetEdges: String { get }
  /// Inserts edges: dependencies, dependents, whether they require success, statuses.
  static var insertEdges: String { get }
  /// Changes the status of edges: dependencies, dependents, status.
  static var setStatus: String { get }
  /// Deletes the edges to dependents.
  static var deleteEdges: String { get }
  /// Notes that unfinished jobs have dependents.
  static var noteDependents: String { get }
  /// Increases the number of jobs that held jobs wait for: jobs, number.
  static var addUnmet: String { get }
  /// Returns `job, culprit, state` for ended jobs whose edges are not settled, up to a limit.
  static var cascades: String { get }
  /// Notes jobs whose edges are not settled: jobs, culprits.
  static var putCascades: String { get }
  /// Removes these notes.
  static var deleteCascades: String { get }
}

/// Statements about limits, and about queues.
@_spi(JobStore) public protocol LimitStatements {
  /// Returns the ``QueueRow/columns`` of all queues.
  static var queues: String { get }
  /// Inserts or replaces a queue: its columns.
  static var putQueue: String { get }
  /// Deletes a queue: name.
  static var deleteQueue: String { get }
  /// Returns the number of running jobs of a queue.
  static var runningCount: String { get }
  /// Returns the sum of the weights of running jobs whose first limit has a key; 0 if there are none.
  static var runningWeight: String { get }
  /// Returns the first job of a serial key that has not ended.
  static var firstOfSerialKey: String { get }
  /// Returns when a bucket is full, and when a waiting job can have a token: key.
  static var bucket: String { get }
  /// Inserts or replaces a bucket: key, both times.
  static var putBucket: String { get }
  /// Inserts or replaces a turn: queue, priority, key, whether a plain job is next, heavy jobs, last group.
  static var putTurn: String { get }
}

/// Statements about error groups.
@_spi(JobStore) public protocol ErrorStatements {
  /// Returns those groups that exist.
  static var existing: String { get }
  /// Returns `kind, number` for kinds.
  static var countsByKind: String { get }
  /// Inserts groups that do not exist: number, kind, type, text, first time.
  static var insert: String { get }
  /// Adds failed attempts: group, hour, place, number, last time, last job.
  static var count: String { get }
  /// Changes the mute of a group that has another one, and returns its number: group, note, author, time.
  static var setMute: String { get }
  /// Adds up the counts of earlier hours, up to a limit: the current hour, the first hour that is counted by itself.
  static var merge: [String] { get }
  /// Deletes groups.
  static var delete: String { get }
  /// Deletes the counts of groups that do not exist, before an hour.
  static var deleteCounts: String { get }
}

/// Statements about schedules.
///
/// If transactions overlap, those that find schedules lock the rows.
@_spi(JobStore) public protocol ScheduleStatements {
  /// Returns the ``ScheduleRow/columns`` and whether the last job is unfinished, for due schedules: time, limit.
  static var due: String { get }
  /// Returns the columns of a schedule: name.
  static var find: String { get }
  /// Inserts or replaces a schedule: its columns.
  static var put: String { get }
  /// Writes what ticks change: the values of ``ScheduleRow/writeTick(of:to:)``.
  static var putTicks: String { get }
  /// Changes the next ticks: names, time.
  static var postpone: String { get }
  /// Deletes a schedule and returns its name: name.
  static var delete: String { get }
}

/// Statements about statistics.
@_spi(JobStore) public protocol StatisticsStatements {
  /// Inserts the activity of groups: time, and the columns of ``ActivityColumns``.
  static var insertActivity: String { get }
  /// Inserts the activity of one group, with the same parameters, none of which is a list.
  static var insertActivityOfGroup: String { get }
  /// Deletes the oldest activity and returns its time and its columns: limit.
  static var takeActivity: String { get }
  /// Returns the rows of periods, as ``ActivityColumns/readRow(_:)`` expects: levels, beginnings.
  static var find: String { get }
  /// Inserts or replaces rows of periods: level, beginning, and the columns of ``ActivityColumns``.
  static var put: String { get }
  /// Deletes the first rows of a level that begin before a time: level, time, limit.
  static var deleteExpired: String { get }
}
