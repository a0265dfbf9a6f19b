#if Dashboard
import HeadwayJobs

extension PageRenderer {
  /// The maximum numbers of workers on the page, and of queues and kinds that are listed for a worker.
  private static let (workerLimit, nameLimit) = (20, 20)
  /// The maximum numbers of jobs that are listed for a worker, and for all workers on the page.
  private static let (maxRunningCount, maxTotalCount) = (50, 200)

  func workers(_ call: Call) async throws -> Page {
    let snapshot = try await jobs.snapshot(.workers)
    let start = call.query.number("from").map { WorkerID(rawValue: $0) }
    let (shown, links) = Self.part(of: snapshot.workers, from: start, limit: Self.workerLimit, by: \.id) { start in
      url("workers", ["from": start.map { "\($0)" }])
    }
    let runningLimit = min(Self.maxRunningCount, Self.maxTotalCount / max(1, shown.count))
    let rows = shown.map { worker -> View in
      let description = worker.description
      let queues = Self.firstNames(
        description.servedNames.map { ["name": $0, "queueURL": url("jobs", ["queue": $0])] as View },
        limit: Self.nameLimit)
      let kinds = Self.firstNames(
        description.kinds.sorted { $0.key < $1.key }.map { kind, version -> View in
          ["name": version == 1 ? kind.rawValue : "\(kind) v\(version)"]
        }, limit: Self.nameLimit)
      let state = !worker.isAlive ? "dead" : worker.isStopped ? "stopped" : "working"
      var view: View = [
        "id": "\(worker.id)", "anchor": Self.anchor("worker", "\(worker.id)"), "name": description.name,
        "process": "\(description.processIdentifier)", "state": state,
        "started": Readable.time(worker.startTime, at: snapshot.time), "count": Readable.number(worker.running.count),
        "queues": queues.names, "kinds": kinds.names,
      ]
      view["moreQueues"] = queues.more
      view["moreKinds"] = kinds.more
      view["running"] = worker.running.prefix(runningLimit).map { job -> View in
        [
          "id": "\(job.id)", "url": url("job/\(job.id)"), "kind": job.kind.rawValue, "queue": job.queue,
          "attempt": job.attempt, "for": Readable.duration(snapshot.time - job.claimedTime),
          "progress": job.progress.map(Readable.progress) ?? "",
        ]
      }
      view["hasRunning"] = !worker.running.isEmpty
      let rest = worker.running.count - runningLimit
      view["moreRunning"] = rest > 0 ? "and \(Readable.count(rest, "more job"))" : nil
      return view
    }
    let view: View = ["workers": rows, "hasWorkers": !rows.isEmpty]
    return Page(template: "workers", heading: "Workers", view: view.merging(links) { $1 })
  }
}
#endif
