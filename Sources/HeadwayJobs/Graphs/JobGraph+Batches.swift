@_spi(JobStore) extension JobGraph {
  /// Returns an order for adding the jobs of a batch, with each job after the jobs that it waits for.
  ///
  /// - Parameter jobs: The jobs of the batch.
  /// - Returns: The indexes of the jobs. Jobs that wait only for earlier jobs remain in their order.
  /// - Throws: ``JobError`` with the code ``JobError/Code/dependencyCycle`` if jobs wait for each other in a cycle, or
  ///   ``JobError/Code/unknownJob`` if one waits for an index that the batch does not have.
  public static func order(of jobs: [NewJob]) throws -> [Int] {
    let dependencies = try jobs.map { try $0.batchDependencies(count: jobs.count) }
    var (order, hasBegun, isDone) = ([Int](), Set<Int>(), Set<Int>())
    for root in jobs.indices where hasBegun.insert(root).inserted {
      // Each job of the path waits for the next one.
      var path = [(index: root, next: 0)]
      while let (index, next) = path.last {
        guard next < dependencies[index].count else {
          order.append(index)
          isDone.insert(index)
          path.removeLast()
          continue
        }
        path[path.count - 1].next += 1
        let dependency = dependencies[index][next]
        if hasBegun.insert(dependency).inserted {
          path.append((dependency, 0))
        } else if !isDone.contains(dependency) {
          throw circle(path.map(\.index).drop { $0 != dependency } + [dependency], jobs)
        }
      }
    }
    return order
  }

  private static func circle(_ indexes: some Collection<Int>, _ jobs: [NewJob]) -> JobError {
    let names = indexes.map { "\(jobs[$0].settings.label ?? jobs[$0].kind.rawValue) (number \($0 + 1))" }
    return JobError(
      .dependencyCycle,
      "Jobs of the batch wait for each other in a cycle, so they could never run: "
        + "\(names.joined(separator: " waits for ")). Remove one of these dependencies.")
  }

  /// Checks that jobs depend only on each other, so that no cycle can arise when other jobs wait for them.
  ///
  /// - Parameter jobs: The jobs that a running job adds before its dependents.
  /// - Throws: ``JobError`` with the code ``JobError/Code/dependencyCycle``.
  public static func checkGrowth(_ jobs: [NewJob]) throws {
    for job in jobs {
      for case .job(let id) in job.dependencies.map(\.target) {
        throw JobError(
          .dependencyCycle,
          "A job of the kind \(job.kind) that is added before the dependents of the running job can't wait for job "
            + "\(id), because that job might wait for the dependents. It can wait for jobs of the same batch.")
      }
    }
  }
}

extension JobError {
  /// Creates the error for a new job that waits for an unknown job.
  init(unknownJob id: JobID, waitedForBy job: NewJob) {
    self.init(
      .unknownJob,
      "A job of the kind \(job.kind) waits for job \(id), which is not in the store: it was deleted after its "
        + "retention, or never existed. Nothing was stored.")
  }
}

extension NewJob {
  /// The indexes of the jobs of the same batch that the job waits for.
  fileprivate func batchDependencies(count: Int) throws -> [Int] {
    try dependencies.compactMap { dependency in
      guard case .batch(let index) = dependency.target else { return nil }
      guard (0..<count).contains(index) else {
        throw JobError(
          .unknownJob, "A job of the kind \(kind) waits for job number \(index + 1) of a batch that has \(count) jobs.")
      }
      return index
    }
  }
}
