import CSystemStatistics
import Glibc
import Synchronization

/// Samples the threads of this process at intervals, from a thread that it does not count.
final class ThreadSampler: Sendable {
  struct Sample {
    let seconds: Double
    /// The number of threads, without the sampler.
    let threads: Int
    /// The number of threads that are running or ready to run.
    ///
    /// 0 if it was not requested.
    let busy: Int
  }

  private struct State {
    var samples: [Sample] = []
    var ends = false
  }

  private let state = Mutex(State())
  private let ended = Semaphore()

  /// Starts sampling.
  ///
  /// With `countsBusy`, it also reads the state of each thread, which costs a few microseconds per thread.
  init(milliseconds: Int, countsBusy: Bool) {
    PlainThread.start { [self] in
      let start = ContinuousClock.now
      let own = String(system_statistics_thread())
      while !state.withLock({ $0.ends }) {
        let sample = Self.look(start: start, except: own, countsBusy: countsBusy)
        state.withLock { $0.samples.append(sample) }
        usleep(UInt32(milliseconds * 1000))
      }
      ended.signal()
    }
  }

  /// Stops sampling and returns the samples.
  func end() -> [Sample] {
    state.withLock { $0.ends = true }
    ended.wait()
    return state.withLock { $0.samples }
  }

  private static func look(start: ContinuousClock.Instant, except own: String, countsBusy: Bool) -> Sample {
    let threads = ProcessFile.entries("/proc/self/task").filter { $0 != own }
    let busy = countsBusy ? threads.count { isBusy(ProcessFile.text("/proc/self/task/\($0)/stat")) } : 0
    return Sample(seconds: Stopwatch.seconds(since: start), threads: threads.count, busy: busy)
  }

  /// The state is the letter after the name.
  ///
  /// The name is in parentheses and can contain parentheses itself.
  private static func isBusy(_ status: String) -> Bool {
    guard let parenthesis = status.lastIndex(of: ")") else { return false }
    return status[parenthesis...].dropFirst(2).first == "R"
  }
}
