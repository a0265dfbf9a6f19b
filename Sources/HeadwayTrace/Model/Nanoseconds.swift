// The formats and the critical path compute with whole nanoseconds.

extension Duration {
  /// The whole nanoseconds of the duration; the closest number if it is out of range.
  var nanoseconds: Int64 {
    Int64(clamping: Int128(components.seconds) * 1_000_000_000 + Int128(components.attoseconds / 1_000_000_000))
  }
}

extension TraceRecording.Operation {
  var added: Int64? { addedTime?.nanoseconds }
  var ready: Int64? { readyTime?.nanoseconds }
  var finished: Int64? { finishedTime?.nanoseconds }
}

extension TraceRecording.Run {
  var start: Int64 { startTime.nanoseconds }
  var end: Int64? { endTime?.nanoseconds }
}

extension TraceRecording.Interval {
  var start: Int64 { startTime.nanoseconds }
  var end: Int64? { endTime?.nanoseconds }
}

extension TraceRecording.Span {
  var start: Int64 { startTime.nanoseconds }
  var end: Int64? { endTime?.nanoseconds }
}

extension CriticalPath.Step {
  var start: Int64 { startTime.nanoseconds }
  var end: Int64 { endTime.nanoseconds }
  var wait: Int64 { waitDuration.nanoseconds }
}
