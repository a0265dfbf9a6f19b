import InMemoryTracing
import Tracing

/// Spans in the JSON format of OTLP, as one request to `/v1/traces`.
struct OTLPSpans: Encodable {
  struct Resource: Encodable {
    let resource: OTLPResource
    let scopeSpans: [Scope]
  }

  struct Scope: Encodable {
    let scope: OTLPScope
    let spans: [Span]
  }

  struct Span: Encodable {
    let traceId, spanId: String
    let parentSpanId: String?
    let name: String
    let kind: Int
    let startTimeUnixNano, endTimeUnixNano: String
    let attributes: [OTLPAttribute]
    let status: Status

    /// - Parameter span: A span whose identifiers are hexadecimal numbers of 16 and 8 bytes.
    init(_ span: FinishedInMemorySpan) {
      (traceId, spanId, parentSpanId) = (span.traceID, span.spanID, span.parentSpanID)
      name = span.operationName
      kind = span.kind == .server ? 2 : span.kind == .client ? 3 : span.kind == .producer ? 4 : 1
      startTimeUnixNano = "\(span.startInstant.nanosecondsSinceEpoch)"
      endTimeUnixNano = "\(span.endInstant.nanosecondsSinceEpoch)"
      var attributes: [OTLPAttribute] = []
      span.attributes.forEach { attributes.append(OTLPAttribute($0, $1)) }
      self.attributes = attributes + span.errors.map { OTLPAttribute("exception.message", "\($0.error)") }
      status = Status(code: span.status?.code == .error ? 2 : 0)
    }
  }

  struct Status: Encodable {
    /// 0 if it is unset, 2 for an error.
    let code: Int
  }

  let resourceSpans: [Resource]

  /// - Parameters:
  ///   - spans: The spans, in any order.
  ///   - resource: Attributes that describe this program, such as its `service.name`.
  init(_ spans: [FinishedInMemorySpan], of resource: [OTLPAttribute]) {
    let scope = Scope(scope: OTLPScope(), spans: spans.map(Span.init))
    resourceSpans = [Resource(resource: OTLPResource(attributes: resource), scopeSpans: [scope])]
  }
}

extension InMemoryTracer.IDGenerator {
  /// Random identifiers, as OpenTelemetry requires them.
  static var random: Self {
    Self(nextTraceID: { hexadecimal() + hexadecimal() }, nextSpanID: { hexadecimal() })
  }

  private static func hexadecimal() -> String {
    let digits = String(UInt64.random(in: 1 ... .max), radix: 16)
    return String(repeating: "0", count: 16 - digits.count) + digits
  }
}
