#if Dashboard
import HeadwayJobs

/// The sentence that reports a change on the page that follows it.
enum Notice {
  /// Returns the sentence for the fields of a URL; nil if there was no change.
  ///
  /// The URL contains only a word and a number, so that a link can't make a page say anything else.
  static func text(for query: Fields) -> String? {
    let count = query.number("count").flatMap { Int(exactly: $0) }
    let jobs = count.map { Readable.count($0, "job") }
    switch query["done"] {
    case "retry": return jobs.map { "Retried: \($0)." } ?? "The job runs again."
    case "cancel": return jobs.map { "Cancelled: \($0)." } ?? "The job is cancelled."
    case "abandon": return jobs.map { "Abandoned: \($0)." } ?? "The job was cancelled and taken from its worker."
    case "retry-part": return jobs.map { "Retried: \($0). There are more." }
    case "cancel-part": return jobs.map { "Cancelled: \($0). There are more." }
    case "abandon-part": return jobs.map { "Abandoned: \($0). There are more." }
    case "nothing": return "The job had changed in the meantime, so nothing was done."
    case "pause": return "The queue is paused."
    case "resume": return "The queue is resumed."
    case "settings": return "The settings of the queue are stored."
    case "run": return "The schedule has added this job."
    case "pause-schedule": return "The schedule is paused."
    case "resume-schedule": return "The schedule is resumed."
    default: return nil
    }
  }
}
#endif
