#if Dashboard
/// A request that was authorized.
struct Call: Sendable {
  /// The path below the first page, in parts.
  var path: [String]
  /// The fields of the URL.
  var query: Fields
  /// The person who has sent it.
  var access: JobsDashboard.Access
  /// Whether the sender may change jobs.
  var canChange: Bool
  /// The token that forms send, which only pages of this site know.
  var token: String
}
#endif
