/// A rule that every store follows, with a function that checks it.
@_spi(JobStore) public struct JobStoreCheck: Sendable, CustomStringConvertible {
  /// The number of the rule and the behavior, such as “J13: two jobs with one key are one job”.
  public let title: String
  private let body: @Sendable (JobStoreProbe) async throws -> Void

  init(_ title: String, _ body: @escaping @Sendable (JobStoreProbe) async throws -> Void) {
    self.title = title
    self.body = body
  }

  /// The title.
  public var description: String { title }

  /// Runs the check.
  ///
  /// - Parameter fixture: An empty store, with functions to control its time.
  /// - Throws: ``JobStoreDefect`` if the store does not follow the rule; any error of the store.
  public func run(on fixture: any JobStoreFixture) async throws { try await body(JobStoreProbe(fixture)) }
}

/// A violation of a rule by a store.
@_spi(JobStore) public struct JobStoreDefect: Error, Sendable, CustomStringConvertible {
  /// A description of the violation, with the location of the check.
  public let description: String
}
