import Testing

@_spi(JobStore) @testable import HeadwayJobs

/// How events reach their listeners.
@Suite struct EventLogTests {
  private let jobs = Jobs(MemoryJobStore())

  @Test("J110: without a listener, events are not created")
  func unobserved() async {
    var count = 0
    func event() -> JobEvent {
      count += 1
      return .storeBack
    }
    jobs.eventLog.post(event())
    #expect(count == 0)
    var iterator: JobEvents.Iterator? = jobs.events.makeAsyncIterator()
    jobs.eventLog.post(event())
    #expect(count == 1)
    #expect(await iterator?.next() == .storeBack)
    iterator = nil
    jobs.eventLog.post(event())
    #expect(count == 1)
  }

  @Test("J110: a slow listener gets the number of events that were dropped")
  func dropped() async {
    var slow = jobs.events(keeping: 2).makeAsyncIterator()
    var fast = jobs.events.makeAsyncIterator()
    let queues = (1...5).map { "\($0)" }
    for queue in queues { jobs.eventLog.post(.paused(queue: queue)) }
    for queue in queues { #expect(await fast.next() == .paused(queue: queue)) }
    #expect(await slow.next() == .paused(queue: "1"))
    jobs.eventLog.post(.storeBack)
    #expect(await slow.next() == .paused(queue: "2"))
    #expect(await slow.next() == .dropped(count: 3))
    #expect(await slow.next() == .storeBack)
  }

  @Test("J110: an iteration that waits for an event ends when its task is cancelled")
  func cancelled() async {
    let jobs = jobs
    let task = Task {
      var iterator = jobs.events.makeAsyncIterator()
      _ = await iterator.next()
      return await iterator.next() == nil
    }
    while !jobs.eventLog.isObserved { await Task.yield() }
    jobs.eventLog.post(.storeBack)
    task.cancel()
    #expect(await task.value)
    #expect(!jobs.eventLog.isObserved)
  }

  @Test("J110: an iteration ends after the last event when the jobs are freed")
  func freed() async {
    var jobs: Jobs? = Jobs(MemoryJobStore())
    var iterator = jobs?.events.makeAsyncIterator()
    jobs?.eventLog.post(.storeBack)
    jobs = nil
    #expect(await iterator?.next() == .storeBack)
    #expect(await iterator?.next() == nil)
  }
}
