import Foundation
import Tracing

/// A file with a JSON object per line, which the receiver `otlpjsonfile` of the OpenTelemetry Collector reads.
struct OTLPFile {
  let path: String

  static var now: String { "\(DefaultTracerClock.now.nanosecondsSinceEpoch)" }

  /// Appends a request to the file, which is created if needed.
  ///
  /// - Parameter request: Spans or metrics.
  /// - Throws: The error of the encoder or of the file.
  func append(_ request: some Encodable) throws {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    var line = try encoder.encode(request)
    line.append(UInt8(ascii: "\n"))
    if !FileManager.default.fileExists(atPath: path) {
      try Data().write(to: URL(fileURLWithPath: path))
    }
    let file = try FileHandle(forWritingTo: URL(fileURLWithPath: path))
    defer { try? file.close() }
    try file.seekToEnd()
    try file.write(contentsOf: line)
  }
}

/// A description of the program that recorded the spans and metrics.
struct OTLPResource: Encodable { let attributes: [OTLPAttribute] }

/// The library that has recorded them.
struct OTLPScope: Encodable { let name = "headway" }

struct OTLPAttribute: Encodable {
  struct Value: Encodable {
    var stringValue, intValue: String?
    var doubleValue: Double?
    var boolValue: Bool?
  }

  let key: String
  let value: Value

  init(_ key: String, _ text: String) { (self.key, value) = (key, Value(stringValue: text)) }

  init(_ key: String, _ attribute: SpanAttribute) {
    self.key = key
    value =
      switch attribute {
      case .int64(let number): Value(intValue: "\(number)")
      case .int32(let number): Value(intValue: "\(number)")
      case .double(let number): Value(doubleValue: number)
      case .bool(let flag): Value(boolValue: flag)
      case .string(let text): Value(stringValue: text)
      default: Value(stringValue: "\(attribute)")
      }
  }
}
