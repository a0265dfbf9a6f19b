#if Dashboard
import HeadwayJobs

extension PageRenderer {
  func health(_ call: Call) async throws -> Page {
    let start = ContinuousClock.now
    let health = try await jobs.health()
    let time = ContinuousClock.now - start
    let view: View = [
      "findings": health.findings.map { finding -> View in
        ["level": finding.level.rawValue, "name": finding.name, "text": finding.text]
      },
      "facts": [
        ["name": "Store", "value": "\(type(of: jobs.store))"],
        ["name": "Time of the store", "value": "\(jobs.store.now)"],
        ["name": "The checks took", "value": Readable.duration(time)],
        ["name": "Maximum size of a payload", "value": Readable.count(jobs.store.maxPayloadSize, "byte")],
      ] as [View],
    ]
    return Page(template: "health", heading: "Health", view: view)
  }
}
#endif
