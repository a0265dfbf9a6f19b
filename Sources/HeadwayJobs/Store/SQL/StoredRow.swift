/// A row that a statement of a store has returned.
///
/// The columns have the numbers 0, 1, and so on.
@_spi(JobStore) public protocol StoredRow {
  /// Returns whether a column is null.
  func isNull(_ column: Int) -> Bool
  /// Returns an integer; 0 for null.
  func int64(_ column: Int) -> Int64
  /// Returns a floating-point number; 0 for null.
  func double(_ column: Int) -> Double
  /// Returns whether a column is true; false for null.
  func bool(_ column: Int) -> Bool
  /// Returns a text; empty for null.
  func text(_ column: Int) -> String
  /// Returns bytes; empty for null.
  func bytes(_ column: Int) -> [UInt8]
  /// Returns a time.
  func time(_ column: Int) -> StoreTime
}

@_spi(JobStore) extension StoredRow {
  /// Returns an integer; 0 for null.
  public func int(_ column: Int) -> Int { Int(int64(column)) }

  /// Returns the ID of a job.
  public func id(_ column: Int) -> JobID { JobID(rawValue: int64(column)) }

  /// Returns the number of a worker.
  public func worker(_ column: Int) -> WorkerID { WorkerID(rawValue: int64(column)) }

  /// Returns the kind of a job.
  public func kind(_ column: Int) -> JobKind { JobKind(rawValue: text(column)) }

  /// Returns a value, or nil for null.
  public func optional<Value>(_ column: Int, _ read: (Int) throws -> Value) rethrows -> Value? {
    isNull(column) ? nil : try read(column)
  }
}
