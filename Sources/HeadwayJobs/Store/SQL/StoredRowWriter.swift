/// Receives the values of a row, one column after another.
@_spi(JobStore) public protocol StoredRowWriter {
  /// Adds an integer.
  mutating func add(_ value: Int64?)
  /// Adds a floating-point number.
  mutating func add(_ value: Double?)
  /// Adds a boolean.
  mutating func add(_ value: Bool)
  /// Adds a name or a key.
  mutating func add(_ value: String?)
  /// Adds a text for people, which the store can change slightly.
  mutating func add(description: String?)
  /// Adds bytes.
  mutating func add(_ value: [UInt8]?)
  /// Adds a time.
  mutating func add(_ value: StoreTime?)
}

@_spi(JobStore) extension StoredRowWriter {
  /// Adds an integer.
  public mutating func add(_ value: Int) { add(Int64(value)) }

  /// Adds a text for people.
  public mutating func add(description: String?) { add(description) }
}
