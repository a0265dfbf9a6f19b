import Synchronization

extension Operation {
  /// Implements the setter of ``name``.
  final func setName(_ name: String?) {
    links.withLock { links in
      if name != nil || links.details != nil { links.detailsCreatedIfNeeded.pointee.name = name }
    }
    state.announceDetails()
  }

  /// Implements ``description``.
  final var shortDescription: String {
    if case .failure(let error)? = outcome {
      let member = labelOfFailedMember.map { " in \($0)" } ?? ""
      return "\(label) (\(isCancelled ? "cancelled" : "failed")\(member): \(error))"
    }
    return "\(label) (\(stateName)\(isCancelled ? ", cancelled" : ""))"
  }

  /// The operation's name in quotation marks, or its type if it has no name.
  final var label: String { name.map { "“\($0)”" } ?? "\(type(of: self))" }

  private var stateName: String {
    if isFinished { return "finished" }
    if isExecuting { return "executing" }
    return isReady ? "ready" : "pending"
  }
}
