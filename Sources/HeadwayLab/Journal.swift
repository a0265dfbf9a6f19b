import Foundation
import Headway
import Synchronization

/// What has happened, for any number of viewers, none of which is waited for.
///
/// A viewer keeps the number of the last entry that it has, and takes what came after it when it has time. So a slow
/// one takes no memory, and one that was away gets what it missed. An entry with a key takes the place of the last with
/// that key: what a viewer who comes late gets is the present state, and the journal does not grow.
final class Journal: Sendable {
  /// An entry, as viewers get it.
  struct Entry: Sendable {
    let number: Int
    let key: String?
    let group: String?
    let json: String
  }

  private struct State {
    /// In the order of the numbers.
    var entries: [Entry] = []
    var lastNumber = 0
    var viewers: [Int: AsyncStream<Void>.Continuation] = [:]
    var lastViewer = 0
    /// Whether viewers are about to be called.
    var isCalling = false
  }

  /// How long after an entry viewers are called, for all that come until then.
  ///
  /// It is little more than a frame, and the thread of a technique, which writes the entry, does not have to call a
  /// hundred viewers.
  private static let delay = Duration.milliseconds(20)

  /// Tells this journal from that of another process, whose numbers mean something else.
  let epoch = String(UInt64.random(in: 1...UInt64.max), radix: 36)
  private let queue = Headway.OperationQueue(name: "lab viewers", qualityOfService: .userInteractive)
  // Protected by its lock, under which nobody is called.
  private let state = Mutex(State())

  /// Writes an entry.
  ///
  /// - Parameters:
  ///   - event: What happened.
  ///   - key: In place of which entry; nil for none.
  ///   - group: With which it is removed.
  ///   - removed: The group whose entries are removed before.
  func append(_ event: some Encodable, key: String? = nil, group: String? = nil, removing removed: String? = nil) {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    guard let data = try? encoder.encode(event) else { return }
    let json = String(decoding: data, as: UTF8.self)
    let isFirst = state.withLock { state in
      if let removed { state.entries.removeAll { $0.group == removed } }
      if let key, let index = state.entries.lastIndex(where: { $0.key == key }) { state.entries.remove(at: index) }
      state.lastNumber += 1
      state.entries.append(Entry(number: state.lastNumber, key: key, group: group, json: json))
      defer { state.isCalling = true }
      return !state.isCalling
    }
    if isFirst { callSoon() }
  }

  /// Lets all viewers look, for something that is not in here.
  func notify() {
    let isFirst = state.withLock { state in
      defer { state.isCalling = true }
      return !state.isCalling
    }
    if isFirst { callSoon() }
  }

  private func callSoon() {
    Task(executorPreference: queue) { [self] in
      try? await Task.sleep(for: Self.delay)
      let viewers = state.withLock { state in
        state.isCalling = false
        return Array(state.viewers.values)
      }
      for viewer in viewers { viewer.yield() }
    }
  }

  /// What came after an entry.
  ///
  /// - Parameter number: The number of the entry; 0 for all.
  /// - Returns: The entries, as a JSON array, and the number of the last; nil if there are none.
  func entries(after number: Int) -> (json: String, last: Int)? {
    let (entries, last) = state.withLock { state in
      let start = state.entries.partitioningIndex { $0.number > number }
      return (state.entries[start...].map(\.json), state.lastNumber)
    }
    return entries.isEmpty ? nil : ("[\(entries.joined(separator: ","))]", last)
  }

  /// Calls for a viewer: one when there is something to see, however much that is.
  ///
  /// - Returns: The calls, the first at once; they end when the viewer's task is cancelled or the sequence released.
  func calls() -> AsyncStream<Void> {
    // One call that was not taken yet is as good as many.
    let (calls, continuation) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
    let viewer = state.withLock { state in
      state.lastViewer += 1
      state.viewers[state.lastViewer] = continuation
      return state.lastViewer
    }
    continuation.onTermination = { [weak self] _ in
      _ = self?.state.withLock { $0.viewers.removeValue(forKey: viewer) }
    }
    continuation.yield()
    return calls
  }

  /// The number of the last entry; 0 if there is none.
  var lastNumber: Int { state.withLock { $0.lastNumber } }
}

extension Array {
  /// The first index whose element, as all after it, satisfies the predicate.
  fileprivate func partitioningIndex(where predicate: (Element) -> Bool) -> Int {
    var (low, high) = (0, count)
    while low < high {
      let middle = (low + high) / 2
      if predicate(self[middle]) { high = middle } else { low = middle + 1 }
    }
    return low
  }
}
