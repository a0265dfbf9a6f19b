import HeadwayTestKit
import Synchronization

@testable import Headway

/// Collects requests for threads, by class.
///
/// Before it records a request for helpers, it calls the test's code for that moment.
final class GatedExecutor: WorkExecutor {
  private struct State {
    var work: [WorkerClass: WaitingWork] = [:]
    var gate: (@Sendable () -> Void)?
  }

  private let state = Mutex(State())
  let isStepwise = true

  /// Makes `gate` run, once, before the next request for helpers is recorded.
  func beforeNextRequest(_ gate: @escaping @Sendable () -> Void) { state.withLock { $0.gate = gate } }

  /// The number of requested threads of a class that have not arrived.
  func waitingCount(of workerClass: WorkerClass) -> Int { state.withLock { $0.work[workerClass]?.count ?? 0 } }

  /// The number of requested threads that have not arrived.
  var waitingCount: Int { WorkerClass.allCases.reduce(0) { $0 + waitingCount(of: $1) } }

  func submit(_ work: any PoolWork, count: Int, on workerClass: WorkerClass) {
    state.withLock { _ = $0.work[workerClass, default: WaitingWork()].append(work, count: count) }
  }

  func summon(_ count: Int, for work: any HelpedWork, on workerClass: WorkerClass) {
    guard count > 0 else { return }
    state.withLock { $0.gate.take() }?()
    state.withLock { $0.work[workerClass, default: WaitingWork()].append(helpersFor: work, count: count) }
  }

  func withdraw(_ work: any HelpedWork, on workerClass: WorkerClass) -> Int {
    state.withLock { $0.work[workerClass, default: WaitingWork()].withdraw(work) }
  }

  /// Acts as one arriving thread of a class.
  func step(of workerClass: WorkerClass = .normal) {
    let work = state.withLock { $0.work[workerClass]?.popFirst() }
    work?.runOnWorker(of: nil, atMost: .max)
  }
}
