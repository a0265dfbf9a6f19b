import Synchronization

/// Swift's tasks on Swift's own thread pool.
///
/// The caller blocks; the pool's threads do not.
struct TaskRival: IndependentRival, OperationKindRival, GraphRival, FanRival {
  let name = "tasks"

  func run(count: Int, body: @escaping Body) {
    blocking {
      await withTaskGroup { group in
        for _ in 0..<count { group.addTask { body() } }
      }
    }
  }

  /// A node is a task that awaits its dependencies.
  func run(_ graph: DependencyGraph, body: (Int) -> Body) {
    var tasks: [Task<Void, Never>] = []
    tasks.reserveCapacity(graph.nodeCount)
    for node in 0..<graph.nodeCount {
      let work = body(node)
      let dependencies = graph.dependencies(of: node)
      switch dependencies.count {
      case 0: tasks.append(Task.detached { work() })
      case 1:
        let dependency = tasks[Int(dependencies.first ?? 0)]
        tasks.append(
          Task.detached {
            await dependency.value
            work()
          })
      default:
        let awaited = dependencies.map { tasks[Int($0)] }
        tasks.append(
          Task.detached {
            for dependency in awaited { await dependency.value }
            work()
          })
      }
    }
    blocking { [tasks] in
      for task in tasks { await task.value }
    }
  }
}

extension TaskRival: AsynchronousRival {
  func run(count: Int, suspending: Bool, body: @escaping Body) {
    blocking {
      await withDiscardingTaskGroup { group in
        for _ in 0..<count {
          group.addTask {
            if suspending { await Task.yield() }
            body()
          }
        }
      }
    }
  }

  func secondsOfTurns(_ turns: Int, besideBlocking count: Int, call: @escaping Body) -> Double {
    let seconds = Mutex(0.0)
    blocking {
      await withDiscardingTaskGroup { group in
        for _ in 0..<count { group.addTask { call() } }
        let start = ContinuousClock.now
        for _ in 0..<turns { await Task {}.value }
        seconds.withLock { $0 = Stopwatch.seconds(since: start) }
      }
    }
    return seconds.withLock { $0 }
  }

  /// One task per stage, which reads from a stream and writes to an unbounded one.
  func stream(count: Int, body: @escaping Body) {
    @Sendable func stage(after items: AsyncStream<Int>) -> AsyncStream<Int> {
      let (stream, continuation) = AsyncStream.makeStream(of: Int.self)
      Task {
        for await item in items {
          body()
          continuation.yield(item)
        }
        continuation.finish()
      }
      return stream
    }
    blocking {
      let (items, continuation) = AsyncStream.makeStream(of: Int.self)
      let last = stage(after: stage(after: stage(after: items)))
      for item in 0..<count { continuation.yield(item) }
      continuation.finish()
      var sum = 0
      for await item in last { sum += item }
      precondition(sum == count * (count - 1) / 2)
    }
  }

  /// Uses a task group.
  ///
  /// When a child has ended, another is added.
  func map(count: Int, body: @escaping Body) {
    blocking {
      let values = await withTaskGroup(of: (Int, Int).self) { group in
        var values = [Int](repeating: 0, count: count)
        for number in 0..<count {
          if number >= 64, let (place, value) = await group.next() { values[place] = value }
          group.addTask {
            body()
            return (number, number)
          }
        }
        for await (place, value) in group { values[place] = value }
        return values
      }
      precondition(values.last == count - 1)
    }
  }
}
