/// The origin of a change that a store records: its author, and what the author requested.
@_spi(JobStore) public struct JobsChangeOrigin: Hashable, Sendable {
  /// The person who makes the change.
  public let author: String
  /// The selection of the person, if the command has only part of it.
  ///
  /// A change of many jobs has several transactions, each with a command for some of the jobs.
  public let filter: JobFilter?
  /// A random number that is the same for all transactions of a change.
  ///
  /// The first transaction adds a record, and the other transactions update it.
  public let token: Int64

  /// Creates the origin of a new change.
  ///
  /// - Parameters:
  ///   - author: The person who makes the change.
  ///   - filter: The selection of the person; nil if it is the filter of the command.
  ///   - token: The token of the change; random by default.
  public init(_ author: String, filter: JobFilter? = nil, token: Int64 = .random(in: 1 ... .max)) {
    // Not every database stores null characters.
    (self.author, self.filter, self.token) = (author.replacing("\0", with: "\u{FFFD}"), filter, token)
  }
}
