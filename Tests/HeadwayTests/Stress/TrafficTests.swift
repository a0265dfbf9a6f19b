import HeadwayTestKit
import Synchronization
import Testing

@testable import Headway

/// Operations that block, or take long, while others continue to arrive.
///
/// Each runs in its own process, where it has the pool to itself; a test hangs if its work gets no thread.
@Suite("Traffic", .hangLimit) struct TrafficTests {
  enum Occupation: String, CaseIterable, Codable {
    case blocked, waiting, spinning
  }

  @Test(
    "P2, T2, W5: work behind a blocked or long operation starts, even if the queue never becomes empty",
    arguments: Occupation.allCases, [-1, 8])
  func behind(occupation: Occupation, limit: Int) async throws {
    // If there is only one processor, nothing runs next to computing threads.
    guard occupation != .spinning || ProcessorCount.usable > 1 else { return }
    await #expect(processExitsWith: .success) { [occupation, limit] in
      let queue = OperationQueue(limit: limit)
      let traffic = Traffic(in: queue)
      for _ in 0..<5 {
        let gate = Gate()
        let isOver = Atomic<Bool>(false)
        let second = BlockOperation {
          isOver.store(true, ordering: .releasing)
          gate.open()
        }
        let first = BlockOperation {
          switch occupation {
          case .blocked: gate.wait()
          case .waiting: second.waitUntilFinished()
          case .spinning: while !isOver.load(ordering: .acquiring) {}
          }
        }
        queue.addOperations([first, second], waitUntilFinished: true)
      }
      traffic.end()
      try await queue.untilAllOperationsAreFinished()
    }
  }

  @Test("T2: operations that wait in short sleeps let others run") func polling() async throws {
    await #expect(processExitsWith: .success) {
      let queue = OperationQueue()
      let isOver = Atomic<Bool>(false)
      let meeting = Atomic<Int>(16 * ProcessorCount.usable)
      for _ in 0..<16 * ProcessorCount.usable {
        queue.addOperation {
          // All of them must run at the same time for that to become true, and then one more.
          meeting.subtract(1, ordering: .relaxed)
          while !isOver.load(ordering: .acquiring) { pauseThread() }
        }
      }
      queue.addOperation {
        while meeting.load(ordering: .relaxed) > 0 { pauseThread() }
        isOver.store(true, ordering: .releasing)
      }
      try await queue.untilAllOperationsAreFinished()
    }
  }

  @Test("T3: operations that have blocked count as busy again when they compute") func computingAgain() async throws {
    await #expect(processExitsWith: .success) {
      let queue = OperationQueue()
      let count = ProcessorCount.usable + 6
      let (meeting, goOn) = (Meeting(of: count), Gate())
      let isOver = Atomic<Bool>(false)
      for _ in 0..<count {
        queue.addOperation {
          meeting.attend()
          goOn.wait()
          while !isOver.load(ordering: .acquiring) {}
        }
      }
      // All are blocked; otherwise, they could not have met. More work waits, and other threads can run it.
      #expect(eventually { WorkerPool.shared.state.withLock { $0.blocked >= count - ProcessorCount.usable } })
      let others = (0..<200).map { _ in BlockOperation { useProcessor(milliseconds: 1) } }
      goOn.open()
      queue.addOperations(others, waitUntilFinished: false)
      // None of them ends before that is so.
      #expect(eventually { WorkerPool.shared.state.withLock { $0.blocked == 0 && $0.atWork >= count } })
      isOver.store(true, ordering: .releasing)
      try await queue.untilAllOperationsAreFinished()
    }
  }

  @Test("T4: futile spinning is skipped more and more often, and soon resumed") func spinPolicy() {
    let policy = SpinPolicy()
    /// How many workers skip before one spins.
    func skipped(thenInVain isInVain: Bool) -> Int {
      var count = 0
      while !policy.mayBegin {
        policy.noteSleep(of: 0)
        count += 1
      }
      #expect(policy.begins() && !policy.mayBegin && !policy.begins(), "one at a time")
      policy.ends(isInVain: isInVain)
      if isInVain { policy.noteSleep(of: 0) }
      return count
    }
    let inVain = (0..<7).map { _ in skipped(thenInVain: true) }
    #expect(inVain.first == 0 && inVain.last == 15)
    #expect(zip(inVain, inVain.dropFirst()).allSatisfy { $0 <= $1 })
    _ = skipped(thenInVain: false)
    #expect(skipped(thenInVain: false) == 0)
  }

  @Test("T4: no worker spins while work arrives rarely; workers soon spin again if it arrives often") func rareWork() {
    let policy = SpinPolicy()
    /// How many times a worker must sleep for `time` nanoseconds before workers start or stop spinning.
    func sleeps(of time: UInt64, until maySpin: Bool) -> Int {
      var count = 0
      while policy.mayBegin != maySpin, count < 100 {
        policy.noteSleep(of: time)
        count += 1
      }
      return count
    }
    #expect(policy.mayBegin)
    #expect(1...4 ~= sleeps(of: 1_000_000_000, until: false))
    _ = sleeps(of: 1_000_000_000, until: true)
    #expect(!policy.mayBegin)
    #expect(1...8 ~= sleeps(of: 10_000, until: true))
    #expect(1...8 ~= sleeps(of: 3 * Worker.spinTime, until: false))
  }
}

/// Operations that each add another.
private final class Traffic: Sendable {
  private let isOver = Atomic<Bool>(false)
  private let queue: OperationQueue

  init(in queue: OperationQueue) {
    self.queue = queue
    for _ in 0..<400 { queue.addOperation { self.goOn() } }
  }

  func end() { isOver.store(true, ordering: .relaxed) }

  private func goOn() {
    if !isOver.load(ordering: .relaxed) { queue.addOperation { self.goOn() } }
  }
}
