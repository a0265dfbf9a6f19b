import FoundationEssentials
import Headway
import Testing

@_spi(JobStore) @testable import HeadwayJobs

/// The interface for store authors, and the interface of a store for other code.
@Suite struct StoreAuthorTests {
  @Test("J214: a type that wraps a store returns the access of that store, and jobs use the wrapped store")
  func wrapper() async throws {
    let store = WrappedStore()
    let jobs = Jobs(store)
    #expect(jobs.store === store)
    #expect(jobs.backend === store.base)
    let handle = try await jobs.enqueue(Sum(left: 1, right: 2))
    #expect(store.base.jobs(.all, after: nil, limit: 5).map(\.id) == [handle.id])
  }

  @Test("J214: the access of a store contains the store itself")
  func access() {
    let store = MemoryJobStore()
    #expect(store.access.backend === store)
    #expect(Jobs(store).backend === store)
  }

  @Test("J215: an encoded job has all its properties")
  func encodedJob() throws {
    let retry = RetryPolicy(
      maxAttemptCount: 3, backoff: .exponential(initialDelay: .seconds(1), factor: .infinity, maxDelay: .seconds(5)))
    let options: JobOptions = [
      .queue("images"), .priority(.high), .label("a photo"), .tags(["a", "b"]), .retry(retry),
    ]
    let new = NewJob(kind: "resize", version: 2, payload: JobPayload(bytes: [1, 2, 255]), options: options)
    var job = JobRecord(id: JobID(rawValue: 7), new, at: Self.time(1))
    (job.state, job.position, job.readyTime, job.dueTime) = (.failed, 9, Self.time(2), Self.time(3))
    job.wait = .signal("payment")
    (job.deadline, job.claimedTime, job.firstClaimedTime) = (Self.time(4), Self.time(5), Self.time(6))
    (job.finishedTime, job.expirationTime) = (Self.time(7), Self.time(8))
    (job.attempt, job.crashCount, job.snoozeCount, job.epoch) = (1, 2, 3, 4)
    (job.owner, job.isCancelRequested, job.unmetCount) = (WorkerID(rawValue: 5), true, 6)
    (job.hasDependents, job.holdsKey) = (true, true)
    job.errorGroup = JobErrorGroup.ID("0123456789abcdef")
    job.history.append(JobErrorRecord(attempt: 1, time: Self.time(9), type: "type", text: "text"))
    (job.progress, job.reason) = (
      JobProgress(fraction: 0.5, text: "half"), JobEndReason(.failed, "text", culprit: job.id)
    )
    (job.damage, job.result) = ("its history can't be read", JobPayload(bytes: [3]))
    // A new part must have a value above, and JobRecord.init(from:) must decode it.
    let fresh = JobRecord(
      id: job.id, queue: job.queue, kind: job.kind, version: 2, payload: job.payload, state: job.state,
      priority: job.priority, enqueuedTime: job.enqueuedTime, settings: job.settings)
    let required = ["id", "queue", "kind", "version", "payload", "state", "priority", "enqueuedTime", "settings"]
    for (part, other) in zip(Mirror(reflecting: job).children, Mirror(reflecting: fresh).children) {
      guard let name = part.label, !required.contains(name) else { continue }
      #expect("\(part.value)" != "\(other.value)", "\(name) has the default value")
    }
    #expect(try StoredForm.decode(JobRecord.self, StoredForm.encode(job)) == job)
  }

  @Test("J215: properties that an earlier version did not encode have their default values")
  func olderJob() throws {
    let text = """
      {"id":7,"queue":"images","kind":"resize","version":1,"payload":"AQ==",
      "state":\(JobState.waiting.rawValue),"priority":0,"enqueuedTime":{"microseconds":5000000}}
      """
    let job = try JSONDecoder().decode(JobRecord.self, from: Data(text.utf8))
    let expected = JobRecord(
      id: JobID(rawValue: 7), queue: "images", kind: "resize", version: 1, payload: JobPayload(bytes: [1]),
      state: .waiting, priority: 0, enqueuedTime: Self.time(5), settings: JobSettings())
    #expect(job == expected)
    #expect(throws: DecodingError.self) { try JSONDecoder().decode(JobRecord.self, from: Data("{}".utf8)) }
  }

  @Test("J216: tables in memory note the tokens and turns that a claim has changed, until the next transaction")
  func changedLimits() throws {
    let rows = MemoryRows()
    rows.begin(at: Self.time(1))
    let worker = rows.memory.register(
      WorkerDescription(name: "test", processIdentifier: 1, queues: ["default"], kinds: ["note": 1]), at: rows.now)
    let limit = JobLimit.rate(1, per: .seconds(60), key: "service")
    let new = NewJob(kind: "note", payload: JobPayload(bytes: []), options: [.limits([limit])])
    _ = try rows.enqueue([new, new])
    #expect(rows.memory.limits.changes.buckets.isEmpty)
    let claim = JobClaim(queue: "default", count: 2, allowsSuspect: true, kinds: ["note": 1])
    #expect(try rows.claim(claim, by: worker).count == 1)
    let changes = rows.memory.limits.changes
    #expect(changes.buckets == [limit.storedKey])
    #expect(changes.turns.map(\.queue) == ["default"])

    // Tables with the same rows give the same answers.
    let other = MemoryRows()
    for job in rows.memory.jobs.values { other.memory.put(job) }
    for key in changes.buckets {
      other.memory.limits.keep(try #require(rows.memory.limits.bucket(ofKey: key)), ofKey: key)
    }
    for place in changes.turns { other.memory.limits.keep(rows.memory.limits.turn(at: place), at: place) }
    other.begin(at: Self.time(2))
    #expect(other.memory.limits.changes.buckets.isEmpty)
    #expect(try other.claim(claim, by: worker).isEmpty)
    #expect(other.memory.nextTime(after: other.now) == Self.time(1) + .seconds(60))
  }

  @Test("J299: the turns of queues without waiting jobs that have keys are removed")
  func turns() throws {
    let rows = MemoryRows()
    rows.begin(at: Self.time(1))
    let worker = rows.memory.register(
      WorkerDescription(name: "test", processIdentifier: 1, queues: ["a", "b"], kinds: ["note": 1]), at: rows.now)
    for queue in ["a", "b", "b"] {
      let options: JobOptions = [.queue(queue), .limits([.concurrency(1, key: queue)])]
      _ = try rows.enqueue([NewJob(kind: "note", payload: JobPayload(bytes: []), options: options)])
    }
    for queue in ["a", "b"] {
      let claim = JobClaim(queue: queue, count: 2, allowsSuspect: true, kinds: ["note": 1])
      #expect(try rows.claim(claim, by: worker).count == 1)
    }
    #expect(Set(rows.memory.limits.turnPlaces.map(\.queue)) == ["a", "b"])
    _ = rows.prune()
    #expect(rows.memory.limits.turnPlaces.map(\.queue) == ["b"])
  }

  /// A number of seconds, so that different times also differ when they are printed.
  private static func time(_ seconds: Int64) -> StoreTime { StoreTime(microseconds: seconds * 1_000_000) }
}

/// A store that users can write without the interface for store authors.
private final class WrappedStore: JobStore {
  let base = MemoryJobStore()

  var maxPayloadSize: Int { base.maxPayloadSize }
  var now: StoreTime { base.now }
  var access: JobStoreAccess { base.access }
}
