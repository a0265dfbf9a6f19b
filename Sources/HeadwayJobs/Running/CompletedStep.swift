/// The stored value of a step that returns nothing.
///
/// It is encoded as `true`, like the value of a signal without a value.
@_spi(JobStore) public struct CompletedStep: Codable, Sendable {
  /// Creates the value.
  public init() {}

  /// Accepts any value, because the step might have returned one in an earlier version of the program.
  ///
  /// - Parameter decoder: The decoder to read nothing from.
  public init(from decoder: any Decoder) {}

  /// Encodes the value as `true`.
  ///
  /// - Parameter encoder: The encoder to write to.
  /// - Throws: An error of the encoder.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(true)
  }
}
