/// The checks of schedules, cancellations, and clocks.
extension HealthFacts {
  /// The clocks of a store and of this process can differ by this much.
  private static let clockDifference = Duration.seconds(5)
  /// How long a cancelled job can run, from its claim, before its run is a finding.
  private static let cancellation = Duration.seconds(60)
  /// How long ago a missed tick is a finding.
  private static let missedInterval = JobsOverview.endingsInterval

  /// The schedules with a tick that is due, but has not been processed, and its delay.
  package var lateSchedules: [(name: String, delay: Duration)] {
    schedules.compactMap { schedule in
      guard let next = schedule.nextTickTime, next + options.maxTickDelay < overview.time else { return nil }
      return (schedule.name, overview.time - next)
    }
  }

  var ticks: [JobsHealth.Finding] {
    let good = JobsHealth.Finding.good("Schedules", "No tick of a schedule is late.")
    return findings(lateSchedules.sorted { $0.delay > $1.delay }, "schedule", else: good) { name, delay in
      .bad(
        "Schedules",
        "The schedule “\(name)” is \(Readable.duration(delay)) late. Workers add the jobs of schedules, so check that "
          + "one is running.", link: .schedule(name))
    }
  }

  /// Ticks that were processed, but have added no job.
  var gaps: [JobsHealth.Finding] {
    let start = overview.time + (.zero - Self.missedInterval)
    let missed = schedules.compactMap { schedule -> (name: String, gap: ScheduleGap)? in
      guard var gap = schedule.gaps.last, gap.through > start else { return nil }
      // The first gap begins before the schedule was set, or its times were changed.
      gap.after = max(gap.after, schedule.anchorTime)
      return gap.through - gap.after > options.maxTickDelay ? (schedule.name, gap) : nil
    }
    let good = JobsHealth.Finding.good("Ticks", "No tick was missed in the last hour.")
    return findings(missed, "schedule", else: good) { name, gap in
      .warning(
        "Ticks",
        "The schedule “\(name)” has missed its ticks between \(gap.after) and \(gap.through), because no worker was "
          + "running or the schedule was paused. If their jobs are needed, backfill them.", link: .schedule(name))
    }
  }

  var cancellation: [JobsHealth.Finding] {
    let stuck = cancelled.filter { ($0.claimedTime ?? $0.enqueuedTime) + Self.cancellation < overview.time }
    let good = JobsHealth.Finding.good("Cancellation", "No cancelled job continues to run.")
    return findings(stuck, "job", else: good) { job in
      .warning(
        "Cancellation",
        "Job \(job.id) (\(job.settings.label ?? job.kind.rawValue)) was cancelled, but continues to run. Abandon the "
          + "job if its code does not return.", link: .jobs(.id(job.id)))
    }
  }

  var clockFinding: JobsHealth.Finding {
    let difference = overview.time < clock ? clock - overview.time : overview.time - clock
    return difference > Self.clockDifference
      ? .warning(
        "Clock", "The clock of the store differs from that of this machine by \(Readable.duration(difference)).")
      : .good("Clock", "The clock of the store agrees with that of this machine.")
  }
}
