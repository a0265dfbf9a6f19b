extension UnownedJob {
  /// The task that this job belongs to; nil for another kind of job, or without ``RuntimeLayout/jobs``.
  ///
  /// A job begins with an object header and two words for its executor. The job's kind follows (0 means a task), then
  /// its priority. If it differs from the priority that the runtime returns, the layout has changed, and this is nil.
  /// In that case, a job keeps the priority that its task had when it was added.
  ///
  /// The job must not have run.
  var task: UnsafeCurrentTask? {
    guard RuntimeLayout.jobs.isKnown else { return nil }
    let flags = unsafeBitCast(self, to: UnsafeRawPointer.self).advanced(by: 4 * MemoryLayout<UInt>.size)
    let isTask = flags.load(as: UInt8.self) == 0 && flags.load(fromByteOffset: 1, as: UInt8.self) == priority.rawValue
    return isTask ? unsafeBitCast(self, to: UnsafeCurrentTask.self) : nil
  }
}
