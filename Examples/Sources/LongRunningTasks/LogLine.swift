public import Foundation

/// The lines of the sample's log: time, program, process, thread, technique, and event.
public struct LogLine: Sendable {
  private let formatter: DateFormatter
  private let process = ProcessInfo.processInfo.processIdentifier

  /// Creates a formatter of lines with times in the given zone.
  ///
  /// - Parameter timeZone: The zone of the printed times. The default is the current time zone.
  public init(timeZone: TimeZone = .current) {
    formatter = DateFormatter()
    formatter.locale = Locale(identifier: "en_US_POSIX")
    formatter.timeZone = timeZone
    formatter.dateFormat = "yyyy-MM-dd HH:mm:ss.SSS"
  }

  /// Returns the line for an event.
  ///
  /// - Parameters:
  ///   - event: The event to describe.
  ///   - technique: The technique of the run.
  /// - Returns: The formatted line; nil for events that the sample does not log.
  public func text(of event: TaskEvent, _ technique: Technique) -> String? {
    guard let message = Self.message(of: event.kind, technique) else { return nil }
    let microseconds = Int((event.date.timeIntervalSince1970 * 1_000_000).rounded(.down)) % 1_000
    let offset = formatter.timeZone.secondsFromGMT(for: event.date)
    let zone = String(
      format: "%@%02d%02d", offset < 0 ? "-" : "+", abs(offset) / 3_600, abs(offset) / 60 % 60)
    let time = formatter.string(from: event.date) + String(format: "%03d", microseconds) + zone
    return "\(time) LongRunningTasks[\(process):\(event.thread)] \(message)"
  }

  private static func message(of kind: TaskEvent.Kind, _ technique: Technique) -> String? {
    switch kind {
    case .added(let task, let item): "\(technique.logName) Added \(task)-\(item)"
    case .completed(let task): "Operation #\(task) completed."
    case .began, .shown, .ended, .finished: nil
    }
  }
}
