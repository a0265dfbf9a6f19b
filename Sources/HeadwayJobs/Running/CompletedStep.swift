/// The stored value of a step that returns nothing.
///
/// It is encoded as `true`, like the value of a signal without a value.
package struct CompletedStep: Codable, Sendable {
  package init() {}

  /// Accepts any value, because the step might have returned one in an earlier version of the program.
  package init(from decoder: any Decoder) {}

  package func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(true)
  }
}
