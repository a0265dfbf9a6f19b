#if Lab
import Headway
import Hummingbird
import LongRunningTechniques
import Synchronization

/// Runs all techniques at the same time and reports each as a lane on one time axis.
final class RaceWorkshop: Sendable {
  /// The race as a whole.
  private struct Event: Encodable {
    let type = "race"
    var race: Int
    var phase: Phase
    /// The time in seconds since the race began.
    var elapsed = 0.0
    var techniques: [String]
  }

  /// The progress of a technique so far.
  ///
  /// Times are in seconds since the race began.
  private struct Lane: Encodable {
    struct Task: Encodable {
      var begin: Double?
      var items: [Double] = []
      var end: Double?
      /// The time when the main queue showed the items.
      var shown: Double?
    }

    let type: String
    let race: Int
    let technique: String
    let title: String
    var tasks: [Task]
    /// The time when all tasks had ended and the main queue had been notified.
    var end: Double?
    var elapsed = 0.0
  }

  private struct StartRequest: Decodable {
    var withMain: Bool?
  }

  private struct State {
    var event: Event?
    var start = ContinuousClock.now
    var lanes: [Technique: Lane] = [:]
    var runs: [TechniqueRun] = []
    var left = 0
    var isCancelled = false
    var isClosed = false
  }

  private let journal: Journal
  private let work: @Sendable () -> Void
  // Protected by its lock. The journal is written under it, so that the newest entry of a lane is the last. The journal
  // does not call back.
  private let state = Mutex(State())

  init(_ journal: Journal, work: @escaping @Sendable () -> Void) { (self.journal, self.work) = (journal, work) }

  func addRoutes(to router: Router<BasicRequestContext>) {
    router.post("api/race/start") { [self] request, context in
      let wanted = try await request.decode(as: StartRequest.self, context: context)
      return start(withMain: wanted.withMain ?? true) ? HTTPResponse.Status.accepted : .conflict
    }
    router.post("api/race/cancel") { [self] _, _ in
      cancel()
      return HTTPResponse.Status.accepted
    }
  }

  var isRunning: Bool { state.withLock { $0.left > 0 } }

  // MARK: Running

  private func start(withMain: Bool) -> Bool {
    // The main thread technique starts last, because the other techniques also begin on the main queue, and it blocks
    // the main queue.
    let techniques = Technique.allCases.filter { $0 != .main } + (withMain ? [.main] : [])
    let runs: [TechniqueRun]? = state.withLock { state in
      guard state.left == 0, !state.isClosed else { return nil }
      let number = (state.event?.race ?? 0) + 1
      (state.start, state.left, state.isCancelled) = (.now, techniques.count, false)
      // The techniques, as the page orders them.
      let names = Technique.allCases.filter(techniques.contains).map(\.rawValue)
      state.event = Event(race: number, phase: .running, techniques: names)
      state.runs = techniques.map { technique in
        TechniqueRun(technique, work: work) { [weak self] in self?.note($0, of: technique) }
      }
      state.lanes = [:]
      for (technique, run) in zip(techniques, state.runs) {
        let tasks = Array(repeating: Lane.Task(), count: run.taskCount)
        let lane = Lane(
          type: "race-\(technique.rawValue)", race: number, technique: technique.rawValue, title: technique.title,
          tasks: tasks)
        state.lanes[technique] = lane
        journal.append(lane, key: lane.type)
      }
      journal.append(state.event, key: "race")
      return state.runs
    }
    runs?.forEach { $0.start() }
    return runs != nil
  }

  private func note(_ happened: TaskEvent, of technique: Technique) {
    state.withLock { state in
      guard var lane = state.lanes[technique] else { return }
      let time = (.now - state.start).inSeconds
      switch happened.kind {
      case .began(let task): lane.tasks[task - 1].begin = time
      case .added(let task, _): lane.tasks[task - 1].items.append(time)
      case .shown(let task, _): lane.tasks[task - 1].shown = time
      case .ended(let task, _): lane.tasks[task - 1].end = time
      case .completed: return
      case .finished:
        lane.end = time
        state.left -= 1
      }
      lane.elapsed = time
      state.lanes[technique] = lane
      journal.append(lane, key: lane.type)
      guard state.left == 0, state.event?.phase == .running else { return }
      state.event?.phase = state.isCancelled ? .cancelled : .finished
      state.event?.elapsed = time
      state.runs = []
      journal.append(state.event, key: "race")
    }
  }

  private func cancel() {
    let runs = state.withLock { state in
      state.isCancelled = true
      return state.runs
    }
    runs.forEach { $0.cancel() }
  }

  /// Cancels the race and prevents new races.
  func close() {
    state.withLock { $0.isClosed = true }
    cancel()
  }
}
#endif
