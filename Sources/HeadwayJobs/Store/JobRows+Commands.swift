@_spi(JobStore) extension JobRows {
  /// Changes jobs or a queue.
  ///
  /// - Parameter command: The command to execute.
  /// - Throws: ``JobError``, or an error of the store.
  /// - Returns: The number of jobs or queues that were changed.
  public func perform(_ command: JobCommand) throws -> Int { try perform(command, by: nil) }

  /// Changes jobs or a queue.
  ///
  /// - Parameters:
  ///   - command: The command to execute.
  ///   - notes: The changes, if they are recorded; otherwise nil.
  /// - Throws: ``JobError``, or an error of the store.
  /// - Returns: The number of jobs or queues that were changed.
  func perform(_ command: JobCommand, noting notes: inout JobsChangeNotes?) throws -> Int {
    switch command {
    case .cancel:
      return try change(for: command, &notes) { job in
        if job.state == .running, !job.isCancelRequested { hints.hasCancellation = true }
        return JobTransitions.cancel(&job, at: now)
      }
    case .abandon:
      return try change(for: command, &notes) { job in
        if job.state == .running { hints.hasCancellation = true }
        return JobTransitions.abandon(&job, at: now)
      }
    case .retry: return try retry(command, &notes)
    case .delete: return try delete(command, &notes)
    case .prune: return try prune()
    case .change(_, .dueTime(let time)): return try reschedule(command, to: time, &notes)
    case .signal(_, let signal): return try send(signal, command, &notes)
    case .change(_, let change):
      return try self.change(for: command, &notes) { JobTransitions.change(&$0, change, at: now) }
    case .setPaused(let queue, let isPaused): return try change(queue, &notes) { $0.setPaused(isPaused) }
    case .configure(let queue, let setting): return try change(queue, &notes) { $0.set(setting) }
    case .setMuted(let id, let note, let author): return try setMuted(id, note: note, author: author, &notes)
    }
  }

  /// Changes unfinished jobs by a function that returns whether it has changed the job.
  private func change(
    for command: JobCommand, _ notes: inout JobsChangeNotes?, _ body: (inout JobRecord) -> Bool
  ) throws -> Int {
    let changed = try select(for: command, &notes, where: body)
    try put(changed)
    return changed.count
  }

  private func reschedule(
    _ command: JobCommand, to time: StoreTime?, _ notes: inout JobsChangeNotes?
  ) throws -> Int {
    let jobs = try select(for: command, &notes) { JobTransitions.change(&$0, .dueTime(time), at: now) }
    try putAtEnd(jobs)
    return jobs.count
  }

  private func delete(_ command: JobCommand, _ notes: inout JobsChangeNotes?) throws -> Int {
    let jobs = try select(for: command, prepare: { _ in }, where: { _ in true })
    for job in jobs { notes?.note(job, nil) }
    return try delete(jobs.map(\.id))
  }

  /// Selects jobs by a function that changes them and returns whether it has, and notes the changes.
  private func select(
    for command: JobCommand, _ notes: inout JobsChangeNotes?, where body: (inout JobRecord) -> Bool
  ) throws -> [JobRecord] {
    try select(
      for: command, prepare: { _ in },
      where: { job in
        // Without notes, the job is not copied.
        guard notes != nil else { return body(&job) }
        let old = job
        let isChanged = body(&job)
        if isChanged { notes?.note(old, job) }
        return isChanged
      })
  }

  /// Changes a queue and notes the change.
  private func change(
    _ queue: String, _ notes: inout JobsChangeNotes?, _ body: (inout JobQueueRecord) -> Void
  ) throws -> Int {
    try changeQueue(queue) { record in
      let old = record
      body(&record)
      notes?.note(old, record)
    }
  }

  /// Changes the mute of a group of failed attempts, and notes the change.
  private func setMuted(
    _ id: JobErrorGroup.ID, note: String?, author: String?, _ notes: inout JobsChangeNotes?
  ) throws -> Int {
    let former = notes == nil ? nil : try errorMute(of: id)
    let mute = note.map { JobErrorGroup.Mute(note: $0, author: author, time: now) }
    guard try setMute(mute, of: id) else { return 0 }
    notes?.note("note", from: former?.note, to: mute?.note)
    return 1
  }

  private func retry(_ command: JobCommand, _ notes: inout JobsChangeNotes?) throws -> Int {
    var (retries, keys, former) = (JobRetries(), JobKeys(), [JobID: JobRecord]())
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
          guard retries.jobs.count > count else { return false }
          if notes != nil { former[job.id] = job }
          return true
        })
    }
    if retries.jobs.isEmpty, let refusal = retries.refusal { throw refusal }
    try willRestart(retries.jobs)
    for job in try restart(retries) { if let old = former[job.id] { notes?.note(old, job) } }
    return retries.jobs.count
  }
}
