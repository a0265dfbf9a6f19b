import Foundation
import Headway
import Synchronization

/// The events of the lab, for any number of viewers.
///
/// The journal does not wait for any of them.
///
/// A viewer keeps the number of the last entry that it has received, and requests the entries after it when it has
/// time. Therefore, a slow viewer uses no memory, and a viewer that was disconnected receives the entries that it
/// missed. An entry with a key replaces the last entry with that key. As a result, a viewer that connects late receives
/// the current state, and the journal does not grow.
///
/// See `Docs/decisions/0028-lab.md`.
final class Journal: Sendable {
  /// An entry, as viewers receive it.
  struct Entry: Sendable {
    let number: Int
    let key: String?
    let group: String?
    let json: String
  }

  private struct State {
    /// The entries, ordered by number.
    var entries: [Entry] = []
    var lastNumber = 0
    var viewers: [Int: AsyncStream<Void>.Continuation] = [:]
    var lastViewer = 0
    /// Whether viewers are about to be notified.
    var isCalling = false
  }

  /// The time between an entry and the notification of viewers, which covers all entries up to then.
  ///
  /// It is a little longer than a frame. The thread of a technique, which writes the entry, does not have to notify a
  /// hundred viewers.
  private static let delay = Duration.milliseconds(20)

  /// Distinguishes this journal from another process's journal, whose numbers have a different meaning.
  let epoch = String(UInt64.random(in: 1...UInt64.max), radix: 36)
  private let queue = Headway.OperationQueue(name: "lab viewers", qualityOfService: .userInteractive)
  // Protected by its lock. No viewer is notified under it.
  private let state = Mutex(State())

  /// Writes an entry.
  ///
  /// - Parameters:
  ///   - event: The event to encode as JSON.
  ///   - key: The key of the entry that it replaces. Nil if it replaces none.
  ///   - group: The group whose entries are removed together.
  ///   - removed: The group whose entries are removed first.
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

  /// Notifies all viewers of a change that is not in the journal.
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

  /// Returns the entries after a certain one.
  ///
  /// - Parameter number: The number of the entry, or 0 for all.
  /// - Returns: The entries as a JSON array, and the number of the last. Nil if there are none.
  func entries(after number: Int) -> (json: String, last: Int)? {
    let (entries, last) = state.withLock { state in
      let start = state.entries.partitioningIndex { $0.number > number }
      return (state.entries[start...].map(\.json), state.lastNumber)
    }
    return entries.isEmpty ? nil : ("[\(entries.joined(separator: ","))]", last)
  }

  /// Returns notifications for a viewer: one when there is something new, however much it is.
  ///
  /// - Returns: A notification for each new entry, or for several together. The first is sent immediately. The
  ///   notifications end when the viewer's task is cancelled or the sequence is released.
  func calls() -> AsyncStream<Void> {
    // One pending notification has the same effect as several.
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

  /// The number of the last entry.
  ///
  /// 0 if there is none.
  var lastNumber: Int { state.withLock { $0.lastNumber } }
}

extension Array {
  /// Returns the index of the first element that satisfies the predicate, as all elements after it do.
  fileprivate func partitioningIndex(where predicate: (Element) -> Bool) -> Int {
    var (low, high) = (0, count)
    while low < high {
      let middle = (low + high) / 2
      if predicate(self[middle]) { high = middle } else { low = middle + 1 }
    }
    return low
  }
}
