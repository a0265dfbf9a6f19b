#if Dashboard
import HeadwayJobs

/// The sentence that reports a change on the page that follows it.
enum Notice {
  /// Returns the sentence for the fields of a URL; nil if there was no change.
  ///
  /// The URL contains only a word, or the name of a change of many jobs, so a link can't make a page show any other
  /// text.
  static func text(for query: Fields, _ changes: RunningChanges) -> String? {
    if let name = query["change"] { return changes.text(for: name) }
    switch query["done"] {
    case "retry": return "The job runs again."
    case "run-now": return "The job is due now."
    case "change": return "The job is changed."
    case "same": return "The job already had these values."
    case "part": return "The job started or ended before all values were stored. Only some of them were changed."
    case "cancel": return "The job is cancelled."
    case "abandon": return "The job was cancelled and taken from its worker."
    case "nothing": return "The job had changed in the meantime, so nothing was done."
    case "pause": return "The queue is paused."
    case "resume": return "The queue is resumed."
    case "settings": return "The settings of the queue are stored."
    case "mute": return "The error is muted. Its attempts are counted, but they raise no alarm."
    case "unmute": return "The error is no longer muted."
    case "same-error": return "The error was deleted or had changed in the meantime, so nothing was done."
    case "run": return "The schedule has added this job."
    case "pause-schedule": return "The schedule is paused."
    case "resume-schedule": return "The schedule is resumed."
    default: return nil
    }
  }
}
#endif
