extension OperationProtocol {
  /// How many units of its queue's ``OperationQueue/progress`` this operation completes.
  ///
  /// The default is 1. Set it for operations that take much longer than others, so that the progress of the queue
  /// advances evenly. The `totalUnitCount` of that progress is then the sum of all operations' units. The
  /// ``progress`` of a ``GroupOperation`` adds them up itself.
  ///
  /// ```swift
  /// let download = BlockOperation { try draw("photo") }
  /// download.progressUnitCount = 9
  /// let report = BlockOperation { print("done") }
  ///
  /// queue.progress.totalUnitCount = download.progressUnitCount + report.progressUnitCount
  /// queue.addOperations([download, report], waitUntilFinished: false)
  /// ```
  ///
  /// This is the counterpart of the pending unit count in ``OperationProgress/addChild(_:withPendingUnitCount:)``.
  /// While the operation runs, its own ``progress`` counts as a fraction of these units. An operation with 0 units does
  /// not affect the progress of its queue. Setting the property has no effect after the operation was added to a queue.
  ///
  /// - Precondition: The value is not negative.
  @_disfavoredOverload
  public var progressUnitCount: Int64 {
    get { knownProgressUnitCount }
    set { setProgressUnitCount(newValue) }
  }
}

extension Operation {
  /// The value of ``OperationProtocol/progressUnitCount``, even if a subclass hides it.
  final var knownProgressUnitCount: Int64 {
    guard state.current.isDetailed else { return 1 }
    return links.withLock { $0.details?.pointee.rareDetails?.progressUnitCount ?? 1 }
  }

  fileprivate final func setProgressUnitCount(_ count: Int64) {
    require(count >= 0, "progressUnitCount of \(label) was set to \(count): use 0 or more.")
    links.withLock { links in
      let word = state.current
      guard !word.isReserved, word.phase == .pending else { return }
      state.announceDetails()
      links.detailsCreatedIfNeeded.pointee.rareDetailsCreatedIfNeeded.progressUnitCount = count
    }
  }
}
