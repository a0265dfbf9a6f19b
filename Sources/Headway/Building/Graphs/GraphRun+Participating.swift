import CHeadway
import Dispatch
import Synchronization

extension GraphRun {
  /// Takes part in the run, on a worker or, if `workerClass` is nil, on an executor thread.
  func runOnWorker(of workerClass: WorkerClass?, atMost count: Int) -> Bool {
    var hasTakenPart = false
    var comesBack = true
    while comesBack {
      var end = Participation.idle
      var operation: GraphOperation?
      if becomeBusy() {
        // The operation exists while a thread is busy.
        operation = self.operation
        hasTakenPart = true
        operation.map { operation in
          ThreadContext.run(operation, in: queue, isShared: true) {
            end = participate(at: lanes.take(of: limit), in: operation, helper: Worker.current)
          }
        }
      }
      comesBack = leave(after: end, of: operation)
    }
    return hasTakenPart
  }

  /// Takes part in the run, on the thread that has begun it.
  func runOnFirstThread(_ operation: GraphOperation) {
    if operation.graph.layout.hasSeveralSources { summonIfUseful() }
    let end = participate(at: 0, in: operation, helper: nil)
    if leave(after: end, of: operation) { _ = runOnWorker(of: nil, atMost: 1) }
  }

  /// Why a thread is no longer busy.
  private enum Participation {
    case idle
    /// Another worker takes the thread's place.
    case madeWay
    /// The thread was the last busy thread; the associated value is the total number of executed nodes.
    case last(executedCount: Int)
  }

  /// - Returns: Whether the thread must take part again.
  private func leave(after end: Participation, of operation: GraphOperation?) -> Bool {
    switch end {
    case .idle: return leave()
    case .madeWay: return false
    case .last(let executedCount):
      // Leave first, so that a thread that waits for the end finds the memory available for reuse.
      _ = leave()
      operation?.endRun(executedCount: executedCount)
      return false
    }
  }

  /// Executes nodes until none can be found, or until the pool needs the thread elsewhere.
  ///
  /// The thread must be busy.
  private func participate(at position: Int, in operation: GraphOperation, helper: Worker?) -> Participation {
    var end = Participation.idle
    operation.atThreadPriority {
      while true {
        if executeNodes(at: position, in: operation, helper) {
          end = .madeWay
          return
        }
        switch becomeIdle() {
        case .busy: continue
        case .idle: if search() { continue }
        case .last: end = .last(executedCount: lanes.executedCount)
        }
        lanes[position].isTaken.store(false, ordering: .releasing)
        return
      }
    }
    return end
  }

  /// Yields the processor to its sibling thread for an instant, because this thread spins.
  func pause() { headway_pause() }

  // MARK: Nodes

  /// Executes nodes until there are none to take, or the run must end early.
  ///
  /// - Returns: Whether the helper has made way for other work.
  private func executeNodes(at position: Int, in operation: GraphOperation, _ helper: Worker?) -> Bool {
    var hasMadeWay = false
    operation.graph.layout.withTables { tables in
      hasMadeWay = executeNodes(at: position, in: operation, helper, tables)
    }
    return hasMadeWay
  }

  private func executeNodes(
    at position: Int, in operation: GraphOperation, _ helper: Worker?, _ tables: GraphTables
  ) -> Bool {
    let (lanes, slots, none) = (self.lanes, self.slots, GraphLayout.none)
    let isShared = limit > 1
    let turnEnd = helper == nil ? .max : Worker.endOfTurn()
    let mayBeRaised = helper?.isOfLowClass == true
    var executedCount = lanes[position].executedCount.load(ordering: .relaxed)
    var node = none
    while true {
      let word = operation.state.current
      if word.rawValue & OperationWord.needsAttentionOfGraphRun != 0 {
        if word.endsGraphRun {
          stop()
          return false
        }
        operation.noteProgress(of: self, executedCount)
      }
      if node == none {
        node = isShared ? lanes[position].stack.pop(slots) : lanes[position].stack.popAlone(slots)
        if node == none, isShared { node = steal(at: position) }
        if node == none { return false }
      }

      if operation.recordsTimes {
        let start = DispatchTime.now().uptimeNanoseconds
        execute(node, in: operation, tables)
        operation.recordTime(of: Int(node), from: start, at: position)
      } else {
        execute(node, in: operation, tables)
      }
      executedCount += 1
      lanes[position].executedCount.store(executedCount, ordering: .relaxed)

      // Continue with the first successor that this node made ready, and share the remaining successors.
      var (next, first, last) = (none, none, none)
      for entry in tables.successors(of: node) {
        let successor = entry & ~GraphLayout.isOnlyEdge
        guard entry != successor || countDown(slots, successor, isShared) else { continue }
        if next == none {
          next = successor
        } else {
          slots[successor].store(first, ordering: .relaxed)
          if first == none { last = successor }
          first = successor
        }
      }
      if first != none {
        if isShared {
          lanes[position].stack.push(first, last: last, slots)
          summonIfUseful()
        } else {
          lanes[position].stack.pushAlone(first, last: last, slots)
        }
      }
      node = next
      if let helper, helper.isNeededElsewhere(turnEnd) || (mayBeRaised && isRaised(beyond: helper)) {
        if node != none { lanes[position].stack.push(node, last: node, slots) }
        node = none
        if makeWay(from: position) { return true }
      }
    }
  }

  /// Counts down a node, because a predecessor has ended.
  ///
  /// Returns true if it was the last.
  @inline(__always)
  private func countDown(_ slots: GraphSlots, _ node: UInt32, _ isShared: Bool) -> Bool {
    guard isShared else {
      let left = slots[node].load(ordering: .relaxed) &- 1
      slots[node].store(left, ordering: .relaxed)
      return left == 0
    }
    // Releases the effects of the predecessor. The last one acquires the effects of all, so the node sees them.
    return slots[node].wrappingSubtract(1, ordering: .acquiringAndReleasing).newValue == 0
  }

  @inline(__always)
  private func execute(_ node: UInt32, in operation: GraphOperation, _ tables: GraphTables) {
    do {
      try tables.blocks[Int(node)](
        OperationGraph.Context(operation: operation, node: operation.graph.layout.blocks.node(Int(node))))
    } catch {
      operation.nodeFailed(operation.graph.layout.blocks.node(Int(node)), error)
    }
  }

  /// The maximum number of nodes that a thread leaves to the thread it steals from.
  ///
  /// If there are fewer than twice as many, it leaves half.
  private static let mostLeft = 32

  /// Takes nodes from another thread: the older half or more, because the newer ones are in that thread's caches.
  ///
  /// Returns one node and puts the rest on the calling thread's own stack.
  @inline(never)
  private func steal(at position: Int) -> UInt32 {
    for distance in 1..<max(2, limit) {
      let victim = (position + distance) % limit
      let first = lanes[victim].stack.takeAll()
      guard first != GraphLayout.none else { continue }
      let node = divide(first, victim, position)
      // Another thread can take the rest.
      if lanes.hasNodes { summonIfUseful() }
      return node
    }
    return GraphLayout.none
  }

  private func divide(_ first: UInt32, _ victim: Int, _ position: Int) -> UInt32 {
    // `middle` advances one node for every two of `end`.
    var (last, middle, end, left) = (GraphLayout.none, first, slots[first].load(ordering: .relaxed), 0)
    while end != GraphLayout.none, left < Self.mostLeft {
      (last, middle, left) = (middle, slots[middle].load(ordering: .relaxed), left + 1)
      end = slots[end].load(ordering: .relaxed)
      if end != GraphLayout.none { end = slots[end].load(ordering: .relaxed) }
    }
    if left > 0 { lanes[victim].stack.push(first, last: last, slots) }
    let rest = slots[middle].load(ordering: .relaxed)
    if rest != GraphLayout.none { append(rest, position) }
    return middle
  }

  /// Puts nodes on the stack of a thread, which is nearly always empty.
  private func append(_ first: UInt32, _ position: Int) {
    if lanes[position].stack.putIfEmpty(first) { return }
    var last = first
    while case let next = slots[last].load(ordering: .relaxed), next != GraphLayout.none { last = next }
    lanes[position].stack.push(first, last: last, slots)
  }
}

extension OperationWord {
  /// The run must end early, or a thread might have requested its progress.
  static let needsAttentionOfGraphRun = cancelled | failed | userObjects
}
