import MetricsTestKit

/// Metrics in the JSON format of OTLP, as one request to `/v1/metrics`.
struct OTLPMetrics: Encodable {
  struct Resource: Encodable {
    let resource: OTLPResource
    let scopeMetrics: [Scope]
  }

  struct Scope: Encodable {
    let scope: OTLPScope
    let metrics: [Metric]
  }

  struct Metric: Encodable {
    let name: String
    var sum: Sum?
    var gauge: Gauge?
    var summary: Summary?
  }

  struct Sum: Encodable {
    let dataPoints: [Point]
    /// Each value counts everything since the program started.
    let aggregationTemporality = 2
    let isMonotonic = true
  }

  struct Gauge: Encodable { let dataPoints: [Point] }
  struct Summary: Encodable { let dataPoints: [Point] }

  /// A value, or for a summary, the number of values and their sum in seconds.
  struct Point: Encodable {
    var attributes: [OTLPAttribute]
    var timeUnixNano = OTLPFile.now
    var asInt: String?
    var asDouble: Double?
    var count: String?
    var sum: Double?
  }

  let resourceMetrics: [Resource]

  /// - Parameters:
  ///   - metrics: The metrics, each with its latest values.
  ///   - resource: Attributes that describe this program, such as its `service.name`.
  init(_ metrics: TestMetrics, of resource: [OTLPAttribute]) {
    let counters = metrics.counters.map { counter in
      let point = Point(attributes: counter.attributes, asInt: "\(counter.totalValue)")
      return Metric(name: counter.label, sum: Sum(dataPoints: [point]))
    }
    let meters = metrics.meters.map { meter in
      let point = Point(attributes: meter.attributes, asDouble: meter.lastValue ?? 0)
      return Metric(name: meter.label, gauge: Gauge(dataPoints: [point]))
    }
    let timers = metrics.timers.map { timer in
      let seconds = timer.values.reduce(0.0) { $0 + Double($1) / 1e9 }
      let point = Point(attributes: timer.attributes, count: "\(timer.values.count)", sum: seconds)
      return Metric(name: timer.label, summary: Summary(dataPoints: [point]))
    }
    let scope = Scope(scope: OTLPScope(), metrics: counters + meters + timers)
    resourceMetrics = [Resource(resource: OTLPResource(attributes: resource), scopeMetrics: [scope])]
  }
}

/// A metric with a name and dimensions.
protocol Labeled {
  var label: String { get }
  var dimensions: [(String, String)] { get }
}

extension TestCounter: Labeled {}
extension TestMeter: Labeled {}
extension TestTimer: Labeled {}

extension Labeled {
  var attributes: [OTLPAttribute] { dimensions.map { OTLPAttribute($0.0, $0.1) } }

  /// The name and the dimensions, such as `headway.operations{queue=photos,status=failed}`.
  var summary: String {
    label + "{" + dimensions.map { "\($0.0)=\($0.1)" }.sorted().joined(separator: ",") + "}"
  }
}
