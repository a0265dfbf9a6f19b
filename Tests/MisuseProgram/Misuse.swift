/// A programming error.
struct Misuse: Sendable {
  let name: String
  /// Words that the message contains: the object and the remedy.
  let words: [String]
  let commit: @Sendable () async throws -> Void

  init(_ name: String, _ words: String..., commit: @escaping @Sendable () async throws -> Void) {
    (self.name, self.words, self.commit) = (name, words, commit)
  }
}
