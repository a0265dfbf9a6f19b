#if Dashboard
import HeadwayJobs

extension PageRenderer {
  /// The maximum number of jobs that are listed for a worker.
  private static let maxRunningCount = 50

  func workers(_ call: Call) async throws -> Page {
    let snapshot = try await jobs.snapshot(.workers)
    let rows = snapshot.workers.map { worker -> View in
      let description = worker.description
      let state = !worker.isAlive ? "dead" : worker.isStopped ? "stopped" : "working"
      var view: View = [
        "id": "\(worker.id)", "anchor": Self.anchor("worker", "\(worker.id)"), "name": description.name,
        "process": "\(description.processIdentifier)", "state": state,
        "started": Readable.time(worker.startTime, at: snapshot.time), "count": Readable.number(worker.running.count),
        "queues": description.servedNames.map { ["name": $0, "queueURL": url("jobs", ["queue": $0])] as View },
        "kinds": description.kinds.sorted { $0.key < $1.key }.map { kind, version -> View in
          ["name": version == 1 ? kind.rawValue : "\(kind) v\(version)"]
        },
      ]
      view["running"] = worker.running.prefix(Self.maxRunningCount).map { job -> View in
        [
          "id": "\(job.id)", "url": url("job/\(job.id)"), "kind": job.kind.rawValue, "queue": job.queue,
          "attempt": job.attempt, "for": Readable.duration(snapshot.time - job.claimedTime),
          "progress": job.progress.map(Readable.progress) ?? "",
        ]
      }
      view["hasRunning"] = !worker.running.isEmpty
      return view
    }
    return Page(template: "workers", heading: "Workers", view: ["workers": rows, "hasWorkers": !rows.isEmpty])
  }
}
#endif
