@testable import Headway

/// Qualities of service: operations that wait for other operations without depending on them raise them.
///
/// All operations are in the lists of the normal class, so that the order stays the model's; they are marked as with
/// classes.
extension AdmissionProgram {
  /// Most operations have no quality of service of their own.
  mutating func takeQuality() -> QualityOfService {
    random(0...2) > 0 ? .default : [.background, .utility, .userInteractive][random(0...2)]
  }

  /// Acts as an operation that has become more urgent, or has a more urgent dependent.
  mutating func setUrgency(of number: Int, level: Int) {
    _ = operations[number].state.raiseQuality(level: level)
    noteUrgency()
  }

  /// Notifies the state machine of operations that have become more urgent, on their own or through a dependency.
  mutating func noteUrgency() {
    for number in model.unfinished {
      let level = operations[number].state.current.qualityLevel
      guard level != levels[number, default: 0] else { continue }
      levels[number] = level
      if operations[number].admission.place != .none { admission.urgencyChanged(operations[number]) }
    }
    _ = admission.takeRaised()
    noteReclaimed()
  }

  /// P5: looks for an operation that is less urgent than an operation that waits for it.
  func findInversion() -> String? {
    // From the last to the first: the most urgent operation behind each, and behind each barrier.
    var (segment, behind) = (WorkerClass.background, WorkerClass.background)
    for number in model.unfinished.reversed() {
      let entry = model.entries[number]
      if entry.isBarrier || model.order == .fifo { behind = .moreUrgent(behind, segment) }
      if let text = inversion(of: number, behind: behind) { return text }
      guard entry.state == .waiting, !entry.isCancelled else { continue }
      let urgency = admission.placement.urgency(of: operations[number].state.current)
      if entry.isBarrier { behind = .moreUrgent(behind, urgency) } else { segment = .moreUrgent(segment, urgency) }
    }
    guard model.running >= model.limit else { return nil }
    let ready = model.candidates.filter { operations[$0].admission.place == .ready }
    let waiting = ready.map { admission.placement.urgency(of: operations[$0].state.current) }
    let highest = waiting.reduce(WorkerClass.background) { .moreUrgent($0, $1) }
    for number in model.unfinished where model.entries[number].state == .started && !model.entries[number].isLeaving {
      if let text = inversion(of: number, behind: highest) { return text }
    }
    return nil
  }

  private func inversion(of number: Int, behind urgency: WorkerClass) -> String? {
    let (operation, entry) = (operations[number], model.entries[number])
    guard operation.admission.place != .none, !entry.isCancelled else { return nil }
    var workerClass = admission.placement.raisingClass(of: operation.state.current)
    // It starts at no lower class than that.
    if operation.admission.place == .ready { workerClass = .moreUrgent(workerClass, admission.floor) }
    return urgency.isMoreUrgent(than: workerClass)
      ? "number \(number) has the class \(workerClass), but an operation of the class \(urgency) waits for it" : nil
  }
}
