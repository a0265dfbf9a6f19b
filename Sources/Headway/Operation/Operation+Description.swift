import Synchronization

extension Operation: CustomStringConvertible, CustomDebugStringConvertible {
  /// What to call the operation, for people: in descriptions and messages.
  ///
  /// Nil by default.
  public final var name: String? {
    get { links.withLock { $0.details?.name } }
    set {
      links.withLock { links in
        if newValue != nil || links.details != nil { links.madeDetails.name = newValue }
      }
    }
  }

  /// The operation's name, or its type where it has none, and its state: `‘parse’ (executing)`.
  public var description: String {
    var states = [stateName]
    if isCancelled { states.append("cancelled") }
    return "\(label) (\(states.joined(separator: ", ")))"
  }

  /// The description with the type, the queue, the priority, the progress and what the operation waits for.
  public var debugDescription: String {
    let (queue, progress) = links.withLock { ($0.queue, $0.details?.progress) }
    var parts = ["\(type(of: self)) \(description)"]
    if let queue { parts.append("in \(queue.label)") }
    if queuePriority != .normal { parts.append("priority \(queuePriority)") }
    if let progress, progress.totalUnitCount > 0 { parts.append("\(Int(progress.fractionCompleted * 100)) % done") }
    let waitedFor = dependencies.filter { !$0.isFinished }.map(\.label)
    if !waitedFor.isEmpty { parts.append("waits for \(waitedFor.joined(separator: ", "))") }
    return parts.joined(separator: "; ")
  }

  /// The name in quotation marks, or the type.
  final var label: String { name.map { "‘\($0)’" } ?? "\(type(of: self))" }

  private var stateName: String {
    if isFinished { return "finished" }
    if isExecuting { return "executing" }
    return isReady ? "ready" : "pending"
  }
}
