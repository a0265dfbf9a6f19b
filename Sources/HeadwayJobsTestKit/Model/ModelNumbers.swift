@_spi(JobStore) import HeadwayJobs

/// Maps the job and worker IDs of one store to the IDs of another.
struct ModelNumbers: Sendable {
  var jobs: [JobID: JobID] = [:]
  var workers: [WorkerID: WorkerID] = [:]

  func translate(_ id: JobID) -> JobID { jobs[id] ?? id }

  func translate(_ worker: WorkerID) -> WorkerID { workers[worker] ?? worker }

  func translate(_ fence: JobFence) -> JobFence {
    JobFence(id: translate(fence.id), attempt: fence.attempt, epoch: fence.epoch, owner: translate(fence.owner))
  }

  func translate(_ job: JobRecord) -> JobRecord {
    var job = job
    job.id = translate(job.id)
    job.owner = job.owner.map(translate)
    if let culprit = job.reason?.culprit { job.reason?.culprit = translate(culprit) }
    var history = JobHistory()
    for error in job.history.errors { history.append(error) }
    for var transition in job.history.transitions {
      transition.worker = transition.worker.map(translate)
      history.append(transition)
    }
    job.history = history
    return job
  }

  func translate(_ filter: JobFilter) -> JobFilter {
    var filter = filter
    filter.ids = filter.ids?.map(translate)
    filter.culprit = filter.culprit.map(translate)
    return filter
  }

  func translate(_ job: NewJob) -> NewJob {
    var job = job
    job.dependencies = job.dependencies.map { dependency in
      guard case .job(let id) = dependency.target else { return dependency }
      return JobDependency(.job(translate(id)), requiring: dependency.requirement)
    }
    return job
  }

  func translate(_ content: FencedWrite.Content) -> FencedWrite.Content {
    switch content {
    case .enqueue(let new): .enqueue(translate(new))
    case .enqueueBatch(let new, let isBefore): .enqueueBatch(new.map(translate), beforeDependents: isBefore)
    case .checkpoint, .progress, .log, .wait: content
    }
  }

  func translate(_ edge: JobEdge) -> JobEdge {
    JobEdge(
      dependency: translate(edge.dependency), dependent: translate(edge.dependent), requirement: edge.requirement,
      status: edge.status)
  }

  func translate(_ command: JobCommand) -> JobCommand {
    switch command {
    case .cancel(let filter): .cancel(translate(filter))
    case .abandon(let filter): .abandon(translate(filter))
    case .retry(let filter): .retry(translate(filter))
    case .delete(let filter): .delete(translate(filter))
    case .change(let filter, let change): .change(translate(filter), change)
    case .signal(let filter, let signal): .signal(translate(filter), signal)
    case .setPaused, .configure, .setMuted, .prune: command
    }
  }

  func translate(_ command: ModelCommand) -> ModelCommand {
    switch command {
    case .exchange(let exchange):
      .exchange(
        JobExchange(
          worker: translate(exchange.worker),
          endings: exchange.endings.map { JobEnding(translate($0.fence), $0.action) }, claims: exchange.claims))
    case .enqueue(let jobs, let elsewhere): .enqueue(jobs.map(translate), elsewhere: elsewhere)
    case .write(let writes): .write(writes.map { FencedWrite(translate($0.fence), translate($0.content)) })
    case .edges(let ids): .edges(ids.map(translate))
    case .checkpoint(let name, let id): .checkpoint(name, translate(id))
    case .beat(let worker, let attempts): .beat(translate(worker), attempts.map(translate))
    case .unregister(let worker, let isRunning): .unregister(translate(worker), isRunningCode: isRunning)
    case .kill(let worker): .kill(translate(worker))
    case .perform(let command, let elsewhere): .perform(translate(command), elsewhere: elsewhere)
    case .jobs(let filter, let id, let limit): .jobs(translate(filter), after: id.map(translate), limit: limit)
    case .register, .rescue, .moveClock, .advance, .counts, .snapshot, .schedule, .schedules: command
    }
  }

  func translate(_ answer: ModelAnswer) -> ModelAnswer {
    switch answer {
    case .enqueued(let answers): .enqueued(answers.map(translate))
    case .exchange(let answer):
      .exchange(JobExchangeAnswer(verdicts: answer.verdicts, claimed: answer.claimed.map { $0.map(translate) }))
    case .written(let answers):
      .written(
        answers.map { answer in
          switch answer {
          case .enqueued(let child): .enqueued(translate(child))
          case .enqueuedBatch(let children): .enqueuedBatch(children.map(translate))
          case .written, .waited, .waits, .queueFull, .refused: answer
          }
        })
    case .worker(let worker): .worker(translate(worker))
    case .beat(let beat):
      .beat(
        WorkerBeat(
          isRegistered: beat.isRegistered, cancellations: Set(beat.cancellations.map(translate)),
          lost: Set(beat.lost.map(translate))))
    case .rescued(let ids): .rescued(Set(ids.map(translate)))
    case .jobs(let jobs): .jobs(jobs.map(translate))
    case .snapshot(let snapshot): .snapshot(translate(snapshot))
    case .scheduled(let answer): .scheduled(translate(answer))
    case .schedules(let schedules):
      .schedules(
        schedules.map { schedule in
          var schedule = schedule
          schedule.lastJob = schedule.lastJob.map(translate)
          return schedule
        })
    case .edges(let edges): .edges(edges.map(translate))
    case .none, .checkpoint, .time, .changed, .counts, .error: answer
    }
  }

  private func translate(_ snapshot: JobsSnapshot) -> JobsSnapshot {
    var snapshot = snapshot
    for queue in snapshot.queues.indices {
      for index in snapshot.queues[queue].waiting.indices {
        snapshot.queues[queue].waiting[index].first = translate(snapshot.queues[queue].waiting[index].first)
      }
    }
    for worker in snapshot.workers.indices {
      snapshot.workers[worker].id = translate(snapshot.workers[worker].id)
      for index in snapshot.workers[worker].running.indices {
        snapshot.workers[worker].running[index].id = translate(snapshot.workers[worker].running[index].id)
      }
    }
    for index in snapshot.failures.indices { snapshot.failures[index].last = translate(snapshot.failures[index].last) }
    return snapshot
  }

  private func translate(_ answer: ScheduleAnswer) -> ScheduleAnswer {
    var answer = answer
    answer.job = answer.job.map(translate)
    return answer
  }

  private func translate(_ enqueued: Enqueued) -> Enqueued {
    Enqueued(id: translate(enqueued.id), isNew: enqueued.isNew)
  }
}
