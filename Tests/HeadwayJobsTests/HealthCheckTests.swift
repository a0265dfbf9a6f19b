#if Jobs
import Headway
import Testing

@_spi(JobStore) @testable import HeadwayJobs

/// The checks of a store's health, with facts instead of a store.
@Suite struct HealthCheckTests {
  private static let now = StoreTime(microseconds: 1_800_000_000_000_000)
  private static let worker = JobWorkerSnapshot(
    id: WorkerID(rawValue: 1),
    description: WorkerDescription(
      name: "app", processIdentifier: 42, queues: ["default", "mail"], kinds: ["mail": 1, "resize": 1]),
    startTime: now)

  /// Returns statistics with the activity of the jobs of a kind, a number of minutes ago.
  private func statistics(_ groups: (minutesAgo: Int, kind: JobKind, activity: JobActivity)...) -> JobStatistics {
    var statistics = JobStatistics(span: .hour, endingAt: Self.now)
    for group in groups {
      statistics.periods[statistics.periods.count - 1 - group.minutesAgo].groups.append(
        JobStatistics.Group(queue: "mail", kind: group.kind, activity: group.activity))
    }
    return statistics
  }

  private func activity(_ change: (inout JobActivity) -> Void) -> JobActivity {
    var activity = JobActivity()
    change(&activity)
    return activity
  }

  private func attempts(_ succeeded: Int, _ failed: Int) -> JobActivity {
    activity { ($0.succeeded, $0.failedAttempts) = (succeeded, failed) }
  }

  private func facts(
    _ statistics: JobStatistics? = nil, areKnown: Bool = true, queues: [JobQueueSnapshot] = [],
    workers: [JobWorkerSnapshot] = [worker], endings: [EndedJob] = [], schedules: [ScheduleRecord] = [],
    failed: [JobRecord] = [], retrying: [JobRecord] = [], errors: [JobErrorGroup] = [], mutedRetryCount: Int = 0,
    options: JobsHealth.Options = JobsHealth.Options()
  ) -> HealthFacts {
    HealthFacts(
      options: options,
      overview: JobsOverview(
        countLimit: HealthFacts.countLimit,
        snapshot: JobsSnapshot(time: Self.now, queues: queues, workers: workers), endings: endings),
      rates: RecentRates(statistics ?? self.statistics(), areKnown: areKnown), schedules: schedules, cancelled: [],
      failed: failed,
      retrying: retrying, errors: errors, mutedRetryCount: mutedRetryCount, clock: Self.now, database: [])
  }

  private func queue(
    _ name: String = "mail", waiting: Int = 0, retrying: Int = 0, wait: Duration = .zero,
    settings: JobQueueSettings = JobQueueSettings()
  ) -> JobQueueSnapshot {
    JobQueueSnapshot(
      name: name, counts: JobQueueCounts(byState: [.waiting: waiting, .retrying: retrying], settings: settings),
      waiting: waiting == 0
        ? []
        : [
          WaitingJobs(
            kind: "mail", version: 1, count: waiting, first: JobID(rawValue: 1),
            waitStartTime: Self.now + (.zero - wait))
        ])
  }

  private func ended(_ count: Int, _ state: JobState) -> [EndedJob] {
    (0..<count).map { number in
      EndedJob(
        id: JobID(rawValue: Int64(number)), kind: "mail", queue: "mail", state: state, ready: Self.now,
        claimed: Self.now, finished: Self.now)
    }
  }

  @Test("J350: 200 jobs that fail in each attempt are bad, although no job has failed permanently")
  func failingAttempts() {
    let statistics = statistics(
      (1, "mail", attempts(0, 200)), (20, "mail", attempts(95, 5)), (2, "resize", attempts(9, 1)))
    let health = facts(statistics, queues: [queue(retrying: 200)]).health
    #expect(health.level == .bad)
    #expect(
      health.problems == [
        .bad(
          "Attempts", "All attempts of “mail” failed in the last 5 min: 200, and 5% in the hour before.",
          link: .jobs(JobFilter(states: [.failed], kinds: ["mail"]))),
        .warning(
          "Retries", "200 jobs wait for another attempt after an error.", link: .jobs(JobFilter(states: [.retrying]))),
      ])
  }

  @Test("J350: a tenth of failing attempts is a warning, half of them are bad, and a few of them are good")
  func parts() {
    func finding(_ succeeded: Int, _ failed: Int, minutesAgo: Int = 0) -> JobsHealth.Finding {
      facts(statistics((minutesAgo, "mail", attempts(succeeded, failed)))).attempts[0]
    }
    #expect(finding(89, 11).level == .warning)
    #expect(finding(89, 11).text == "11% of the attempts of “mail” failed in the last 5 min: 11 of 100.")
    #expect(finding(10, 10).level == .bad)
    #expect(finding(90, 10).level == .good)
    #expect(finding(0, 9).level == .good)
    // The pauses between attempts have grown: the hour counts if no attempt has succeeded since.
    #expect(finding(0, 12, minutesAgo: 30).text == "All attempts of “mail” failed in the last hour: 12.")
    let recovered = statistics((30, "mail", attempts(0, 200)), (1, "mail", attempts(50, 0)))
    #expect(facts(recovered).attempts[0].level == .good)
  }

  @Test("J350: a finding about failing attempts names the last error and links to the jobs that retry")
  func lastError() {
    let new = NewJob(kind: "mail", payload: JobPayload(bytes: []))
    var job = JobRecord(id: JobID(rawValue: 7), new, at: Self.now)
    job.history.append(JobErrorRecord(attempt: 1, time: Self.now, type: "SMTPError", text: "connection refused\nmore"))
    let finding = facts(statistics((0, "mail", attempts(0, 20))), retrying: [job]).attempts[0]
    #expect(finding.text.hasSuffix("20. The last error: SMTPError: connection refused."))
    #expect(finding.link == .jobs(JobFilter(states: [.retrying], kinds: ["mail"])))
  }

  @Test("J350: errors that are muted cause no problem, unless another error of the kind occurs")
  func muted() {
    func group(_ number: Int64, isMuted: Bool, secondsAgo: Int = 60) -> JobErrorGroup {
      JobErrorGroup(
        id: JobErrorGroup.ID(rawValue: number), kind: "mail", type: "E", text: "", firstSeenTime: Self.now,
        lastSeenTime: Self.now + .seconds(-secondsAgo), lastJob: JobID(rawValue: 1), count: 20,
        mute: isMuted ? JobErrorGroup.Mute(note: "known", author: nil, time: Self.now) : nil)
    }
    let statistics = statistics((0, "mail", attempts(0, 20)))
    func level(_ errors: JobErrorGroup...) -> JobsHealth.Level { facts(statistics, errors: errors).attempts[0].level }
    #expect(level(group(1, isMuted: true)) == .good)
    #expect(level(group(1, isMuted: true), group(2, isMuted: false)) == .bad)
    #expect(level(group(1, isMuted: true), group(2, isMuted: false, secondsAgo: 3_601)) == .good)
    #expect(facts(queues: [queue(retrying: 30)], mutedRetryCount: 25).retries[0].level == .good)
    #expect(facts(queues: [queue(retrying: 30)], mutedRetryCount: 15).retries[0].level == .warning)
  }

  @Test("J350: five kinds with failing attempts have a finding each, and the last finding counts the others")
  func manyKinds() {
    var statistics = statistics()
    for number in 1...7 {
      statistics.periods[59].groups.append(
        JobStatistics.Group(
          queue: "mail", kind: JobKind(rawValue: "kind-\(number)"), activity: attempts(0, 10 + number)))
    }
    let findings = facts(statistics).attempts
    #expect(findings.count == 5)
    #expect(findings[0].text.contains("“kind-7”"))
    #expect(findings[4].text.hasSuffix("13. The same applies to 2 other kinds."))
  }

  @Test("J350: jobs that have failed are bad if they are a tenth of those that ended, and options change the limits")
  func failures() {
    let statistics = statistics((30, "mail", activity { ($0.failed, $0.succeeded) = (20, 80) }))
    let finding = facts(statistics).failures[0]
    #expect(finding.level == .bad)
    #expect(finding.text == "20% of the jobs that ended in the last hour have failed (20 of 100).")
    #expect(finding.link == .jobs(JobFilter(states: [.failed], kinds: ["mail"])))
    var options = JobsHealth.Options()
    options.maxFailedPart = 0.3
    #expect(facts(statistics, options: options).failures[0].level == .good)
    (options.maxFailedPart, options.maxFailureCount) = (0.1, 20)
    #expect(facts(statistics, options: options).failures[0].level == .good)
    // A store that keeps no statistics has the latest endings.
    let endings = ended(20, .failed) + ended(80, .succeeded)
    #expect(facts(areKnown: false, endings: endings).failures[0] == finding)
  }

  @Test("J351: a queue is late if its oldest job waits longer than the limit and twice as long as is usual")
  func late() {
    func finding(_ wait: Duration, usual: Duration?) -> JobsHealth.Finding {
      let started = activity { activity in usual.map { activity.waits.add($0) } }
      return facts(statistics((10, "mail", started)), queues: [queue(waiting: 3, wait: wait)]).waits[0]
    }
    #expect(finding(.seconds(299), usual: .zero).level == .good)
    #expect(finding(.seconds(301), usual: .zero).level == .warning)
    #expect(
      finding(.seconds(720), usual: .zero).text
        == "The oldest job in “mail” has waited for 12 min. In the last hour, 95% of the jobs of the queue waited for "
        + "at most 0 ms.")
    // A queue whose jobs always wait for long is not late.
    #expect(finding(.seconds(6_000), usual: .seconds(3_600)).level == .good)
    #expect(finding(.seconds(8_000), usual: .seconds(3_600)).level == .warning)
    #expect(finding(.seconds(301), usual: nil).level == .bad)
    let unknown = facts(areKnown: false, queues: [queue(waiting: 3, wait: .seconds(301))]).waits[0]
    #expect(unknown.level == .warning)
    #expect(unknown.text == "The oldest job in “mail” has waited for 5 min.")
    #expect(finding(.seconds(301), usual: nil).link == .jobs(JobFilter(states: [.waiting], queues: ["mail"])))
  }

  @Test("J351: a queue grows if more jobs come than end, and the waiting ones take longer than the limit")
  func growing() {
    func finding(_ enqueued: Int, _ ended: Int, waiting: Int) -> JobsHealth.Finding {
      let numbers = activity { ($0.enqueued, $0.succeeded) = (enqueued, ended) }
      return facts(statistics((0, "mail", numbers)), queues: [queue(waiting: waiting)]).growth[0]
    }
    let growing = finding(12_000, 2_000, waiting: 9_000)
    #expect(growing.level == .warning)
    #expect(
      growing.text
        == "“mail” grows: 12,000 jobs were added in the last 5 min, and 2,000 ended. 9,000 jobs wait, which would "
        + "take 22 min at this rate.")
    #expect(finding(12_000, 2_000, waiting: 1_000).level == .good)
    #expect(finding(2_000, 2_000, waiting: 9_000).level == .good)
    #expect(finding(20, 0, waiting: 20).text.hasSuffix("and 0 ended. 20 jobs wait."))
  }

  @Test("J351: a full queue is bad, and a queue that failures have paused says so")
  func fullAndPaused() {
    var settings = JobQueueSettings()
    settings.maxPendingJobCount = 30
    let full = facts(queues: [queue(waiting: 20, retrying: 10, settings: settings)]).room[0]
    #expect(full.level == .bad)
    #expect(full.text.hasPrefix("The queue “mail” is full: its limit is 30 jobs."))
    #expect(full.link == .queue("mail"))
    #expect(facts(queues: [queue(waiting: 19, retrying: 10, settings: settings)]).room[0].level == .good)
    settings.maxFailureCount = 5
    var paused = queue(waiting: 12, settings: settings)
    (paused.counts.isPaused, paused.counts.failureCount) = (true, 5)
    #expect(
      facts(queues: [paused]).paused[0].text
        == "The queue “mail” is paused because 5 attempts in a row failed, and 12 jobs wait.")
  }

  @Test("J352: findings name dead workers, kinds and queues without a worker, and processes that died")
  func workers() {
    var dead = Self.worker
    (dead.id, dead.isAlive) = (WorkerID(rawValue: 2), false)
    dead.running = [
      RunningJob(id: JobID(rawValue: 5), kind: "mail", queue: "mail", attempt: 1, claimedTime: Self.now)
    ]
    let finding = facts(workers: [Self.worker, dead]).workers[0]
    #expect(finding.level == .warning)
    #expect(finding.link == .worker(WorkerID(rawValue: 2)))
    #expect(finding.text.contains("worker 2 (app, process 42) has died"))
    #expect(finding.text.hasSuffix(" 1 job that it ran will run again."))
    #expect(
      facts(queues: [queue("other", waiting: 2)]).queues[0]
        == .bad(
          "Queues", "2 jobs wait in the queue “other”, but no worker serves it.",
          link: .jobs(JobFilter(states: [.waiting], queues: ["other"]))))
    let none = facts(queues: [queue(waiting: 10_001)], workers: []).workers[0]
    #expect(none == .bad("Workers", "No worker is running, and more than 10,000 jobs have not ended."))
    let crashes = facts(statistics((40, "resize", activity { $0.crashes = 3 }))).crashes[0]
    #expect(crashes.level == .warning)
    #expect(
      crashes.text == "Processes died 3 times in the last hour while they ran a job of “resize”. See the logs of the "
        + "workers.")
  }

  @Test("J353: findings name schedules that are late, and schedules that have missed ticks in the last hour")
  func schedules() throws {
    func schedule(_ change: (inout ScheduleRecord) -> Void) -> ScheduleRecord {
      let job = NewJob(kind: "report", payload: JobPayload(bytes: []))
      var record = ScheduleRecord(
        name: "nightly", definition: ScheduleDefinition(.every(.seconds(600)), job: job),
        anchorTime: Self.now + .seconds(-90_000), decidedTime: Self.now + .seconds(-90_000))
      change(&record)
      return record
    }
    let late = facts(schedules: [schedule { $0.nextTickTime = Self.now + .seconds(-720) }]).ticks[0]
    #expect(
      late
        == .bad(
          "Schedules",
          "The schedule “nightly” is 12 min late. Workers add the jobs of schedules, so check that one is running.",
          link: .schedule("nightly")))
    #expect(facts(schedules: [schedule { $0.nextTickTime = Self.now + .seconds(-59) }]).ticks[0].level == .good)
    func gap(_ start: Int, _ end: Int) -> JobsHealth.Finding {
      let gap = ScheduleGap(after: Self.now + .seconds(-start), through: Self.now + .seconds(-end))
      return facts(schedules: [schedule { $0.gaps.append(gap) }]).gaps[0]
    }
    #expect(gap(7_200, 600).level == .warning)
    #expect(gap(7_200, 600).text.hasPrefix("The schedule “nightly” has missed its ticks between 2027-01-15T06:00"))
    #expect(gap(7_200, 3_601).level == .good)
    #expect(gap(630, 600).level == .good)
    // The time before the schedule was set is no gap, unless ticks were missed immediately afterward.
    #expect(facts(schedules: [schedule { _ in }]).gaps[0].level == .good)
    let first = schedule { $0.gaps[0].through = Self.now + .seconds(-60) }
    #expect(facts(schedules: [first]).gaps[0].level == .warning)
  }

  @Test("J354: problems are listed worst first, and links have a readable encoded form")
  func order() throws {
    let health = JobsHealth(
      findings: [
        .good("A", "a"), .warning("B", "b", link: .errors), .bad("C", "c", link: .queue("mail")), .warning("D", "d"),
        .bad("E", "e", link: .jobs(JobFilter(states: [.retrying], kinds: ["mail"]))),
      ])
    #expect(health.problems.map(\.name) == ["C", "E", "B", "D"])
    #expect(health.level == .bad)
    let links: [JobsHealth.Link] = [
      .jobs(JobFilter(kinds: ["a"])), .queue("mail"), .schedule("nightly"), .worker(WorkerID(rawValue: 3)), .errors,
    ]
    for link in links {
      #expect(try StoredForm.decode(JobsHealth.Link.self, StoredForm.encode(link)) == link)
    }
    let encoded = StoredForm.encode(JobsHealth.Link.queue("mail"))
    #expect(String(decoding: encoded, as: UTF8.self) == #"{"queue":"mail"}"#)
  }
}
#endif
