import HeadwayTestKit
import HeadwayTestSupport
import Testing

@testable import Headway

/// Several threads use the same keys of the same queues, cancel, and wait.
///
/// `HEADWAY_STRESS_SEED=7 HEADWAY_STRESS_ROUNDS=1` repeats a round.
@Suite("Stress of coalescing", HangLimit()) struct CoalescingStressTests {
  @Test("X5: each caller has one outcome, and a caller that wants a value gets one, whatever other threads do")
  func conservation() async throws {
    let rounds = environmentNumber("HEADWAY_STRESS_ROUNDS") ?? 8
    let first = environmentNumber("HEADWAY_STRESS_SEED") ?? 1
    print("Coalescing: \(rounds) rounds from HEADWAY_STRESS_SEED=\(first)")
    for seed in first..<first + rounds {
      noteProgress(of: "Stress of coalescing", "HEADWAY_STRESS_SEED=\(seed)")
      try await Round(seed: UInt64(seed)).run()
    }
  }

  private struct Round {
    let seed: UInt64
    /// The cases of the round; nil for a mixture of all.
    let only: [CoalescingPolicy]
    let queue: OperationQueue
    let crowds = (0..<3).map { _ in Crowd() }
    let complaints = EventRecorder<String>()
    let calls = Counter()

    init(seed: UInt64) {
      self.seed = seed
      var random = SeededGenerator(seed: seed)
      only =
        [
          [.joinWaiting], [.joinUnfinished], [.joinUnfinished, .dropNew],
          [.joinWaiting, .joinUnfinished, .replaceWaiting, .replaceUnfinished, .dropNew],
        ].randomElement(using: &random) ?? []
      queue = OperationQueue(limit: [1, 2, -1].randomElement(using: &random) ?? 1)
      if Bool.random(using: &random) { queue.qualityOfService = .utility }
    }

    func run() async throws {
      await withTaskGroup(of: Void.self) { group in
        for number in 0..<4 { group.addTask { await act(SeededGenerator(seed: seed &* 31 &+ UInt64(number))) } }
      }
      try await queue.untilAllOperationsAreFinished()
      #expect(complaints.events == [], "seed \(seed)")
      #expect(queue.keyCount == 0, "seed \(seed)")
      if !only.contains(.joinWaiting) { #expect(crowds.allSatisfy { $0.most <= 1 }, "seed \(seed): \(only)") }
    }

    /// The work of one task.
    private func act(_ generator: SeededGenerator) async {
      var random = generator
      for _ in 0..<60 {
        let key = Int.random(in: 0..<crowds.count, using: &random)
        let coalescing = only.randomElement(using: &random) ?? .joinWaiting
        let before = calls.increment()
        let (yields, fails) = (Int.random(in: 0..<3, using: &random), Int.random(in: 0..<8, using: &random) == 0)
        let share = queue.addTask(coalescing: "\(key)", by: coalescing) { [crowds, calls] in
          crowds[key].enter()
          defer { crowds[key].leave() }
          let seen = calls.value
          for _ in 0..<yields { await Task.yield() }
          if fails { throw Mishap(name: "\(seen)") }
          return seen
        }
        await use(share, coalescing, before, &random)
      }
    }

    /// Uses a share in various ways.
    private func use(
      _ share: CoalescedTask<Int>, _ coalescing: CoalescingPolicy, _ before: Int, _ random: inout SeededGenerator
    ) async {
      let cancels = Int.random(in: 0..<3, using: &random)
      if cancels == 1 { share.cancel() }
      let canceller = cancels == 2 ? Task { share.cancel() } : nil
      let first = await outcome(of: share)
      let second = await outcome(of: share)
      await canceller?.value
      let last = await outcome(of: share)
      if first != second || second != last { complaints.record("\(first), then \(second), then \(last)") }
      switch first {
      case .value(let seen), .error(let seen):
        if coalescing == .joinWaiting, seen < before { complaints.record("begun before the call") }
      case .cancelled:
        let mayBeCancelled = cancels > 0 || only.contains(.replaceWaiting) || coalescing == .dropNew
        if !mayBeCancelled { complaints.record("cancelled, and no caller has asked for it") }
      }
    }

    private enum Outcome: Equatable {
      case value(Int), error(Int), cancelled
    }

    private func outcome(of share: CoalescedTask<Int>) async -> Outcome {
      do { return .value(try await share.value) } catch let error as Mishap {
        return .error(Int(error.name) ?? -1)
      } catch {
        return .cancelled
      }
    }
  }
}
