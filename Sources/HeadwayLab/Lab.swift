import Foundation
package import Headway
package import LongRunningTechniques
import Synchronization

/// Runs techniques, one at a time, and records events for viewers.
///
/// The process must serve its main queue, where the heartbeat runs.
package final class Lab: Sendable {
  /// Settings for the running technique and for the following ones.
  private struct Settings {
    var maximum = Headway.OperationQueue.defaultMaxConcurrentOperationCount
    var isSuspended = false
  }

  private struct Current {
    let number: Int
    let run: TechniqueRun
    var longestGap = Duration.zero
    /// The event of the end of the last task.
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
  // Protected by its lock. Neither runs nor viewers are called under it.
  private let state = Mutex(State())
  // Held while a change of the state is applied to the run and written to the journal, so that both end with the newest
  // change. It is acquired before the lock of the state. Runs and the journal, which are called under it, do not call
  // back.
  private let control = Mutex(())
  private let heartbeat = Mutex<Heartbeat?>(nil)
  private let log = Mutex(LogLine())

  /// Creates a lab and starts its heartbeat.
  ///
  /// - Parameter work: A closure that does the work of an item.
  package init(work: @escaping @Sendable () -> Void = { Thread.sleep(forTimeInterval: 0.1) }) {
    self.work = { Trace.span("item", work) }
    touches = Touches(journal)
    let heartbeat = Heartbeat { [weak self] instant, gap in self?.noteBeat(instant, gap) }
    self.heartbeat.withLock { $0 = heartbeat }
    applySettings()
    heartbeat.start()
  }

  deinit { heartbeat.withLock { $0 }?.stop() }

  // MARK: Runs

  /// Runs techniques, one after another, after the techniques that are running or waiting.
  ///
  /// - Parameter techniques: The techniques to compare, in order.
  package func run(_ techniques: [Technique]) {
    state.withLock { state in
      // Each only once, so that someone who presses a button repeatedly does not fill the day.
      for technique in techniques where !state.pending.contains(technique) && !state.isStopped {
        state.pending.append(technique)
      }
    }
    control.withLock { _ in
      publishPending()
      startNext()
    }
  }

  /// Starts the next waiting technique, if none is running.
  ///
  /// Call this with `control` locked.
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
    // Ten times per second is often enough for the eye, and a small load for a hundred viewers.
    if number.isMultiple(of: 6) { journal.notify() }
  }

  // MARK: Control

  /// Cancels a task of the running technique, or all tasks and the waiting techniques.
  ///
  /// - Parameter task: The number of the task, starting at 1. Nil for all.
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

  /// Cancels everything and prevents new runs.
  package func stop() {
    state.withLock { $0.isStopped = true }
    cancel()
  }

  /// Suspends or resumes tasks that have not started, in this run and in the following ones.
  ///
  /// - Parameter isSuspended: Whether they are suspended.
  package func setSuspended(_ isSuspended: Bool) {
    state.withLock { $0.settings.isSuspended = isSuspended }
    applySettings()
  }

  /// Changes how many tasks run at the same time, in this run and in the following ones.
  ///
  /// - Parameter maximum: The number of tasks. -1 means that the queue chooses it.
  package func setMaximumConcurrency(_ maximum: Int) {
    state.withLock { $0.settings.maximum = maximum }
    applySettings()
  }

  /// Changes the priority of a waiting task.
  ///
  /// - Parameters:
  ///   - priority: The new priority of the task.
  ///   - task: The number of the task.
  /// - Returns: Whether the task is waiting and has a priority.
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

  /// Makes a waiting task depend on another.
  ///
  /// - Parameters:
  ///   - task: The number of the task that waits.
  ///   - other: The number of the task that it waits for.
  /// - Returns: Whether the dependency was added.
  package func addDependency(of task: Int, on other: Int) -> Bool {
    control.withLock { _ in
      guard let current = state.withLock({ $0.current }), current.run.addDependency(of: task, on: other) else {
        return false
      }
      publishDependencies(current)
      return true
    }
  }

  /// Returns the reason why a task of the running technique does not run.
  ///
  /// - Parameter task: The number of the task.
  /// - Returns: A sentence that explains the task's state. Nil if no technique that has operations is running.
  package func diagnosis(of task: Int) -> String? { state.withLock { $0.current?.run }?.diagnosis(of: task) }

  /// Whether a technique is running or waits for the one that is running.
  package var isRunning: Bool { state.withLock { $0.current != nil || !$0.pending.isEmpty } }

  // MARK: For viewers

  /// Applies the settings to the current run and publishes them to viewers.
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

  /// Call this with `control` locked.
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
  /// The duration as a number of seconds.
  var inSeconds: Double { Double(components.seconds) + Double(components.attoseconds) / 1e18 }
}
