@_spi(JobStore) extension JobRows {
  /// Changes jobs or a queue.
  ///
  /// - Parameter command: The command to execute.
  /// - Throws: ``JobError``, or an error of the store.
  /// - Returns: The number of jobs or queues that were changed.
  public func perform(_ command: JobCommand) throws -> Int {
    switch command {
    case .cancel:
      return try change(for: command) { job in
        if job.state == .running, !job.isCancelRequested { hints.hasCancellation = true }
        return JobTransitions.cancel(&job, at: now)
      }
    case .abandon:
      return try change(for: command) { job in
        if job.state == .running { hints.hasCancellation = true }
        return JobTransitions.abandon(&job, at: now)
      }
    case .retry: return try retry(command)
    case .delete: return try delete(select(for: command, prepare: { _ in }, where: { _ in true }).map(\.id))
    case .prune: return try prune()
    case .change(_, .dueTime(let time)): return try reschedule(command, to: time)
    case .signal(_, let signal): return try send(signal, command)
    case .change(_, let change): return try self.change(for: command) { JobTransitions.change(&$0, change, at: now) }
    case .setPaused(let queue, let isPaused): return try changeQueue(queue) { $0.setPaused(isPaused) }
    case .configure(let queue, let setting): return try changeQueue(queue) { $0.set(setting) }
    case .setMuted(let id, let note, let author):
      return try setMute(note.map { JobErrorGroup.Mute(note: $0, author: author, time: now) }, of: id) ? 1 : 0
    }
  }

  /// Changes unfinished jobs by a function that returns whether it has changed the job.
  private func change(for command: JobCommand, _ body: (inout JobRecord) -> Bool) throws -> Int {
    let changed = try select(for: command, prepare: { _ in }, where: body)
    try put(changed)
    return changed.count
  }

  private func reschedule(_ command: JobCommand, to time: StoreTime?) throws -> Int {
    let jobs = try select(
      for: command, prepare: { _ in }, where: { JobTransitions.change(&$0, .dueTime(time), at: now) })
    try putAtEnd(jobs)
    return jobs.count
  }

  private func retry(_ command: JobCommand) throws -> Int {
    var (retries, keys) = (JobRetries(), JobKeys())
    var requirements: [JobID: [(edge: JobEdge, state: JobState?)]] = [:]
    while retries.beginPass() {
      _ = try select(
        for: command,
        prepare: { jobs in
          let accepted = jobs.filter(retries.accepts)
          requirements = try self.requirements(of: accepted.map(\.id))
          // Last, because the first function can wait for locks, and other transactions take keys in the meantime.
          try keys.read(accepted.compactMap(\.settings.unique).filter { $0.duration == nil }, in: self)
        },
        where: { job in
          guard retries.accepts(job) else { return false }
          let count = retries.jobs.count
          let holder = job.settings.unique.flatMap { keys[$0] }
          retries.consider(job, requirements[job.id] ?? [], holder: holder, at: now)
          // The selection ends when enough jobs are chosen.
          return retries.jobs.count > count
        })
    }
    if retries.jobs.isEmpty, let refusal = retries.refusal { throw refusal }
    try willRestart(retries.jobs)
    try restart(retries)
    return retries.jobs.count
  }
}
