import Foundation
package import Headway
package import LongRunningTechniques
import Synchronization

/// Runs techniques, one at a time, and notes what happens for those who look on.
///
/// The process must serve its main queue: that is where the heart beats.
package final class Lab: Sendable {
  /// What holds for the technique that runs, and for those that come.
  private struct Settings {
    var maximum = Headway.OperationQueue.defaultMaxConcurrentOperationCount
    var isSuspended = false
  }

  private struct Current {
    let number: Int
    let run: TechniqueRun
    var longestGap = Duration.zero
    /// When its last task had ended.
    var end: TaskEvent?
    var isCancelled = false
  }

  private struct State {
    var settings = Settings()
    var current: Current?
    var pending: [Technique] = []
    var lastNumber = 0
    var isStopped = false
  }

  let journal = Journal()
  let beats = Beats()
  let touches: Touches
  private let start = ContinuousClock.now
  let work: @Sendable () -> Void
  // Protected by its lock, under which neither runs nor viewers are called.
  private let state = Mutex(State())
  // Held while a change of the state is brought to the run and to the journal, so that both end with the newest. It is
  // taken before the lock of the state. Runs and the journal, which are called under it, call nobody back.
  private let control = Mutex(())
  private let heartbeat = Mutex<Heartbeat?>(nil)
  private let log = Mutex(LogLine())

  /// Creates a lab whose heart beats.
  ///
  /// - Parameter work: The work of an item.
  package init(work: @escaping @Sendable () -> Void = { Thread.sleep(forTimeInterval: 0.1) }) {
    self.work = work
    touches = Touches(journal)
    let heartbeat = Heartbeat { [weak self] instant, gap in self?.noteBeat(instant, gap) }
    self.heartbeat.withLock { $0 = heartbeat }
    applySettings()
    heartbeat.start()
  }

  deinit { heartbeat.withLock { $0 }?.stop() }

  // MARK: Runs

  /// Runs techniques, one after another, once those have ended that run or wait.
  ///
  /// - Parameter techniques: The techniques.
  package func run(_ techniques: [Technique]) {
    state.withLock { state in
      // Each once: a hand that presses a button again and again does not fill the day.
      for technique in techniques where !state.pending.contains(technique) && !state.isStopped {
        state.pending.append(technique)
      }
    }
    control.withLock { _ in
      publishPending()
      startNext()
    }
  }

  /// Starts what waits, if nothing runs; called with the control.
  private func startNext() {
    let next = state.withLock { state -> Current? in
      guard state.current == nil, !state.pending.isEmpty else { return nil }
      let technique = state.pending.removeFirst()
      state.lastNumber += 1
      let number = state.lastNumber
      let run = TechniqueRun(technique, work: work) { [weak self] in self?.note($0, of: technique, number) }
      let current = Current(number: number, run: run)
      state.current = current
      return current
    }
    guard let current = next else { return }
    let technique = current.run.technique
    var event = LabEvent(.started, run: current.number)
    event.technique = technique.rawValue
    event.title = technique.title
    event.controls = technique.controls.map(\.rawValue).sorted()
    event.taskCount = current.run.taskCount
    journal.append(event, group: technique.rawValue, removing: technique.rawValue)
    publishPending()
    publishDependencies(current)
    let settings = state.withLock { $0.settings }
    current.run.setMaximumConcurrency(settings.maximum)
    current.run.setSuspended(settings.isSuspended)
    current.run.start()
  }

  private func note(_ happened: TaskEvent, of technique: Technique, _ number: Int) {
    var event = LabEvent(.logged, run: number)
    event.time = happened.time.inSeconds
    event.thread = happened.thread
    event.line = log.withLock { $0.text(of: happened, technique) }
    switch happened.kind {
    case .began(let task): (event.type, event.task) = (.began, task)
    case .added(let task, let item): (event.type, event.task, event.item) = (.added, task, item)
    case .ended(let task, let isCancelled):
      (event.type, event.task, event.isCancelled) = (.ended, task, isCancelled)
    case .completed(let task): event.task = task
    case .shown: return
    case .finished:
      // How long the main queue was held up is known at its next beat.
      return state.withLock { if $0.current?.number == number { $0.current?.end = happened } }
    }
    journal.append(event, group: technique.rawValue)
  }

  private func noteBeat(_ instant: ContinuousClock.Instant, _ gap: Duration) {
    let ended = state.withLock { state -> Current? in
      guard var current = state.current else { return nil }
      current.longestGap = max(current.longestGap, gap)
      state.current = current.end == nil ? current : nil
      return current.end == nil ? nil : current
    }
    let number = beats.note((instant - start).inSeconds * 1_000)
    if let ended, let end = ended.end {
      var event = LabEvent(.finished, run: ended.number)
      event.time = end.time.inSeconds
      event.gap = ended.longestGap.inSeconds * 1_000
      event.isCancelled = ended.isCancelled
      journal.append(event, group: ended.run.technique.rawValue)
      control.withLock { _ in startNext() }
    }
    // Ten times a second is enough for the eye, and little for a hundred viewers.
    if number.isMultiple(of: 6) { journal.notify() }
  }

  // MARK: Control

  /// Cancels a task of the technique that runs; or all, and those techniques that wait.
  ///
  /// - Parameter task: The number of the task, from 1; nil for all.
  package func cancel(task: Int? = nil) {
    let run = state.withLock { state in
      if task == nil {
        state.pending = []
        state.current?.isCancelled = true
      }
      return state.current?.run
    }
    if let task { run?.cancel(task: task) } else { run?.cancel() }
    if task == nil { control.withLock { _ in publishPending() } }
  }

  /// Cancels everything, and starts nothing any more.
  package func stop() {
    state.withLock { $0.isStopped = true }
    cancel()
  }

  /// Holds back tasks that have not started, or lets them start: of what runs, and of what comes.
  ///
  /// - Parameter isSuspended: Whether they are held back.
  package func setSuspended(_ isSuspended: Bool) {
    state.withLock { $0.settings.isSuspended = isSuspended }
    applySettings()
  }

  /// Changes how many tasks run at the same time: of what runs, and of what comes.
  ///
  /// - Parameter maximum: How many, or -1 for as many as the queue thinks best.
  package func setMaximumConcurrency(_ maximum: Int) {
    state.withLock { $0.settings.maximum = maximum }
    applySettings()
  }

  /// Changes which of the tasks that wait comes first.
  ///
  /// - Parameters:
  ///   - priority: The priority.
  ///   - task: The number of the task.
  /// - Returns: Whether it waits, and has a priority.
  package func setPriority(_ priority: QueuePriority, of task: Int) -> Bool {
    control.withLock { _ in
      guard let current = state.withLock({ $0.current }), current.run.setPriority(priority, of: task) else {
        return false
      }
      var event = LabEvent(.priority, run: current.number)
      event.task = task
      event.priority = priority.rawValue
      journal.append(event, key: "priority-\(current.number)-\(task)", group: current.run.technique.rawValue)
      return true
    }
  }

  /// Makes a task that waits wait for another.
  ///
  /// - Parameters:
  ///   - task: The number of the one that is to wait.
  ///   - other: The number of the one for which it waits.
  /// - Returns: Whether it does.
  package func addDependency(of task: Int, on other: Int) -> Bool {
    control.withLock { _ in
      guard let current = state.withLock({ $0.current }), current.run.addDependency(of: task, on: other) else {
        return false
      }
      publishDependencies(current)
      return true
    }
  }

  /// What keeps a task of the technique that runs from running, in words.
  ///
  /// - Parameter task: The number of the task.
  /// - Returns: A sentence, or nil if nothing runs that has operations.
  package func diagnosis(of task: Int) -> String? { state.withLock { $0.current?.run }?.diagnosis(of: task) }

  /// Whether a technique runs.
  package var isRunning: Bool { state.withLock { $0.current != nil } }

  // MARK: For viewers

  /// Brings the settings to what runs, and to viewers.
  private func applySettings() {
    control.withLock { _ in
      let (settings, run) = state.withLock { ($0.settings, $0.current?.run) }
      run?.setMaximumConcurrency(settings.maximum)
      run?.setSuspended(settings.isSuspended)
      var event = LabEvent(.settings)
      event.maximum = settings.maximum
      event.isSuspended = settings.isSuspended
      journal.append(event, key: "settings")
    }
  }

  /// Called with the control.
  private func publishPending() {
    var event = LabEvent(.pending)
    event.techniques = state.withLock { $0.pending }.map(\.rawValue)
    journal.append(event, key: "pending")
  }

  private func publishDependencies(_ current: Current) {
    guard !current.run.dependencies.isEmpty else { return }
    var event = LabEvent(.dependencies, run: current.number)
    event.dependencies = Dictionary(
      uniqueKeysWithValues: current.run.dependencies.map { (String($0.key), $0.value.sorted()) })
    journal.append(event, key: "dependencies-\(current.number)", group: current.run.technique.rawValue)
  }
}

extension Duration {
  /// As a number of seconds.
  var inSeconds: Double { Double(components.seconds) + Double(components.attoseconds) / 1e18 }
}
