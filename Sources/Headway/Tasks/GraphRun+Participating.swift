import CHeadway
import Dispatch
import Synchronization

extension GraphRun {
  /// A worker has come; or, for nil, a thread of the queue's executor.
  func runOnWorker(of workerClass: WorkerClass?, atMost count: Int) -> Bool {
    var hasTakenPart = false
    var staysAway = false
    while !staysAway {
      var executedCount: Int?
      var operation: GraphRunOperation?
      if becomeBusy() {
        // While a thread is busy, it is there.
        operation = self.operation
        hasTakenPart = true
        operation.map { operation in
          ThreadContext.run(operation, in: queue) {
            executedCount = participate(at: places.take(), in: operation)
          }
        }
      }
      staysAway = !leave()
      if let executedCount { operation?.endRun(executedCount: executedCount) }
    }
    return hasTakenPart
  }

  /// What the thread does that has begun the run.
  func runOnFirstThread(_ operation: GraphRunOperation) {
    if operation.graph.layout.hasSeveralSources { summonIfUseful() }
    let executedCount = participate(at: 0, in: operation)
    let comesBack = leave()
    if let executedCount { operation.endRun(executedCount: executedCount) }
    if comesBack { _ = runOnWorker(of: nil, atMost: 1) }
  }

  /// What a busy thread does: executes nodes, until there are none to be found.
  ///
  /// - Returns: How many nodes were executed in all, if the thread is the last: it is to leave, and then to end the
  ///   operation.
  private func participate(at position: Int, in operation: GraphRunOperation) -> Int? {
    var isLast = false
    operation.atThreadPriority {
      repeat {
        executeNodes(at: position, in: operation)
        isLast = becomeIdle()
      } while !isLast && search()
    }
    places[position].isTaken.store(false, ordering: .releasing)
    return isLast ? places.executedCount : nil
  }

  /// Tells the processor that the thread spins.
  func pause() { headway_pause() }

  // MARK: Nodes

  /// Executes nodes until there are none to take, or the run is to end early.
  private func executeNodes(at position: Int, in operation: GraphRunOperation) {
    let (layout, slots, none) = (operation.graph.layout, self.slots, GraphLayout.none)
    let isShared = limit > 1
    var executedCount = places[position].executedCount.load(ordering: .relaxed)
    var node = none
    while true {
      let word = operation.state.current
      if word.rawValue & OperationWord.needsAttentionOfGraphRun != 0 {
        if word.endsGraphRun { return stop() }
        operation.noteProgress(of: self, executedCount)
      }
      if node == none {
        node = isShared ? places[position].stack.pop(slots) : places[position].stack.popAlone(slots)
        if node == none, isShared { node = steal(at: position) }
        if node == none { return }
      }

      execute(node, at: position, in: operation, layout)
      executedCount += 1
      places[position].executedCount.store(executedCount, ordering: .relaxed)

      // Goes on with the first successor that this made ready, and shares the others.
      var (next, first, last) = (none, none, none)
      for index in Int(layout.starts[Int(node)])..<Int(layout.starts[Int(node) + 1]) {
        let entry = layout.successors[index]
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
          places[position].stack.push(first, last: last, slots)
          summonIfUseful()
        } else {
          places[position].stack.pushAlone(first, last: last, slots)
        }
      }
      node = next
    }
  }

  /// A predecessor of a node has ended; true if it was the last.
  @inline(__always)
  private func countDown(_ slots: GraphSlots, _ node: UInt32, _ isShared: Bool) -> Bool {
    guard isShared else {
      let left = slots[node].load(ordering: .relaxed) &- 1
      slots[node].store(left, ordering: .relaxed)
      return left == 0
    }
    // Releases what the predecessor did; the last one acquires what all did, and the node sees it.
    return slots[node].wrappingSubtract(1, ordering: .acquiringAndReleasing).newValue == 0
  }

  @inline(__always)
  private func execute(
    _ node: UInt32, at position: Int, in operation: GraphRunOperation, _ layout: GraphLayout
  ) {
    let start = operation.recordsTimes ? DispatchTime.now().uptimeNanoseconds : 0
    do {
      switch layout.blocks[Int(node)] {
      case .plain(let block): try block()
      case .contextual(let block):
        try block(OperationGraph.Context(operation: operation, node: OperationGraph.Node(number: Int(node))))
      }
    } catch {
      operation.nodeFailed(OperationGraph.Node(number: Int(node)), error)
    }
    if operation.recordsTimes { operation.recordTime(of: Int(node), from: start, at: position) }
  }

  /// How many nodes a thread leaves to the one from which it takes others, at most; of fewer than twice as many, half.
  private static let mostLeft = 32

  /// Takes nodes of another thread, the older half or more, since the others are in its caches; keeps one, and puts the
  /// others on its own stack.
  @inline(never)
  private func steal(at position: Int) -> UInt32 {
    for distance in 1..<max(2, limit) {
      let victim = (position + distance) % limit
      let first = places[victim].stack.takeAll()
      guard first != GraphLayout.none else { continue }
      let node = divide(first, victim, position)
      // Whoever comes next may find the rest.
      if places.hasNodes { summonIfUseful() }
      return node
    }
    return GraphLayout.none
  }

  private func divide(_ first: UInt32, _ victim: Int, _ position: Int) -> UInt32 {
    // `middle` takes a step for each two of `end`.
    var (last, middle, end, left) = (GraphLayout.none, first, slots[first].load(ordering: .relaxed), 0)
    while end != GraphLayout.none, left < Self.mostLeft {
      (last, middle, left) = (middle, slots[middle].load(ordering: .relaxed), left + 1)
      end = slots[end].load(ordering: .relaxed)
      if end != GraphLayout.none { end = slots[end].load(ordering: .relaxed) }
    }
    if left > 0 { places[victim].stack.push(first, last: last, slots) }
    let rest = slots[middle].load(ordering: .relaxed)
    if rest != GraphLayout.none { append(rest, position) }
    return middle
  }

  /// Puts nodes on the stack of a thread, which nearly always is empty.
  private func append(_ first: UInt32, _ position: Int) {
    if places[position].stack.putIfEmpty(first) { return }
    var last = first
    while case let next = slots[last].load(ordering: .relaxed), next != GraphLayout.none { last = next }
    places[position].stack.push(first, last: last, slots)
  }
}

extension OperationWord {
  /// The run of a graph is to end early, or somebody may have asked for its progress.
  static let needsAttentionOfGraphRun = cancelled | failed | userObjects
}
