import Glibc
import Headway
import HeadwayTrace
import Synchronization

extension Workload {
  /// The processor time of operations without work while a trace is recorded, divided by the time without a trace.
  static let traceEmpty = traced("trace-empty", microseconds: 0)

  /// The same with operations that each need 10 µs of processor time.
  static let traceShort = traced("trace-10us", microseconds: 10)

  /// The processor time of independent operations while a trace is recorded, from creating the first until the last has
  /// finished, divided by the same time without a trace.
  ///
  /// The samples are the ratios of several pairs of runs, with and without a trace in turn, until the time limit.
  /// Starting and stopping the trace is not measured.
  ///
  /// The workload measures processor time instead of elapsed time, because the bodies keep all processors busy, and
  /// other processes would affect the elapsed time.
  ///
  /// The figures are the median times with and without a trace, in nanoseconds per operation.
  private static func traced(_ name: String, microseconds: Double) -> Workload {
    Workload(name: name) { rival, count in
      guard let rival = rival as? HeadwayRival else { return nil }
      let turns = Spinning.turns(microseconds: microseconds)
      func nanoseconds(_ count: Int) -> Double {
        Memory.trim()
        let counter = Counter()
        let before = Self.processorSeconds
        do {
          rival.run(count: count) {
            if turns > 0 { Spinning.turn(turns) }
            counter.increment()
          }
        }
        let seconds = Self.processorSeconds - before
        counter.require(count)
        return seconds / Double(count) * 1e9
      }
      func tracedNanoseconds(_ count: Int) -> Double {
        // Each thread has room for all events, so that none is lost.
        let trace = Trace.start(maxEventCountPerThread: 10 * count)
        let time = nanoseconds(count)
        let recording = trace.stop()
        precondition(recording.lostEventCount == 0 && recording.operations.count == count, "The trace lacks events.")
        return time
      }
      let smaller = max(1000, count / 10)
      _ = (nanoseconds(smaller), tracedNanoseconds(smaller))
      let start = ContinuousClock.now
      var (plain, traced): ([Double], [Double]) = ([], [])
      repeat {
        plain.append(nanoseconds(count))
        traced.append(tracedNanoseconds(count))
      } while plain.count < 20 && Stopwatch.seconds(since: start) < TimeLimit.seconds
      return Report(
        samples: zip(plain, traced).map { $1 / $0 }, figures: ["plain": plain.median, "traced": traced.median])
    }
  }

  /// The processor time that the process has used, in seconds.
  private static var processorSeconds: Double {
    var time = timespec()
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
    return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
  }

  /// The cost of checking whether a trace is recorded, while none is.
  ///
  /// The result is in nanoseconds per call of `Trace.mark(_:)`, which does nothing else while no trace is recorded. An
  /// operation makes the same check three times.
  static let traceOff = Workload(name: "trace-off") { rival, count in
    guard rival is HeadwayRival else { return nil }
    let name = "mark"
    return Report(samples: Stopwatch.nanosecondsEach(count: count) { for _ in 0..<count { Trace.mark(name) } })
  }

  /// The longest time that another thread takes to read `operationCount`, which acquires the lock of the queue, while
  /// a snapshot of a suspended queue describes `count` operations.
  ///
  /// The result is in milliseconds, with one sample per snapshot. It is an upper bound on the time that the snapshot
  /// holds the lock, because the system can also preempt the reading thread. That thread does not add operations,
  /// because adding one also waits for the memory allocator while the snapshot frees its lists.
  ///
  /// The figures are:
  /// - the median of the longest reads in periods of the same length without a snapshot, in milliseconds
  /// - the time within which 99.9% of the reads end, with and without a snapshot, in microseconds
  /// - the duration of a snapshot, in milliseconds.
  static let snapshotDelay = Workload(name: "snapshot-delay") { rival, count in
    guard rival is HeadwayRival else { return nil }
    let queue = OperationQueue()
    queue.isSuspended = true
    for _ in 0..<count { queue.addOperation {} }

    /// Reads the count while `body` runs, then returns how long each read took, in milliseconds.
    func reads(during body: () -> Void) -> [Double] {
      let hasEnded = Atomic(false)
      let (begins, ends) = (Semaphore(), Semaphore())
      let times = Mutex([Double]())
      PlainThread.start {
        var all: [Double] = []
        begins.signal()
        while !hasEnded.load(ordering: .relaxed) {
          all.append(Stopwatch.seconds { _ = queue.operationCount } * 1e3)
          Spinning.turn(Spinning.turns(microseconds: 20))
        }
        times.withLock { $0 = all }
        ends.signal()
      }
      begins.wait()
      body()
      hasEnded.store(true, ordering: .relaxed)
      ends.wait()
      return times.withLock { $0 }
    }

    let start = ContinuousClock.now
    var (longest, longestAlone, all, allAlone, lengths) = ([Double](), [Double](), [Double](), [Double](), [Double]())
    repeat {
      var seconds = 0.0
      let during = reads { seconds = Stopwatch.seconds { _ = queue.snapshot(maxOperationCount: count) } }
      let alone = reads {
        let end = ContinuousClock.now + .seconds(seconds)
        while ContinuousClock.now < end { Spinning.turn(1000) }
      }
      (longest, longestAlone) = (longest + [during.max() ?? 0], longestAlone + [alone.max() ?? 0])
      (all, allAlone, lengths) = (all + during, allAlone + alone, lengths + [seconds * 1e3])
    } while longest.count < 20 && Stopwatch.seconds(since: start) < TimeLimit.seconds
    return Report(
      samples: longest,
      figures: [
        "alone": longestAlone.median, "read": all.quantile(0.999) * 1e3, "readAlone": allAlone.quantile(0.999) * 1e3,
        "snapshot": lengths.median,
      ])
  }
}
