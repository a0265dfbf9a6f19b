import Foundation
import Headway

extension TraceRecording {
  /// Renders the format ``TraceFormat/chromeTrace``.
  func chromeTrace() -> String {
    let file = ChromeTraceFile(
      traceEvents: ChromeTraceBuilder(self).events,
      displayTimeUnit: duration < .milliseconds(1) ? "ns" : "ms",
      otherData: ["lostEventCount": String(lostEventCount)])
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    do {
      return String(decoding: try encoder.encode(file), as: UTF8.self)
    } catch {
      // The structures contain only strings, integers, and finite numbers.
      misuse("A trace cannot be encoded: \(error)")
    }
  }
}
