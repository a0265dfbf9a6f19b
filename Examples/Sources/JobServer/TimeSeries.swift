import CoreMetrics
import Synchronization

/// The values of a metric for one set of labels.
protocol TimeSeries: AnyObject, Sendable {
  var type: String { get }
  var samples: [(suffix: String, label: String, value: String)] { get }
}

final class CounterSeries: CounterHandler, TimeSeries {
  private let value = Atomic<Int64>(0)

  func increment(by amount: Int64) { value.wrappingAdd(amount, ordering: .relaxed) }
  func reset() { value.store(0, ordering: .relaxed) }

  let type = "counter"
  var samples: [(suffix: String, label: String, value: String)] { [("", "", "\(value.load(ordering: .relaxed))")] }
}

final class GaugeSeries: MeterHandler, RecorderHandler, TimeSeries {
  private let value = Mutex(0.0)

  func set(_ value: Int64) { set(Double(value)) }
  func set(_ value: Double) { self.value.withLock { $0 = value } }
  func increment(by amount: Double) { value.withLock { $0 += amount } }
  func decrement(by amount: Double) { value.withLock { $0 -= amount } }
  func record(_ value: Int64) { set(Double(value)) }
  func record(_ value: Double) { set(value) }

  let type = "gauge"
  var samples: [(suffix: String, label: String, value: String)] { [("", "", "\(value.withLock { $0 })")] }
}

/// Counts values in buckets; times are in seconds.
final class HistogramSeries: TimerHandler, RecorderHandler, TimeSeries {
  private static let bounds = [0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 10, 60]

  private struct State {
    var counts = [Int](repeating: 0, count: bounds.count + 1)
    var sum = 0.0
  }

  private let state = Mutex(State())

  func recordNanoseconds(_ duration: Int64) { record(Double(duration) / 1e9) }
  func record(_ value: Int64) { record(Double(value)) }
  func record(_ value: Double) {
    let bucket = Self.bounds.firstIndex { value <= $0 } ?? Self.bounds.count
    state.withLock { state in
      state.counts[bucket] += 1
      state.sum += value
    }
  }

  let type = "histogram"
  var samples: [(suffix: String, label: String, value: String)] {
    let state = state.withLock { $0 }
    var (samples, count) = ([(suffix: String, label: String, value: String)](), 0)
    for (bound, inBucket) in zip(Self.bounds.map { "\($0)" } + ["+Inf"], state.counts) {
      count += inBucket
      samples.append(("_bucket", "le=\"\(bound)\"", "\(count)"))
    }
    return samples + [("_sum", "", "\(state.sum)"), ("_count", "", "\(count)")]
  }
}
