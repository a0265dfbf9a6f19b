import InMemoryTracing
import ServiceLifecycle
import Synchronization
import Tracing

/// Keeps the last spans, for a page.
///
/// In your own server, export the spans, for example with swift-otel.
struct RecentSpans: Service {
  private final class Spans: Sendable {
    let last = Mutex<[FinishedInMemorySpan]>([])
  }

  // By default, the tracer would keep a record of each request whose headers it reads.
  let tracer = InMemoryTracer(recordInjections: false, recordExtractions: false)
  private let spans = Spans()

  func run() async throws {
    await cancelWhenGracefulShutdown {
      while !Task.isCancelled {
        collect()
        try? await Task.sleep(for: .milliseconds(500))
      }
    }
  }

  private func collect() {
    let finished = tracer.popFinishedSpans().suffix(100)
    spans.last.withLock { $0 = ($0 + finished).suffix(100) }
  }

  /// The last spans, one line per span.
  func text() -> String {
    collect()
    return spans.last.withLock { $0 }.map { span in
      "trace \(span.traceID), span \(span.spanID), in \(span.parentSpanID ?? "none"): \(span.operationName)\n"
    }.joined()
  }
}
