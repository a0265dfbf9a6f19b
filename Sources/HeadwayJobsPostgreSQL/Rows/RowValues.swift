#if PostgreSQL
@_spi(JobStore) import HeadwayJobs

/// The values of a statement's parameters: one value, or a list with one value per element.
struct RowValues: StoredRowWriter {
  private(set) var parameters = Parameters()
  /// The lists of the elements' values.
  private var lists: [ValueList] = []
  /// The number of the next list.
  private var position = 0
  private var isList = false

  /// The approximate number of bytes.
  var size: Int { lists.reduce(0) { $0 + $1.bytes.count } }

  /// Begins the values of an element, which are added to the lists.
  mutating func beginElement() { (position, isList) = (0, true) }

  /// Ends the elements.
  ///
  /// The next values are those that follow the lists.
  mutating func endElements() {
    for list in lists { parameters.add(list) }
    (lists, isList) = ([], false)
  }

  private mutating func add<Value: BinaryValue>(value: Value?) {
    guard isList else { return parameters.add(value) }
    if position == lists.count { lists.append(ValueList(of: Value.self)) }
    lists[position].append(value)
    position += 1
  }

  mutating func add(_ value: Int64?) { add(value: value) }
  mutating func add(_ value: Double?) { add(value: value) }
  mutating func add(_ value: Bool) { add(value: value) }
  mutating func add(_ value: String?) { add(value: value) }
  mutating func add(description: String?) { add(value: description?.withoutNull) }
  mutating func add(_ value: [UInt8]?) { add(value: value) }
  mutating func add(_ value: StoreTime?) { add(value: value) }
}

extension String {
  /// The text with a visible character instead of each null character, which PostgreSQL can't store.
  ///
  /// Only descriptions are changed. Names and keys with null characters are rejected.
  var withoutNull: String {
    utf8.contains(0) ? split(separator: "\0", omittingEmptySubsequences: false).joined(separator: "\u{2400}") : self
  }
}
#endif
