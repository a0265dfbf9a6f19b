import CoreMetrics
import Synchronization

/// Collects metrics in memory and writes them in Prometheus' text format.
///
/// In your own server, use a package for this, such as swift-prometheus. See `Docs/decisions/0036-observability.md`.
final class PrometheusRegistry: MetricsFactory {
  /// Identifies a time series: the name and the labels, as they are written.
  private struct Key: Hashable, Comparable {
    let name: String
    let labels: String

    init(_ label: String, _ suffix: String, _ dimensions: [(String, String)]) {
      name = Self.name(label) + suffix
      labels = dimensions.map { "\(Self.name($0))=\"\(Self.escaped($1))\"" }.joined(separator: ",")
    }

    /// The text, with an underscore instead of each character that a name can't contain.
    private static func name(_ text: String) -> String {
      String(text.map { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "_") ? $0 : "_" })
    }

    private static func escaped(_ text: String) -> String {
      text.reduce(into: "") { result, character in
        switch character {
        case "\\": result += "\\\\"
        case "\"": result += "\\\""
        case "\n": result += "\\n"
        default: result.append(character)
        }
      }
    }

    static func < (left: Key, right: Key) -> Bool { (left.name, left.labels) < (right.name, right.labels) }
  }

  // Nothing is called under the lock.
  private let series = Mutex<[Key: any TimeSeries]>([:])

  private func find<Series: TimeSeries>(_ key: Key, _ make: () -> Series) -> Series {
    series.withLock { series in
      if let known = series[key] as? Series { return known }
      let new = make()
      series[key] = new
      return new
    }
  }

  func makeCounter(label: String, dimensions: [(String, String)]) -> any CounterHandler {
    find(Key(label, "_total", dimensions)) { CounterSeries() }
  }

  func makeMeter(label: String, dimensions: [(String, String)]) -> any MeterHandler {
    find(Key(label, label.hasSuffix("duration") ? "_seconds" : "", dimensions)) { GaugeSeries() }
  }

  func makeRecorder(label: String, dimensions: [(String, String)], aggregate: Bool) -> any RecorderHandler {
    guard aggregate else { return find(Key(label, "", dimensions)) { GaugeSeries() } }
    return find(Key(label, "", dimensions)) { HistogramSeries() }
  }

  func makeTimer(label: String, dimensions: [(String, String)]) -> any TimerHandler {
    find(Key(label, "_seconds", dimensions)) { HistogramSeries() }
  }

  // A time series remains for the rest of the process.
  func destroyCounter(_ handler: any CounterHandler) {}
  func destroyMeter(_ handler: any MeterHandler) {}
  func destroyRecorder(_ handler: any RecorderHandler) {}
  func destroyTimer(_ handler: any TimerHandler) {}

  /// All metrics, in the text format of version 0.0.4.
  func text() -> String {
    var (text, name) = ("", "")
    for (key, series) in series.withLock({ $0 }).sorted(by: { $0.key < $1.key }) {
      if key.name != name { text += "# TYPE \(key.name) \(series.type)\n" }
      name = key.name
      for sample in series.samples {
        let labels = [key.labels, sample.label].filter { !$0.isEmpty }.joined(separator: ",")
        text += key.name + sample.suffix + (labels.isEmpty ? "" : "{\(labels)}") + " \(sample.value)\n"
      }
    }
    return text
  }
}
