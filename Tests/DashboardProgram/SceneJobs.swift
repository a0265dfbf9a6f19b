#if Dashboard
import Headway
import HeadwayJobs

/// Jobs of a photo service, in all states.
enum SceneJobs {
  static func worker(for jobs: Jobs) -> JobWorker {
    let worker = JobWorker(jobs, kinds: [Resize.self, Mail.self, Import.self, Publish.self], name: "photo-worker")
    worker.serve("default", on: OperationQueue(maxConcurrentOperationCount: 4))
    worker.serve("images", on: OperationQueue(maxConcurrentOperationCount: 2))
    return worker
  }

  static func enqueue(in jobs: Jobs) async throws {
    try await jobs.changeQueue("images", .maxRunningJobCount(2))
    try await jobs.changeQueue("default", .maxFailureCount(50))
    for number in 1...40 {
      try await jobs.enqueue(
        Resize(path: "photos/2026/\(number).jpg", width: 1_280, pause: 0), .queue("images"),
        .label("Thumbnail of photo \(number)"), .tags(["album-\(number % 4)"]))
    }
    for number in 1...9 {
      let once = RetryPolicy(maxAttemptCount: 1, backoff: .constant(.seconds(1)))
      try await jobs.enqueue(
        Mail(address: "person\(number)@example.org", password: "hunter2", error: number % 3),
        .label("Newsletter for person \(number)"), .tags(["newsletter"]), .retry(once))
    }
    let hourly = RetryPolicy(maxAttemptCount: 20, backoff: .constant(.seconds(3_600)))
    try await jobs.enqueue(Mail(address: "later@example.org", password: "hunter2", error: 1), .retry(hourly))
    let twice = RetryPolicy(maxAttemptCount: 2, backoff: .constant(.milliseconds(1)))
    // The queue `default` has no room for a second attempt while the long jobs run.
    try await jobs.enqueue(
      Mail(address: "slow@example.org", password: "hunter2", error: 3), .queue("images"), .label("Slow server"),
      .retry(twice))
    try await enqueueGraph(in: jobs)
    for number in 1...3 {
      try await jobs.enqueue(
        Resize(path: "videos/\(number).mov", width: 1_920, pause: 3_600), .label("Long conversion \(number)"),
        .tags(["video"]))
    }
    try await jobs.enqueue(Publish(album: "summer"), .delay(.seconds(5_400)))
    try await jobs.pauseQueue("exports")
    for number in 1...4 { try await jobs.enqueue(Publish(album: "export \(number)"), .queue("exports")) }
    for number in 1...12 { try await jobs.enqueue(Publish(album: "bulk \(number)"), .queue("bulk")) }
    let text = "<script>alert(1)</script> \"><img src=x onerror=alert(1)>"
    try await jobs.enqueue(Publish(album: text), .queue("exports"), .label(text), .tags([text]))
    try await jobs.schedule("nightly-report", .cron("0 3 * * *"), job: Publish(album: "report"))
    try await jobs.schedule("sync", .every(.seconds(900)), job: Publish(album: "sync"))
    try await jobs.pauseSchedule("sync")
  }

  private static func enqueueGraph(in jobs: Jobs) async throws {
    let first = try await jobs.enqueue(Import(feed: "north", pause: 3_600), .label("Import north"))
    let second = try await jobs.enqueue(Import(feed: "south", pause: 0), .label("Import south"))
    let merge = try await jobs.enqueue(
      Publish(album: "merged"), .after(first.success, second.success), .label("Merge the feeds"))
    for name in ["website", "archive"] {
      try await jobs.enqueue(Publish(album: name), .after(merge.success), .label("Publish to the \(name)"))
    }
  }
}

struct Resize: Job {
  static let kind: JobKind = "resize"
  var path: String
  var width: Int
  var pause: Int

  func perform(in context: JobContext) async throws -> [Int] {
    guard pause > 0 else { return [width, width * 3 / 4] }
    try await context.reportProgress(0.42, message: "frame 4,210 of 10,024")
    try await context.log("Opened \(path).")
    try await Task.sleep(for: .seconds(pause))
    return [width]
  }
}

struct NetworkError: Error, CustomStringConvertible {
  let description: String
}

struct Mail: Job {
  static let kind: JobKind = "mail"
  var address: String
  var password: String
  var error: Int

  func perform(in context: JobContext) async throws {
    switch error {
    case 0: return
    case 3:
      try await context.log("Trying the server in attempt \(context.attempt).")
      throw NetworkError(description: "The server has timed out in attempt \(context.attempt).")
    case 1: throw NetworkError(description: "The server mail-\(context.id).example.org closed the connection.")
    default: throw JobOutcome.discard("The address \(address) does not exist.")
    }
  }
}

struct Import: Job {
  static let kind: JobKind = "import"
  var feed: String
  var pause: Int

  func perform(in context: JobContext) async throws {
    try await context.log("Reading \(feed).")
    if pause > 0 { try await Task.sleep(for: .seconds(pause)) }
  }
}

struct Publish: Job {
  static let kind: JobKind = "publish"
  var album: String

  func perform(in context: JobContext) async throws {}
}
#endif
