#if Lab
import Foundation
import HTTPTypes
import Hummingbird
import NIOCore

/// A browser that looks on: a stream of server-sent events, each a piece of it.
///
/// It keeps the number of the last entry that it was sent, and nothing else. While the browser takes nothing, nothing
/// more is asked for; what happens meanwhile stays in the journal, as far as it is still the present state.
struct Viewer: AsyncSequence, Sendable {
  typealias Element = ByteBuffer

  private let lab: Lab
  private var position = 0
  private var isResuming = false

  /// Creates a viewer.
  ///
  /// - Parameters:
  ///   - lab: The lab.
  ///   - lastEvent: The identifier of the last event that the browser has, if it was here before.
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
      // Where the strip begins for a browser that comes.
      beat = Swift.max(0, lab.beats.times(after: .max).last - 120)
      // What it has is of another process, or nothing.
      if !isResuming { text += "event: reset\ndata: {}\n\n" }
    }

    /// What is new, once there is something.
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
