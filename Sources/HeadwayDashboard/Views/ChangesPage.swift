#if Dashboard
import HeadwayJobs

extension PageRenderer {
  /// The number of changes on a page, and of jobs that a change shows.
  private static let (changeCount, changedJobCount) = (50, 8)

  /// Shows the changes that people have made: all of them, or those of one job.
  func changeList(_ call: Call) async throws -> Page {
    let (before, job) = (call.query.number("before"), call.query.number("job").map { JobID(rawValue: $0) })
    let (limit, now) = (Self.changeCount, jobs.store.now)
    let found = try await jobs.changes(of: job, before: before, limit: limit + 1)
    let shown = found.prefix(limit)
    func page(_ before: Int64?) -> String {
      url("changes", ["job": job.map { "\($0)" }, "before": before.map { "\($0)" }])
    }
    var view: View = [
      "changes": shown.map { change($0, at: now) }, "hasChanges": !shown.isEmpty, "isFiltered": job != nil,
      "allURL": url("changes"), "retention": Readable.duration(JobsChangeRecord.retention),
    ]
    view["first"] = before.map { _ in page(nil) }
    view["next"] = found.count > limit ? shown.last.map { page($0.number) } : nil
    return Page(template: "changes", heading: "Changes", view: view)
  }

  /// Returns the last change of a job alone by a person; nil if there was none.
  func lastChange(of job: JobID, at now: StoreTime) async throws -> View? {
    try await jobs.changes(of: job, limit: 1).first.map { change in
      [
        "author": change.author, "text": change.text, "time": Readable.time(change.time, at: now),
        "url": url("changes", ["job": "\(job)"]),
      ]
    }
  }

  private func change(_ change: JobsChangeRecord, at now: StoreTime) -> View {
    let ids = change.ids.prefix(Self.changedJobCount)
    var view: View = [
      "number": "\(change.number)", "time": Readable.time(change.time, at: now), "author": change.author,
      "what": Readable.sentence(change.text), "values": change.values.map(values),
      "hasValues": !change.values.isEmpty, "jobs": ids.map { ["id": "\($0)", "url": url("job/\($0)")] as View },
    ]
    if change.isOfJobs, change.count > ids.count { view["more"] = "of \(Readable.count(change.count, "job"))" }
    return view
  }

  private func values(_ value: JobsChangeRecord.Value) -> View {
    func text(_ values: [String]) -> String? {
      guard !values.isEmpty else { return nil }
      // Payloads can contain values that are not shown.
      return JobsChangeRecord.text(
        of: values.map { text in
          value.isPayload ? JSONText.line(of: Array(text.utf8), hiding: options.redactedKeys) : Readable.line(text)
        })
    }
    var view: View = ["name": value.name]
    view["before"] = text(value.before)
    view["after"] = text(value.after)
    return view
  }
}

extension JSONText {
  /// Returns the text of a payload on one line, and hides the values of some keys.
  static func line(of bytes: [UInt8], hiding redactedKeys: Set<String>) -> String {
    let lines = text(of: bytes, hiding: redactedKeys).split(whereSeparator: \.isNewline)
    return Readable.line(lines.map { $0.trimmingPrefix(while: \.isWhitespace) }.joined(separator: " "), length: 400)
  }
}
#endif
