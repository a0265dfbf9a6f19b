// Exports the spans and metrics of a queue in the JSON format of OpenTelemetry (OTLP).
//
// Without arguments, the program prints a summary. `Telemetry otlp.jsonl` appends the spans and the metrics to a file,
// which the receiver `otlpjsonfile` of the OpenTelemetry Collector reads.
//
// A server that sends them over the network with swift-otel differs only in the two lines that bootstrap. See the guide
// “Running in servers”.

import Headway
import HeadwayDistributedTracing
import HeadwayMetrics
import InMemoryTracing
import Metrics
import MetricsTestKit
import Tracing

struct Unreachable: Error {}

let tracer = InMemoryTracer(idGenerator: .random)
let metrics = TestMetrics()
InstrumentationSystem.bootstrap(tracer)
MetricsSystem.bootstrap(metrics)

let queue = OperationQueue(name: "photos", maxConcurrentOperationCount: 2)
queue.recordSpans()
queue.recordMetrics()
queue.failureHandler = { _, _ in }

// The spans of the operations are children of the span of this request, on whatever thread they run.
let thumbnail = TaskOperation { withSpan("decode") { _ in } }
let upload = TaskOperation { () async throws in throw Unreachable() }
thumbnail.name = "thumbnail"
upload.name = "upload"
upload.addDependency(thumbnail, requiring: .success)
withSpan("POST /photos") { _ in queue.addOperations([thumbnail, upload], waitUntilFinished: false) }
for operation in [thumbnail, upload] { try await operation.untilFinished() }

let spans = tracer.popFinishedSpans()
if let path = CommandLine.arguments.dropFirst().first {
  let service = [OTLPAttribute("service.name", "photos")]
  try OTLPFile(path: path).append(OTLPSpans(spans, of: service))
  try OTLPFile(path: path).append(OTLPMetrics(metrics, of: service))
} else {
  printChildren(of: nil, indentation: "")
  for counter in metrics.counters.sorted(by: { $0.summary < $1.summary }) where counter.totalValue > 0 {
    print(counter.summary, counter.totalValue)
  }
}

/// Prints the spans below a span, each with the error that it has recorded.
func printChildren(of parent: String?, indentation: String) {
  for span in spans.filter({ $0.parentSpanID == parent }).sorted(by: { $0.operationName < $1.operationName }) {
    let errors = span.errors.map { "\($0.error)" }.joined(separator: ", ")
    print(indentation + span.operationName, errors.isEmpty ? "" : "(\(errors))", separator: errors.isEmpty ? "" : " ")
    printChildren(of: span.spanID, indentation: indentation + "  ")
  }
}
