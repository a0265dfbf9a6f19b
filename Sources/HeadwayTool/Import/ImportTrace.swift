#if SQLite
import ArgumentParser
import Headway
import HeadwayCSV
import HeadwayTrace

/// A trace of an import, and the files that it is written to.
///
/// A file appears under its name only when it is complete.
final class ImportTrace {
  /// The formats, by the extensions of their files.
  enum Format: String, CaseIterable {
    case json, svg, html, dot, mmd

    /// The format of a file.
    ///
    /// - Throws: `ValidationError`, if no format has the extension of the file.
    init(ofFile path: String) throws {
      let name = path.split(separator: "/").last ?? ""
      let ending = name.lastIndex(of: ".").map { name[name.index(after: $0)...].lowercased() } ?? ""
      guard let format = Self(rawValue: ending), !path.hasSuffix("/") else {
        let endings = Self.allCases.map { ".\($0.rawValue)" }
        throw ValidationError(
          "--trace '\(path)': use a file that ends with \(endings.dropLast().joined(separator: ", ")) or "
            + "\(endings[endings.count - 1]).")
      }
      self = format
    }
  }

  private struct File {
    let path: String
    let format: Format
    let output: OutputFile
  }

  private let files: [File]
  // Nil when the trace has been written.
  private var trace: Trace?

  /// Creates the files and starts the recording.
  ///
  /// - Parameter paths: The paths of the files; at least one.
  /// - Throws: ``CSVWriterError``, if a file can't be created, or a `ValidationError`.
  init(paths: [String]) throws {
    files = try paths.map { File(path: $0, format: try Format(ofFile: $0), output: try OutputFile(path: $0)) }
    trace = Trace.start()
  }

  /// Ends the recording and writes the files, unless this has happened before.
  ///
  /// - Parameter isSilent: Whether to print nothing, not even the critical path.
  /// - Returns: The error if a file can't be written.
  func end(isSilent: Bool) -> CSVWriterError? {
    guard let recording = trace?.stop().ofImport else { return nil }
    trace = nil
    var failure: CSVWriterError?
    for file in files {
      do throws(CSVWriterError) { try file.output.write(file.format.text(of: recording)) } catch {
        failure = failure ?? error
      }
    }
    if let failure { return failure }
    guard !isSilent else { return nil }
    if let path = recording.criticalPath() { ToolExit.say("Critical path: \(path)") }
    let lost = recording.lostEventCount
    ToolExit.say(
      "The trace is in \(files.map(\.path).joined(separator: " and "))"
        + (lost > 0 ? "; it lacks \(lost.grouped) events that did not fit." : "."))
    return nil
  }
}

extension OutputFile {
  /// Writes the whole content and completes the file.
  fileprivate func write(_ text: String) throws(CSVWriterError) {
    var text = text
    // Without a copy, because a trace can have hundreds of megabytes.
    let result = text.withUTF8 { bytes in Result { () throws(CSVWriterError) in try write(.init(bytes)) } }
    try result.get()
    try finish()
  }
}

extension ImportTrace.Format {
  /// The content of a file.
  fileprivate func text(of recording: TraceRecording) -> String {
    switch self {
    case .json: recording.render(as: .chromeTrace)
    case .svg: recording.render(as: .svg())
    case .html: recording.render(as: .html)
    case .dot: recording.render(as: .graphviz)
    case .mmd: recording.render(as: .mermaid)
    }
  }
}

extension TraceRecording {
  /// The recording of an import, with its threads combined into fewer rows.
  ///
  /// - The operations without a queue are omitted: an import uses them only to signal that a batch has been written.
  /// - All writes are on one thread called “writer”. They run one after another, on different threads of Dispatch.
  /// - All spans outside of operations are on one thread called “command”. Asynchronous functions can run on any
  ///   thread.
  fileprivate var ofImport: TraceRecording {
    var recording = self
    recording.removeOperationsWithoutQueue()
    recording.joinThreads()
    return recording
  }

  private mutating func removeOperationsWithoutQueue() {
    var kept: [Operation] = []
    let positions = operations.map { operation -> Int? in
      guard operation.queue != nil || operation.runs.isEmpty else { return nil }
      kept.append(operation)
      return kept.count - 1
    }
    for position in kept.indices {
      kept[position].dependencies = kept[position].dependencies.compactMap { positions[$0] }
      kept[position].parent = kept[position].parent.flatMap { positions[$0] }
    }
    operations = kept
  }

  private mutating func joinThreads() {
    let writing = Set(queues.indices.filter { queues[$0].name?.hasPrefix("writing to ") == true })
    let running = Set(
      operations.filter { $0.queue.map(writing.contains) != true }.flatMap(\.runs).map(\.thread))
    var joined: [Thread] = []
    var positions: [String: Int] = [:]
    func position(_ name: String) -> Int {
      if let position = positions[name] { return position }
      positions[name] = joined.count
      joined.append(Thread(name: name, blockedIntervals: threads.first { $0.name == name }?.blockedIntervals ?? []))
      return joined.count - 1
    }
    for number in spans.indices {
      let thread = spans[number].thread
      spans[number].thread = position(running.contains(thread) ? threads[thread].name : "command")
    }
    for number in operations.indices {
      let isWrite = operations[number].queue.map(writing.contains) == true
      for run in operations[number].runs.indices {
        let name = threads[operations[number].runs[run].thread].name
        operations[number].runs[run].thread = position(isWrite ? "writer" : name)
      }
    }
    for number in marks.indices { marks[number].thread = position(threads[marks[number].thread].name) }
    threads = joined
  }
}
#endif
