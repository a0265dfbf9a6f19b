#if Lab
import Dispatch
import Foundation
import Headway
import Hummingbird
import Synchronization

/// 200 operations that sleep, on an operation queue and on a dispatch queue at the same time.
///
/// An operation that sleeps needs no processor. Headway replaces the thread that it blocks; Dispatch adds about one
/// thread per second while its threads are blocked.
final class SleepersWorkshop: Sendable {
  struct Side: Encodable {
    /// One letter per sleeper, for its state: waiting, sleeping, or finished.
    var states = String(repeating: "w", count: SleepersWorkshop.count)
    var asleep = 0
    /// The maximum number that slept at the same time, each on its own thread.
    var mostAsleep = 0
    var finished = 0
    /// The time since the start.
    ///
    /// For a side that has finished, the time that it took.
    var seconds = 0.0
  }

  struct Event: Encodable {
    let type = "sleepers"
    /// The number of the run, starting at 1.
    var run: Int
    var phase = Phase.running
    var headway = Side()
    var dispatch = Side()
  }

  private enum Contestant: Sendable { case headway, dispatch }
  private enum Change: UInt8, Sendable {
    case sleeps = 0x73
    case finished = 0x66
  }

  private struct SideState {
    var letters = [UInt8](repeating: 0x77, count: SleepersWorkshop.count)
    var side = Side()
  }

  private struct State {
    var run = 0
    var start = ContinuousClock.now
    var headway = SideState()
    var dispatch = SideState()
    var left = 0
    var isCancelled = false
    var isClosed = false
    var isPublishing = false
  }

  static let count = 200
  private static let publishingInterval = Duration.milliseconds(40)

  private let journal: Journal
  private let sleep: @Sendable () -> Void
  private let queue = Headway.OperationQueue(name: "200 sleepers")
  // It has its own quality of service, because tasks wait for their timers on the threads of the other qualities of
  // service.
  private let dispatchQueue = DispatchQueue(label: "headway.lab.sleepers", qos: .utility, attributes: .concurrent)
  private let publisher = Headway.OperationQueue(name: "lab sleepers", qualityOfService: .userInteractive)
  // Protected by its lock.
  private let state = Mutex(State())
  // Held while an entry is written to the journal, so that the newest is the last. It is acquired before the lock of
  // the state.
  private let publishing = Mutex(())

  /// Creates the page.
  ///
  /// Each operation sleeps for five times the duration of `work`.
  init(_ journal: Journal, work: @escaping @Sendable () -> Void) {
    self.journal = journal
    sleep = { for _ in 0..<5 { work() } }
  }

  func addRoutes(to router: Router<BasicRequestContext>) {
    router.post("api/sleepers/start") { [self] _, _ in
      start() ? HTTPResponse.Status.accepted : .conflict
    }
    router.post("api/sleepers/cancel") { [self] _, _ in
      cancel()
      return HTTPResponse.Status.accepted
    }
  }

  var isRunning: Bool { state.withLock { $0.left > 0 } }

  private func start() -> Bool {
    let run: Int? = state.withLock { state in
      guard state.left == 0, !state.isClosed else { return nil }
      state = State(run: state.run + 1, left: 2 * Self.count, isPublishing: state.isPublishing)
      return state.run
    }
    guard let run else { return false }
    publish()
    for number in 0..<Self.count {
      dispatchQueue.async { [self] in perform(number, .dispatch, run) }
      queue.addOperation { [self] in perform(number, .headway, run) }
    }
    return true
  }

  private func perform(_ number: Int, _ contestant: Contestant, _ run: Int) {
    if !state.withLock({ $0.isCancelled }) {
      note(.sleeps, number, contestant, run)
      sleep()
    }
    note(.finished, number, contestant, run)
  }

  private func note(_ change: Change, _ number: Int, _ contestant: Contestant, _ run: Int) {
    let mustPublish: Bool? = state.withLock { state in
      guard state.run == run else { return nil }
      let time = (.now - state.start).inSeconds
      func apply(_ contender: inout SideState) -> Bool {
        guard contender.letters[number] != change.rawValue else { return false }
        let wasAsleep = contender.letters[number] == Change.sleeps.rawValue
        contender.letters[number] = change.rawValue
        contender.side.asleep += (change == .sleeps ? 1 : 0) - (wasAsleep ? 1 : 0)
        contender.side.mostAsleep = max(contender.side.mostAsleep, contender.side.asleep)
        if change == .finished { contender.side.finished += 1 }
        contender.side.seconds = time
        return true
      }
      let isNew = contestant == .headway ? apply(&state.headway) : apply(&state.dispatch)
      if isNew, change == .finished { state.left -= 1 }
      if state.left == 0 { return true }
      defer { state.isPublishing = true }
      return state.isPublishing ? nil : false
    }
    switch mustPublish {
    case true?: publish()
    case false?:
      // Once for all changes within a short interval.
      Task(executorPreference: publisher) { [self] in
        try? await Task.sleep(for: Self.publishingInterval)
        state.withLock { $0.isPublishing = false }
        publish()
      }
    case nil: break
    }
  }

  private func publish() {
    publishing.withLock { _ in
      let event = state.withLock { state in
        func side(_ contender: SideState) -> Side {
          var side = contender.side
          side.states = String(decoding: contender.letters, as: UTF8.self)
          if side.finished < Self.count { side.seconds = (.now - state.start).inSeconds }
          return side
        }
        let phase: Phase = state.left > 0 ? .running : state.isCancelled ? .cancelled : .finished
        return Event(run: state.run, phase: phase, headway: side(state.headway), dispatch: side(state.dispatch))
      }
      journal.append(event, key: "sleepers")
    }
  }

  /// Sleepers that have not begun do not sleep.
  private func cancel() { state.withLock { $0.isCancelled = true } }

  /// Cancels everything and prevents new runs.
  func close() {
    state.withLock { $0.isClosed = true }
    cancel()
  }
}
#endif
