#if Lab
import Foundation
import HTTPTypes
import Hummingbird
import NIOCore

/// A browser that receives events: a stream of server-sent events.
///
/// Each element is one piece of the stream.
///
/// It keeps only the number of the last entry that was sent. While the browser does not read, nothing else is
/// requested. Events that occur in that time stay in the journal, if they are still part of the current state.
struct Viewer: AsyncSequence, Sendable {
  typealias Element = ByteBuffer

  private let lab: Lab
  private var position = 0
  private var isResuming = false

  /// Creates a viewer.
  ///
  /// - Parameters:
  ///   - lab: The lab whose journal is sent.
  ///   - lastEvent: The identifier of the last event that the browser has received, if it was connected before.
  init(_ lab: Lab, lastEvent: String?) {
    self.lab = lab
    let parts = lastEvent?.split(separator: "-") ?? []
    if parts.count == 2, parts[0] == lab.journal.epoch, let number = Int(parts[1]),
      number <= lab.journal.lastNumber
    {
      position = number
      isResuming = true
    }
  }

  func makeAsyncIterator() -> AsyncIterator {
    AsyncIterator(lab: lab, position: position, isResuming: isResuming)
  }

  struct AsyncIterator: AsyncIteratorProtocol {
    private let lab: Lab
    private var calls: AsyncStream<Void>.AsyncIterator
    private var position: Int
    private var beat: Int
    private var text = "retry: 500\n\n"

    init(lab: Lab, position: Int, isResuming: Bool) {
      self.lab = lab
      self.position = position
      calls = lab.journal.calls().makeAsyncIterator()
      // The beginning of the strip for a browser that connects.
      beat = Swift.max(0, lab.beats.times(after: .max).last - 120)
      // The browser has nothing, or the state of another process.
      if !isResuming { text += "event: reset\ndata: {}\n\n" }
    }

    /// Returns the new events, when there are any.
    mutating func next() async -> ByteBuffer? {
      while await calls.next(isolation: #isolation) != nil {
        if let (json, last) = lab.journal.entries(after: position) {
          position = last
          text += "id: \(lab.journal.epoch)-\(last)\ndata: \(json)\n\n"
        }
        let (times, lastBeat) = lab.beats.times(after: beat)
        if !times.isEmpty {
          beat = lastBeat
          let list = times.map { String(format: "%.1f", $0) }.joined(separator: ",")
          text += "event: beats\ndata: [\(list)]\n\n"
        }
        guard !text.isEmpty else { continue }
        defer { text = "" }
        return ByteBuffer(string: text)
      }
      return nil
    }
  }
}

extension HTTPField.Name {
  static let lastEventID = Self("Last-Event-ID")!
}
#endif
