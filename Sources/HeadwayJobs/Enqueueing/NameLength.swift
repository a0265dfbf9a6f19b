/// The maximum lengths of names and keys, which stores index, and of labels and tags.
package enum NameLength {
  /// The maximum length of the name of a queue, kind, schedule or checkpoint, and of a tag, in bytes of UTF-8.
  package static let name = 512
  /// The maximum length of a key or label, in bytes of UTF-8.
  static let key = 1_024
  /// The maximum number of tags of a job.
  static let tagCount = 100

  /// Checks the names, keys, label and tags of a job.
  ///
  /// - Parameter job: The encoded job with all its options.
  /// - Throws: ``JobError`` with the code ``JobError/Code/nameTooLong``.
  static func check(_ job: NewJob) throws {
    try check(job.kind.rawValue, "The kind of a job", name)
    try check(job.queue, "The queue of a job of the kind \(job.kind)", name)
    try job.settings.unique.map { try check($0.key, "The key of a job of the kind \(job.kind)", key) }
    for limit in job.settings.limits ?? [] {
      try check(limit.key, "The key of a limit of a job of the kind \(job.kind)", key)
    }
    if let limits = job.settings.furtherLimits {
      try check(limits, "The list of the limits after the first one of a job of the kind \(job.kind)", key)
    }
    try job.settings.label.map { try check($0, "The label of a job of the kind \(job.kind)", key) }
    let tags = job.settings.tags ?? []
    for tag in tags { try check(tag, "A tag of a job of the kind \(job.kind)", name) }
    guard tags.count <= tagCount else {
      throw JobError(
        .nameTooLong,
        "A job of the kind \(job.kind) has \(tags.count) tags, but at most \(tagCount) are possible. Store the words "
          + "in the job.")
    }
  }

  /// Checks a name or key.
  ///
  /// - Parameters:
  ///   - text: The name or key.
  ///   - subject: The beginning of the message: a phrase for the name or key.
  ///   - limit: The maximum length, in bytes of UTF-8.
  /// - Throws: ``JobError`` with the code ``JobError/Code/nameTooLong``.
  static func check(_ text: String, _ subject: @autoclosure () -> String, _ limit: Int) throws {
    let length = text.utf8.count
    guard length > limit else { return }
    throw JobError(
      .nameTooLong,
      "\(subject()) has \(length) bytes, but at most \(limit) are possible. Use a hash, or store the text in the job.")
  }
}
