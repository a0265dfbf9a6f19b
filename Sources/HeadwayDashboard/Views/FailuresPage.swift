#if Dashboard
import HeadwayJobs

extension PageRenderer {
  func failures(_ call: Call) async throws -> Page {
    let overview = try await jobs.overview(countingTo: Self.countLimit)
    let now = overview.time
    let newest = try await records(overview.latestFailures)
    let kinds = overview.snapshot.failures.sorted { ($1.count, $0.kind) < ($0.count, $1.kind) }
    var view: View = [
      "kinds": kinds.map { failed -> View in
        [
          "kind": failed.kind.rawValue, "count": Readable.number(failed.count, countedTo: overview.countLimit),
          "url": url("jobs", ["state": "failed", "kind": failed.kind.rawValue]), "last": "\(failed.last)",
          "lastURL": url("job/\(failed.last)"), "time": Readable.time(failed.time, at: now),
          "retryURL": url("confirm", ["action": "retry", "state": "failed", "kind": failed.kind.rawValue]),
        ]
      },
      "hasFailures": !kinds.isEmpty,
      "failedCount": Readable.number(overview.failedCount, countedTo: overview.countLimit),
    ]
    view["errors"] = FailureGroup.groups(of: newest).map { group -> View in
      [
        "kind": group.kind.rawValue, "type": group.type, "text": group.text, "count": Readable.number(group.count),
        "last": "\(group.last.id)", "lastURL": url("job/\(group.last.id)"),
        "time": Readable.time(group.last.finishedTime ?? group.last.enqueuedTime, at: now),
      ]
    }
    view["partial"] = Self.partialFailures(overview, count: .max)
    view["sample"] = newest.count < overview.failedCount ? Readable.number(newest.count) : nil
    return Page(template: "failures", heading: "Failures", view: view)
  }
}

/// Failed jobs with the same kind and the same error.
struct FailureGroup {
  var kind: JobKind
  var type: String
  var text: String
  var count = 0
  /// The job that failed last.
  var last: JobRecord

  private struct Key: Hashable {
    let kind: JobKind
    let type: String
    let text: String
  }

  /// Returns the groups of failed jobs, most frequent first.
  static func groups(of jobs: [JobRecord]) -> [FailureGroup] {
    var groups: [Key: FailureGroup] = [:]
    for job in jobs {
      // A job that crashed has no error, or an older one.
      let isCrash = job.reason.map { $0.code != .failed && $0.code != .discarded } ?? false
      let error = isCrash ? nil : job.history.errors.last
      let type = error?.type ?? job.reason?.code.rawValue ?? ""
      let text = Readable.line(withoutNumbers(error?.text ?? job.reason?.text ?? ""))
      let key = Key(kind: job.kind, type: type, text: text)
      var group = groups[key] ?? FailureGroup(kind: job.kind, type: type, text: text, last: job)
      group.count += 1
      if (group.last.finishedTime ?? group.last.enqueuedTime) < (job.finishedTime ?? job.enqueuedTime) {
        group.last = job
      }
      groups[key] = group
    }
    return groups.values.sorted { ($1.count, $0.last.id) < ($0.count, $1.last.id) }
  }

  /// Replaces the numbers of a text, which often differ between similar errors.
  private static func withoutNumbers(_ text: String) -> String {
    var result = ""
    for character in text {
      if character.isASCII, character.isNumber {
        if result.last != "#" { result.append("#") }
      } else {
        result.append(character)
      }
    }
    return result
  }
}
#endif
