extension JobRows {
  /// Sends a signal to the jobs of a command and returns how many have received it.
  ///
  /// If none of the jobs can receive it, the function throws a ``JobError`` with the code
  /// ``JobError/Code/tooManySignals``.
  func send(
    _ signal: JobSignal, _ command: JobCommand, _ notes: inout JobsChangeNotes?
  ) throws -> Int {
    let jobs = try select(for: command, prepare: { _ in }, where: { _ in true })
    let stored = try checkpoints(StoredSignals.counts, of: jobs.map(\.id))
    var (count, woken, refusal) = (0, [JobRecord](), JobError?.none)
    var rows: [(job: JobID, name: String, value: JobPayload)] = []
    for var job in jobs {
      var counts = try SignalCounts(stored: stored[job.id])
      guard let row = counts.receive(signal.name) else {
        refusal = refusal ?? JobError(signalsOf: job.id)
        continue
      }
      rows += [(job.id, row, signal.value), (job.id, StoredSignals.counts, counts.stored)]
      count += 1
      notes?.note(job.id)
      if JobTransitions.wake(&job, by: signal.name, at: now) { woken.append(job) }
    }
    notes?.note("signal", from: nil, to: signal.name)
    notes?.note("value", from: nil, to: JobsChangeNotes.text(signal.value))
    if count == 0, let refusal { throw refusal }
    if count > 0 { try putCheckpoints(rows) }
    try putAtEnd(woken)
    return count
  }

  /// Wakes jobs whose attempts have ended with waits, if their signals have arrived in the meantime.
  func wakeIfSignalled(_ jobs: inout [JobRecord]) throws {
    func signal(_ job: JobRecord) -> String? { if case .signal(let name)? = job.wait { name } else { nil } }
    let waiting = jobs.indices.filter { signal(jobs[$0]) != nil }
    guard !waiting.isEmpty else { return }
    let stored = try checkpoints(StoredSignals.counts, of: waiting.map { jobs[$0].id })
    for index in waiting {
      guard let name = signal(jobs[index]) else { continue }
      // If the numbers can't be read, the code of the job receives the error, and endings of other jobs are not
      // affected.
      let hasPending = (try? SignalCounts(stored: stored[jobs[index].id]))?.hasPending(name) ?? true
      if hasPending { _ = JobTransitions.wake(&jobs[index], by: name, at: now) }
    }
  }

  /// Begins a wait of a running job, or finds out how it has ended.
  ///
  /// The number counts the equal waits of the job, from 1. The limit is the one in ``FencedWrite/Content``.
  func wait(for wait: JobWait, number: Int, limit: Duration, of id: JobID) throws -> FencedAnswer {
    let name = StoredSignals.outcome(of: wait, number)
    let stored = try checkpoints(name, of: [id])[id]
    var record = try stored.map { try WaitRecord(stored: $0) } ?? WaitRecord(until: now + limit)
    if !record.isOver {
      if case .signal(let signal) = wait {
        var counts = try SignalCounts(stored: checkpoints(StoredSignals.counts, of: [id])[id])
        record.signal = counts.take(signal)
        if record.signal != nil { try putCheckpoints([(id, StoredSignals.counts, counts.stored)]) }
      }
      record.isOver = record.signal != nil || record.until <= now
      if record.isOver || stored == nil { try putCheckpoints([(id, name, record.stored)]) }
    }
    guard record.isOver else { return .waits(until: record.until) }
    guard let row = record.signal else { return .waited(nil) }
    guard let value = try checkpoints(row, of: [id])[id] else {
      throw JobError(.damagedJob, "Job \(id) has lost the value of \(wait), which was in the row \(row).")
    }
    return .waited(value)
  }
}
