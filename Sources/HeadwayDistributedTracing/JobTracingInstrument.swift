#if Observability && Jobs
import HeadwayJobs
import Synchronization
import Tracing

/// Records spans of the attempts of jobs.
struct JobTracingInstrument: JobTracing {
  private let tracer: any Tracer

  init(_ tracer: any Tracer) { self.tracer = tracer }

  func traceContext() -> [String: String]? {
    guard let context = ServiceContext.current else { return nil }
    var carrier: [String: String] = [:]
    tracer.inject(context, into: &carrier, using: DictionaryInjector())
    return carrier.isEmpty ? nil : carrier
  }

  func startSpan(of context: JobContext) -> any JobSpan {
    let span = tracer.startAnySpan(context.job.kind.rawValue, context: .topLevel, ofKind: .consumer)
    if let carrier = context.job.settings.traceContext {
      var origin = ServiceContext.topLevel
      tracer.extract(carrier, into: &origin, using: DictionaryExtractor())
      span.addLink(SpanLink(context: origin, attributes: [:]))
    }
    if span.isRecording {
      span.updateAttributes { attributes in
        attributes["headway.job.id"] = context.id.rawValue
        attributes["headway.job.queue"] = context.job.queue
        attributes["headway.job.attempt"] = context.attempt
      }
    }
    return TracedJob(span)
  }
}

/// The span of an attempt, which ends once.
private final class TracedJob: JobSpan {
  private let span: any Span
  private let hasEnded = Atomic(false)

  init(_ span: any Span) { self.span = span }

  deinit {
    // The worker has given the attempt up.
    if !hasEnded.load(ordering: .relaxed) { span.end() }
  }

  func run(_ body: @Sendable () async throws -> Void) async throws {
    try await ServiceContext.withValue(span.context) { try await body() }
  }

  func end(_ action: JobEnding.Action, _ error: (any Error)?) {
    hasEnded.store(true, ordering: .relaxed)
    if span.isRecording { span.attributes["headway.job.status"] = action.status }
    guard let error else { return span.end() }
    span.end(with: error)
  }
}

private struct DictionaryInjector: Injector {
  func inject(_ value: String, forKey key: String, into carrier: inout [String: String]) { carrier[key] = value }
}

private struct DictionaryExtractor: Extractor {
  func extract(key: String, from carrier: [String: String]) -> String? { carrier[key] }
}
#endif
