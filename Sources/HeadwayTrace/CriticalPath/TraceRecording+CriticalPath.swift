extension TraceRecording {
  /// Returns the chain of operations that determined when the last operation finished.
  ///
  /// Its ``CriticalPath/description`` is in words:
  ///
  /// ```text
  /// 73% of the 4.1 s is work on the path parse → index → commit. For 900 ms, operations on this path waited because
  /// “io” was at its limit (2). Without that limit, the last operation could finish at most 400 ms earlier.
  /// ```
  ///
  /// The path is found backward, from the operation that finished last. The step before an operation is:
  ///
  /// 1. If the operation was ready and waited for the limit of its queue: the operation whose end allowed it to start.
  ///    That is the last one that ended before the start while the queue was full.
  /// 2. Otherwise, if the operation was ready and waited for a thread: the operation that ended last on that thread
  ///    before the start, if it ended during the wait.
  /// 3. Otherwise, if a dependency finished after the operation was added: the dependency that finished last.
  /// 4. Otherwise, the operation that added it. If there is none, the path begins here.
  ///
  /// An operation that had not ended at the end of the recording counts as if it ended then. An operation that was
  /// never started is a step without duration, at the time when it finished. Times that are missing, negative, or in
  /// the wrong order are replaced by the nearest possible ones. Waits under 1 µs are ignored. The limit is the one at
  /// the end of the recording.
  ///
  /// - Returns: The path, or nil if no operation ran or finished.
  /// - Complexity: O(*n* log *n*) in the number of operations, runs, and dependencies.
  public func criticalPath() -> CriticalPath? {
    let model = CriticalPathModel(self)
    let steps = model.steps()
    guard !steps.isEmpty else { return nil }
    let limit = model.longestLimit(of: steps)
    return CriticalPath(
      steps: steps, recordingDuration: .nanoseconds(model.extent), longestLimit: limit,
      description: CriticalPathText(recording: self, extent: model.extent, steps: steps, limit: limit).description)
  }
}
