import CHeadway
import Synchronization

/// The queues of the process, for snapshots of all of them.
///
/// They are a doubly linked list, so adding and removing a queue takes constant time and needs no memory.
enum LiveQueues {
  /// The neighbors of a queue.
  struct Links {
    fileprivate var next: Unmanaged<OperationQueue>?
    fileprivate var previous: Unmanaged<OperationQueue>?
  }

  // Nothing is called under the lock, and no last reference is released there.
  private static let last = Mutex<Unmanaged<OperationQueue>?>(nil)

  /// Adds a new queue.
  static func add(_ queue: OperationQueue) {
    let reference = Unmanaged.passUnretained(queue)
    last.withLock { last in
      queue.liveLinks.previous = last
      last?._withUnsafeGuaranteedRef { $0.liveLinks.next = reference }
      last = reference
    }
  }

  /// Removes a queue that is being freed.
  static func remove(_ queue: OperationQueue) {
    last.withLock { last in
      let links = queue.liveLinks
      links.previous?._withUnsafeGuaranteedRef { $0.liveLinks.next = links.next }
      if let next = links.next {
        next._withUnsafeGuaranteedRef { $0.liveLinks.previous = links.previous }
      } else {
        last = links.previous
      }
    }
  }

  /// The queues, in order of creation.
  ///
  /// O(*n*).
  static var all: [OperationQueue] {
    let found = last.withLock { last in
      var (found, position) = ([OperationQueue](), last)
      while let reference = position {
        // The memory of the queue is allocated: before the queue is freed, its deinit removes it from the list.
        if swift_tryRetain(reference.toOpaque()) != nil { found.append(reference.takeRetainedValue()) }
        position = reference._withUnsafeGuaranteedRef { $0.liveLinks.previous }
      }
      return found
    }
    return found.reversed()
  }
}
