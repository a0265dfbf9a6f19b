#if Dashboard
import HeadwayJobs

/// The different errors of a job, next to each other: equal errors are shown once, with all their attempts.
struct ErrorComparison {
  /// Attempts that ended with the same error.
  struct Group: Equatable {
    var type: String
    var text: String
    var attempts: [Int]
    /// When the last of the attempts ended.
    var time: StoreTime
  }

  /// The errors, latest first.
  private(set) var groups: [Group] = []

  init(_ errors: [JobErrorRecord]) {
    for error in errors.reversed() {
      let index = groups.firstIndex { $0.type == error.type && $0.text.utf8.elementsEqual(error.text.utf8) }
      if let index {
        groups[index].attempts.insert(error.attempt, at: 0)
      } else {
        groups.append(Group(type: error.type, text: error.text, attempts: [error.attempt], time: error.time))
      }
    }
  }

  /// Returns the values of the errors, in which the words that differ from the error before are marked.
  func views(at now: StoreTime) -> [View] {
    groups.indices.map { index in
      let group = groups[index]
      let parts = Self.parts(of: group.text, unlike: index + 1 < groups.count ? groups[index + 1].text : nil)
      let list = group.attempts.map(String.init).joined(separator: ", ")
      var view: View = [
        "key": "\(group.time.microseconds) \(group.type)", "type": group.type,
        "attempts": group.attempts.count == 1 ? "attempt \(list)" : "attempts \(list)",
        "time": Readable.time(group.time, at: now), "same": parts.same, "rest": parts.rest,
      ]
      view["changed"] = parts.changed.isEmpty ? nil : parts.changed
      return view
    }
  }

  /// Divides a text into the part before the words that differ from another text, these words, and the part after them.
  static func parts(of text: String, unlike other: String?) -> (same: String, changed: String, rest: String) {
    guard let other, text != other else { return (text, "", "") }
    let (words, others) = (words(of: text), words(of: other))
    var (start, end) = (0, 0)
    let count = min(words.count, others.count)
    while start < count, words[start] == others[start] { start += 1 }
    while end < count - start, words[words.count - 1 - end] == others[others.count - 1 - end] { end += 1 }
    // Texts that have nothing in common are not marked as a whole.
    guard start + end > 0 else { return (text, "", "") }
    let changed = words[start..<(words.count - end)]
    return (words[..<start].joined(), changed.joined(), words.suffix(end).joined())
  }

  /// Returns the words of a text, each with the space or punctuation after it.
  private static func words(of text: String) -> [Substring] {
    var (words, start) = ([Substring](), text.startIndex)
    for index in text.indices where !text[index].isLetter && !text[index].isNumber {
      let end = text.index(after: index)
      words.append(text[start..<end])
      start = end
    }
    return start < text.endIndex ? words + [text[start...]] : words
  }
}
#endif
