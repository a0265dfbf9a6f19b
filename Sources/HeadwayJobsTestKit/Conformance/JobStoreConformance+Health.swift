import Headway
@_spi(JobStore) import HeadwayJobs

extension JobStoreConformance {
  static let health = [
    JobStoreCheck("J350: the health names attempts that fail, although their jobs wait for another attempt") { probe in
      guard probe.store.keepsStatistics else { return }
      let worker = try await probe.register()
      try await probe.enqueueBatch(of: 12)
      let error = JobErrorDescription(type: "Test", text: "no route")
      for job in try await probe.claim(12, by: worker) {
        try await probe.end(job, .retry(after: .seconds(600), error))
      }
      let problems = try await Jobs(probe.store).health().problems
      let attempts = problems.first { $0.name == "Attempts" }
      let link = JobsHealth.Link.jobs(JobFilter(states: [.retrying], kinds: ["test"]))
      try probe.expect(
        attempts,
        .bad(
          "Attempts", "All attempts of “test” failed in the last 5 min: 12. The last error: Test: no route.", link: link
        ),
        "the finding about attempts")
      let retries = problems.first { $0.name == "Retries" }
      try probe.expect(retries?.level, .warning, "the level of the finding about retries")
      let text = "12 jobs wait for another attempt after an error, the next one in "
      try probe.expect(retries?.text.hasPrefix(text), true, "the finding about retries: \(retries?.text ?? "none")")
    }
  ]
}
