import Foundation
import Headway

extension TraceRecording {
  /// Returns the recording in Chrome's trace event format, which Perfetto (<https://ui.perfetto.dev>) and
  /// `chrome://tracing` open.
  ///
  /// The file has a track per thread, with a slice per run and span, and an instant per mark. Operations that overlap
  /// on a thread, because they are asynchronous, are on further tracks with the thread's name and a number. Arrows lead
  /// from the end of a dependency to the start of the dependent operation, and from an operation to the operations that
  /// it added. The time from when an operation was added until it started is an asynchronous slice named after its
  /// queue. The details of a slice contain the queue, the result, the error, the number of the attempt, and how long
  /// the operation waited.
  ///
  /// Times are in microseconds since the recording began, with three decimals. A run that had not ended ends with the
  /// recording, and its details contain `isUnfinished`. The numbers of processes and threads are not those of the
  /// operating system.
  ///
  /// - Returns: A JSON object, with its keys sorted.
  /// - Complexity: O(*n* log *n*) in the number of operations, runs, spans, marks, and dependencies.
  public func chromeTrace() -> String {
    let file = ChromeTraceFile(
      traceEvents: ChromeTraceBuilder(self).events,
      displayTimeUnit: duration < TimeUnit.milliseconds.rawValue ? "ns" : "ms",
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
