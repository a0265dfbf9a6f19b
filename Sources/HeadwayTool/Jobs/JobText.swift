#if Jobs
import Foundation
import Headway
import HeadwayJobs

/// Readable text for jobs and workers.
enum JobText {
  static func count(_ count: Int, _ noun: String) -> String { "\(count) \(noun)\(count == 1 ? "" : "s")" }

  /// Returns the lines of a table with titles and columns as wide as their content.
  static func table(_ titles: [String], _ rows: [[String]]) -> [String] {
    let widths = titles.indices.map { column in ([titles] + rows).map { $0[column].count }.max() ?? 0 }
    return ([titles] + rows).map { cells in
      let line = zip(cells, widths).map { $0.padded(to: $1 + 2) }.joined()
      return String(line.reversed().drop { $0 == " " }.reversed())
    }
  }

  /// Returns a duration in its largest unit, for example `3 min`.
  static func duration(_ duration: Duration) -> String {
    let seconds = max(0, duration.components.seconds)
    switch seconds {
    case ..<120: return "\(seconds) s"
    case ..<7_200: return "\(seconds / 60) min"
    case ..<172_800: return "\(seconds / 3_600) h"
    default: return "\(seconds / 86_400) d"
    }
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

  /// Returns the label of a job, its progress, and why it failed or is retried.
  static func details(of job: JobRecord) -> String {
    let error = job.state == .succeeded ? nil : job.history.errors.last?.text
    let progress = job.state == .running ? job.progress.map(progress) : nil
    return [job.settings.label, progress, job.reason?.description, error].compactMap(\.self).joined(separator: "; ")
      .split(whereSeparator: \.isNewline).joined(separator: " ")
  }

  static func progress(_ progress: JobProgress) -> String {
    "\(Int(progress.fraction * 100)) %" + (progress.text.map { ", \($0)" } ?? "")
  }

  /// Returns a job and its state, on one line.
  static func line(_ job: JobRecord) -> String {
    let details = details(of: job)
    return "job \(job.id) (\(job.kind)): \(job.state.name)\(details.isEmpty ? "" : "; \(details)")"
  }

  static func line(_ worker: JobWorkerSnapshot, at now: StoreTime) -> String {
    let state =
      !worker.isAlive
      ? "has died" : worker.isStopped ? "has stopped, but its code still runs" : "is working"
    let description = worker.description
    return "worker \(worker.id) (\(description.name), process \(description.processIdentifier)) \(state): "
      + "\(count(worker.running.count, "job")), queues \(description.servedNames.joined(separator: ", ")), started "
      + "\(duration(now - worker.startTime)) ago"
  }

  static func line(_ queue: JobQueueSnapshot) -> String {
    let counts = JobState.allCases.filter { queue.counts[$0] > 0 }.map { "\(queue.counts[$0]) \($0.name)" }
    return "queue \(queue.name): \(counts.isEmpty ? "no jobs" : counts.joined(separator: ", "))"
      + (queue.counts.isPaused ? "; paused" : "")
  }

  /// Returns a payload as text, or in Base64 if it is not text.
  static func text(_ payload: JobPayload) -> String {
    String(validating: payload.bytes, as: UTF8.self) ?? Data(payload.bytes).base64EncodedString()
  }
}
#endif
