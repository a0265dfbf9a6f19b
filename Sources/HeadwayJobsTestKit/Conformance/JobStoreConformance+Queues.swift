import Headway
@_spi(JobStore) import HeadwayJobs

extension JobStoreConformance {
  static let waitingQueues = [
    JobStoreCheck("J254: the names of queues with waiting jobs are read in pages, each name once") { probe in
      let worker = try await probe.register()
      // Suspects wait, too.
      try await probe.enqueue()
      try await probe.crash()
      try await probe.enqueue(options: [.queue("keyed"), .limits([.serial(key: "key")])])
      var expected: Set = ["default", "keyed"]
      for number in 0..<7 {
        let queue = "queue-\(number)"
        for _ in 0..<2 { try await probe.enqueue(options: [.queue(queue)]) }
        expected.insert(queue)
      }
      let scheduled = try await probe.enqueue(options: [.queue("scheduled"), .delay(.seconds(9))])
      try await probe.enqueue(options: [.queue("held"), .after(scheduled.dependency)])
      for queue in ["running", "finished"] {
        try await probe.enqueue(options: [.queue(queue)])
        let claimed = try await probe.claim(1, by: worker, queue: queue)
        if queue == "finished", let job = claimed.first { try await probe.end(job, .succeed(result: nil)) }
      }
      for limit in [1, 2, 100] {
        var (names, isComplete) = ([String](), false)
        while !isComplete {
          let part = try await probe.store.waitingQueues(after: names.last, limit: limit)
          try probe.expect(part.count <= limit, true, "whether there are at most \(limit) names")
          names += part
          isComplete = part.count < limit || names.count > 20
        }
        try probe.expect(names.count, expected.count, "the number of names, read \(limit) at a time")
        try probe.expect(Set(names), expected, "the names, read \(limit) at a time")
      }
    }
  ]
}
