#if Dashboard
@_spi(JobStore) import HeadwayJobs

extension PageRenderer {
  private static let pageSize = 50
  /// The maximum number of names that a field suggests, and their maximum length in bytes in total.
  private static let (maxNameCount, maxNamesLength) = (500, 16 * 1_024)

  func jobList(_ call: Call) async throws -> Page {
    let (list, now) = (try ListFilter(call.query), jobs.store.now)
    let (search, filter) = (ListSearch(jobs, hiding: options.redactedKeys), list.filter(at: now))
    let before = call.query.number("before").map { JobID(rawValue: $0) }
    let page = try await search.page(filter, before: before, limit: Self.pageSize)
    // If the first page is not full, the search for it has already counted the jobs.
    let isCounted = before == nil && (page.next == nil || page.jobs.count < Self.pageSize)
    let count =
      isCounted
      ? JobCount(page.jobs.count, isExact: page.next == nil) : try await search.count(filter, upTo: Self.countLimit)
    var view = formView(list)
    view["jobs"] = page.jobs.map { job -> View in
      row(job, at: now).merging(["isSelectable": call.canChange] as View) { $1 }
    }
    view["error"] = try await errorView(list.error)
    view["hasJobs"] = !page.jobs.isEmpty
    view["count"] = Self.text(of: count)
    view["next"] = page.next.map { Link.to("\(base)/jobs", list.fields + [("before", "\($0)")]) }
    view["isSearching"] = page.next != nil && page.jobs.count < Self.pageSize
    view["first"] = before.map { _ in Link.to("\(base)/jobs", list.fields) }
    view["linkURL"] = Link.to("\(base)/jobs", list.listFields)
    view["exports"] = ListExport.Format.allCases.map { format -> View in
      ["name": format.name, "url": Link.to("\(base)/\(format.rawValue)", list.listFields)]
    }
    let actions = DashboardChange.Action.allCases.filter { $0.applies(to: list.state) }
    view["bulk"] = page.jobs.isEmpty ? [] : actions.map { bulkLink($0, list) }
    view["selectionFields"] = fieldViews(list.listFields)
    view["selection"] = actions.map { ["action": $0.rawValue, "name": $0.phrase("selected") + "…"] as View }
    let names = try await suggestions(for: page.jobs)
    (view["kinds"], view["queues"]) = (names.kinds, names.queues)
    return Page(template: "jobs", heading: "Jobs", view: view)
  }

  /// Returns a number of jobs, such as `1 job` or `10,000+ jobs`.
  static func text(of count: JobCount) -> String {
    guard !count.isExact else { return Readable.count(count.count, "job") }
    return count.count == 0 ? "some jobs" : "\(Readable.number(count.count))+ jobs"
  }

  /// Returns the hidden fields of a form.
  func fieldViews(_ fields: [(String, String?)]) -> [View] {
    fields.compactMap { name, value in value.map { ["name": name, "value": $0] as View } }
  }

  private func formView(_ list: ListFilter) -> View {
    let zone = PageZone.current
    func field(_ time: StoreTime?) -> String { time.map(zone.field) ?? "" }
    return [
      "isFiltered": !list.isEmpty, "allURL": url("jobs"), "kindFilter": list.kind ?? "",
      "queueFilter": list.queue ?? "", "tagFilter": list.tag ?? "", "labelFilter": list.label ?? "",
      "payloadFilter": list.payload ?? "", "enqueuedFrom": field(list.enqueued.start),
      "enqueuedTo": field(list.enqueued.end), "endedFrom": field(list.ended.start), "endedTo": field(list.ended.end),
      "hasMore": list.payload != nil || !list.enqueued.isEmpty || !list.ended.isEmpty,
      "states": JobState.allCases.map { ["name": $0.name, "isChosen": $0 == list.state] as View },
      "ages": ListFilter.Age.allCases.map { age -> View in
        ["value": age.rawValue, "name": age.name, "isChosen": age == list.age]
      },
    ]
  }

  /// Returns the kinds and queues that the fields of the form suggest.
  ///
  /// They are those of the workers, of the listed jobs, and of waiting jobs. Counting all jobs would take longer.
  private func suggestions(for listed: [JobRecord]) async throws -> (kinds: [View], queues: [View]) {
    let snapshot = try await jobs.snapshot(.workers)
    let waiting = try await jobs.backend.waitingQueues(after: nil, limit: Self.maxNameCount)
    let workers = snapshot.workers.map(\.description)
    let kinds = Set(workers.flatMap { $0.kinds.keys } + listed.map(\.kind))
    let queues = Set(workers.flatMap(\.queues) + listed.map(\.queue) + waiting + snapshot.queues.map(\.name))
    func views(_ names: [String]) -> [View] {
      var rest = Self.maxNamesLength
      let shown = names.sorted().prefix(Self.maxNameCount).prefix { name in
        rest -= name.utf8.count
        return rest >= 0
      }
      return shown.map { ["name": $0] }
    }
    return (views(kinds.map(\.rawValue)), views(Array(queues)))
  }

  /// Returns a link to a change of all jobs of a filter.
  private func bulkLink(_ action: DashboardChange.Action, _ list: ListFilter) -> View {
    [
      "name": action.phrase("all") + "…",
      "url": Link.to("\(base)/confirm", [("action", action.rawValue)] + list.fields),
    ]
  }

  /// Returns a row of a list of jobs.
  func row(_ job: JobRecord, at now: StoreTime) -> View {
    [
      "id": "\(job.id)", "url": url("job/\(job.id)"), "state": job.state.name, "kind": job.kind.rawValue,
      "kindURL": url("jobs", ["kind": job.kind.rawValue]), "queue": job.queue,
      "queueURL": url("jobs", ["queue": job.queue]), "label": job.settings.label ?? "",
      "tags": (job.settings.tags ?? []).map { ["tag": $0, "tagURL": url("jobs", ["tag": $0])] as View },
      "attempt": job.attempt, "time": Readable.time(Readable.time(of: job), at: now),
      "details": Readable.details(of: job), "isCancelRequested": job.isCancelRequested,
    ]
  }
}
#endif
