#if Dashboard
import HeadwayJobs

/// Readable text for numbers, times and states.
extension Readable {
  /// Returns a number, with a plus sign if there are more jobs.
  static func number(_ count: JobCount) -> String { number(count.count) + (count.isExact ? "" : "+") }

  /// Returns a number, or the limit with a plus sign if the number is greater.
  static func number(_ number: Int, countedTo limit: Int) -> String {
    number > limit ? "\(self.number(limit))+" : self.number(number)
  }

  /// Returns the values of the partial template `time`: the date, also in the time zone of the page, and the distance
  /// from now.
  static func time(_ time: StoreTime, at now: StoreTime) -> View {
    let zone = PageZone.current
    let distance = time < now ? now - time : time - now
    let text = distance < .seconds(1) ? "now" : time < now ? "\(duration(distance)) ago" : "in \(duration(distance))"
    let local = zone.text(time)
    return [
      "date": time.description, "text": text, "local": local, "clock": String(local.dropFirst(11)),
      "title": "\(local) (\(zone.name))",
    ]
  }

  /// Returns the time when a job entered its state, or is due if it waits for a time.
  static func time(of job: JobRecord) -> StoreTime {
    switch job.state {
    case .scheduled, .retrying: job.dueTime ?? job.enqueuedTime
    case .running: job.claimedTime ?? job.enqueuedTime
    case .held, .waiting: job.waitStartTime
    case .succeeded, .failed, .cancelled: job.finishedTime ?? job.enqueuedTime
    }
  }

  /// Returns the progress of a job, why it ended, or its last error, on one line.
  static func details(of job: JobRecord) -> String {
    let error = job.state == .succeeded ? nil : job.history.errors.last?.text
    let progress = job.state == .running ? job.progress.map(progress) : nil
    // The reason of a job that failed with an error is that it has failed.
    let reason = job.reason.flatMap { $0.code == .failed && error != nil ? nil : $0.description }
    return line([progress, reason, error].compactMap(\.self).joined(separator: "; ").replacing("\n", with: " "))
  }

  static func progress(_ progress: JobProgress) -> String {
    percent(progress.fraction) + (progress.text.map { ", \($0)" } ?? "")
  }
}
#endif
