import Foundation
package import LongRunningTechniques
import Synchronization

/// The lab in a terminal or a pipe: the log of each technique while it runs, then its table, and finally a comparison
/// of all.
package final class TerminalLab: Sendable {
  private struct State {
    var current: TechniqueRun?
    var isCancelled = false
    var gap = Duration.zero
    /// The continuation that waits for the next beat.
    var waiter: CheckedContinuation<Void, Never>?
  }

  private struct Summary {
    let technique: Technique
    let seconds: Double
    let gap: Duration
    let items: [(task: Int, item: Int)]
    let threadCount: Int
  }

  private let write: @Sendable (String) -> Void
  private let work: @Sendable () -> Void
  // Protected by its lock. No run is called under it.
  private let state = Mutex(State())
  private let log = Mutex(LogLine())

  /// Creates a lab that writes lines.
  ///
  /// - Parameters:
  ///   - work: A closure that does the work of an item.
  ///   - write: Called with text, from any thread. For the log, with one line at a time.
  package init(
    work: @escaping @Sendable () -> Void = { Thread.sleep(forTimeInterval: 0.1) },
    write: @escaping @Sendable (String) -> Void
  ) {
    self.work = work
    self.write = write
  }

  /// Runs techniques, one after another.
  ///
  /// - Parameter techniques: The techniques to compare, in order.
  package func run(_ techniques: [Technique]) async {
    let heartbeat = Heartbeat { [weak self] _, gap in self?.note(gap) }
    heartbeat.start()
    defer { heartbeat.stop() }
    var summaries: [Summary] = []
    for technique in techniques {
      guard let summary = await run(technique) else { break }
      summaries.append(summary)
    }
    if summaries.count > 1 { write(Self.comparison(of: summaries)) }
  }

  /// Cancels everything and prevents new runs.
  package func cancel() {
    let run = state.withLock { state in
      state.isCancelled = true
      return state.current
    }
    run?.cancel()
  }

  private func run(_ technique: Technique) async -> Summary? {
    let (events, continuation) = AsyncStream.makeStream(of: TaskEvent.self)
    let run = TechniqueRun(technique, work: work) { [self] event in
      if let line = log.withLock({ $0.text(of: event, technique) }) { write(line + "\n") }
      continuation.yield(event)
      if event.kind == .finished { continuation.finish() }
    }
    let isCancelled = state.withLock { state in
      state.current = run
      state.gap = .zero
      return state.isCancelled
    }
    guard !isCancelled else { return nil }
    write("== \(technique.title)\n")
    run.start()
    var happened: [TaskEvent] = []
    for await event in events { happened.append(event) }
    // How long the main queue was held up is known at its next beat.
    await withCheckedContinuation { waiter in state.withLock { $0.waiter = waiter } }
    let summary = summary(of: technique, happened)
    write(Self.table(of: summary))
    return summary
  }

  private func note(_ gap: Duration) {
    let waiter = state.withLock { state in
      state.gap = max(state.gap, gap)
      return state.waiter.take()
    }
    waiter?.resume()
  }

  private func summary(of technique: Technique, _ events: [TaskEvent]) -> Summary {
    let items = events.compactMap { event -> (task: Int, item: Int)? in
      if case .added(let task, let item) = event.kind { (task, item) } else { nil }
    }
    let threads = Set(events.compactMap { if case .added = $0.kind { $0.thread } else { nil } })
    return Summary(
      technique: technique, seconds: events.last?.time.inSeconds ?? 0, gap: state.withLock { $0.gap }, items: items,
      threadCount: threads.count)
  }

  /// Returns the table by section, as the sample shows it.
  private static func table(of summary: Summary) -> String {
    var lines = ["Section 0: Item Initial-1, Item Initial-2, Item Initial-3, Item Initial-4, Item Initial-5"]
    for (section, task) in Set(summary.items.map(\.task)).sorted().enumerated() {
      let items = summary.items.filter { $0.task == task }.map { "Item \($0.task)-\($0.item)" }
      lines.append("Section \(section + 1): \(items.joined(separator: ", "))")
    }
    lines.append(
      "\(text(summary.seconds)) s, \(summary.threadCount) threads, longest gap of the main queue "
        + "\(text(summary.gap.inSeconds)) s")
    return lines.joined(separator: "\n") + "\n\n"
  }

  /// Returns a comparison of all techniques.
  private static func comparison(of summaries: [Summary]) -> String {
    let width = summaries.map(\.technique.title.count).max() ?? 0
    var lines = [pad("technique", width) + "  seconds  threads  gap (s)  order of tasks"]
    for summary in summaries {
      let tasks = summary.items.map(\.task)
      let isSerial = tasks == tasks.sorted()
      lines.append(
        pad(summary.technique.title, width) + pad(text(summary.seconds), 9, before: true)
          + pad("\(summary.threadCount)", 9, before: true) + pad(text(summary.gap.inSeconds), 9, before: true)
          + "  " + (isSerial ? "one after another" : "mixed"))
    }
    lines.append("No technique is the best: each has its strengths and weaknesses. Test which one suits you.")
    return lines.joined(separator: "\n") + "\n"
  }

  private static func text(_ seconds: Double) -> String { String(format: "%.3f", seconds) }

  private static func pad(_ text: String, _ width: Int, before: Bool = false) -> String {
    let space = String(repeating: " ", count: max(0, width - text.count))
    return before ? space + text : text + space
  }
}
