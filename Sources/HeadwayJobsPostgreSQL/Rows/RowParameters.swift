#if PostgreSQL
@_spi(JobStore) import HeadwayJobs

/// Adds the values of a row to the parameters of a statement.
struct ParameterWriter: StoredRowWriter {
  private(set) var statement: Statement

  init(_ statement: Statement) { self.statement = statement }

  mutating func add(_ value: Int64?) { statement.add(value) }
  mutating func add(_ value: Double?) { statement.add(value) }
  mutating func add(_ value: Bool) { statement.add(value) }
  mutating func add(_ value: String?) { statement.add(value) }
  mutating func add(_ value: [UInt8]?) { statement.add(value) }
  mutating func add(_ value: StoreTime?) { statement.add(value) }
  mutating func add(description: String?) { statement.add(description?.withoutNull) }
}

/// Gathers the values of rows in an array for each column.
struct ArrayWriter: StoredRowWriter {
  private var columns: [ArrayParameter] = []
  private var column = 0
  private var rowCount = 0

  private mutating func append<Value: BinaryValue>(_ value: Value?) {
    if rowCount == 0 { columns.append(ArrayParameter(Value.self)) }
    columns[column].append(value)
    column += 1
  }

  mutating func add(_ value: Int64?) { append(value) }
  mutating func add(_ value: Double?) { append(value) }
  mutating func add(_ value: Bool) { append(value) }
  mutating func add(_ value: String?) { append(value) }
  mutating func add(_ value: [UInt8]?) { append(value) }
  mutating func add(_ value: StoreTime?) { append(value) }
  mutating func add(description: String?) { append(description?.withoutNull) }

  /// Begins the next row.
  mutating func endRow() { (column, rowCount) = (0, rowCount + 1) }

  /// Adds the arrays to a statement.
  func add(to statement: inout Statement) { for column in columns { statement.parameters.add(column) } }
}

extension Statement {
  /// Adds rows as an array for each column.
  mutating func add<Row>(rows: [Row], _ write: (Row, inout ArrayWriter) -> Void) {
    var writer = ArrayWriter()
    for row in rows {
      write(row, &writer)
      writer.endRow()
    }
    writer.add(to: &self)
  }

  /// Adds the values of a row.
  mutating func add(row write: (inout ParameterWriter) -> Void) {
    var writer = ParameterWriter(self)
    write(&writer)
    self = writer.statement
  }

  /// Creates the statement of a reader.
  init(_ statement: StoreStatement) {
    self.init(statement.sql, isFrequent: statement.isFrequent)
    for value in statement.values {
      switch value {
      case .integer(let value): add(value)
      case .text(let value): add(value)
      case .bytes(let value): add(value)
      case .time(let value): add(value)
      case .integers(let values): add(array: values)
      case .texts(let values): add(array: values)
      }
    }
  }
}

extension JobRow {
  /// Adds unfinished jobs to a statement.
  static func addUnfinished(_ jobs: [JobRecord], to statement: inout Statement, flags: Int = 0) {
    statement.add(rows: jobs) { writeUnfinished($0, flags: flags, to: &$1) }
  }

  /// Adds finished jobs to a statement.
  static func addFinished(_ jobs: [JobRecord], to statement: inout Statement) {
    statement.add(rows: jobs) { writeFinished($0, to: &$1) }
  }

  /// Adds an attempt to the parameters of ``JobSQL/isRun``.
  static func add(_ fence: JobFence, to statement: inout Statement) { statement.add { write(fence, to: &$0) } }
}

extension ScheduleRow {
  /// Adds the changes that ticks have caused to ``RowSQL/putTicks``.
  static func addTicks(of schedules: [ScheduleRecord], to statement: inout Statement) {
    statement.add(rows: schedules) { writeTick(of: $0, to: &$1) }
  }

  /// Adds a schedule to ``RowSQL/putSchedule``.
  static func add(_ schedule: ScheduleRecord, to statement: inout Statement) {
    statement.add { write(schedule, to: &$0) }
  }
}

extension QueueRow {
  /// Reads the rows of ``RowSQL/queues``.
  static func readAll(_ result: QueryResult) -> [String: JobQueueRecord] {
    Dictionary(uniqueKeysWithValues: result.rows.map { read($0) }.map { ($0.name, $0.queue) })
  }

  /// Returns a statement that writes or deletes the row of a queue.
  static func write(_ queue: JobQueueRecord, name: String, _ transaction: JobTransaction) -> Statement {
    guard queue != JobQueueRecord() else { return transaction.statement(RowSQL.deleteQueue, name) }
    var statement = transaction.statement(RowSQL.putQueue)
    statement.add { write(queue, name: name, to: &$0) }
    return statement
  }
}

extension String {
  /// The text with a visible character instead of each null character, which PostgreSQL can't store.
  ///
  /// Only descriptions are changed. Names and keys with null characters are refused.
  var withoutNull: String {
    utf8.contains(0) ? split(separator: "\0", omittingEmptySubsequences: false).joined(separator: "\u{2400}") : self
  }
}
#endif
