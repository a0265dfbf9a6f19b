/// A programming error.
struct Misuse: Sendable {
  let name: String
  /// What the message contains: the object, and what to do instead.
  let words: [String]
  let commit: @Sendable () async throws -> Void

  init(_ name: String, _ words: String..., commit: @escaping @Sendable () async throws -> Void) {
    (self.name, self.words, self.commit) = (name, words, commit)
  }
}
