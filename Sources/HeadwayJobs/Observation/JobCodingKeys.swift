/// Encodes states and kinds as keys of JSON objects, so that snapshots are readable.
extension JobState: CodingKeyRepresentable {
  /// The name of the state.
  public var codingKey: any CodingKey { StateKey(stringValue: name) }

  /// Creates a state from its name.
  ///
  /// - Parameter codingKey: The name, for example `waiting`.
  public init?(codingKey: some CodingKey) {
    guard let state = JobState(name: codingKey.stringValue) else { return nil }
    self = state
  }

  /// The name of the state, for example `waiting`.
  public var name: String { "\(self)" }

  /// Creates a state from its name.
  ///
  /// - Parameter name: The name, for example `waiting`.
  public init?(name: String) {
    guard let state = Self.allCases.first(where: { $0.name == name }) else { return nil }
    self = state
  }

  private struct StateKey: CodingKey {
    let stringValue: String
    var intValue: Int? { nil }

    init(stringValue: String) { self.stringValue = stringValue }

    init?(intValue: Int) { nil }
  }
}

extension JobKind: CodingKeyRepresentable {}
