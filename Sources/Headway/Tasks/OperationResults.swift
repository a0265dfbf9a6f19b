import Synchronization

extension OperationQueueExtensions {
  /// Calls an asynchronous function with each of the inputs, several at a time, and gives what it returns, one after
  /// the other.
  ///
  /// ```swift
  /// let sizes = queue.results(of: addresses, inOrder: false) { try await fetch($0).utf8.count }
  /// for try await size in sizes { print(size) }
  /// ```
  ///
  /// Each call is an operation of the queue. At most `window` are under way or have returned what was not yet asked
  /// for; so inputs without end need the memory of a few. Nothing happens before the first result is asked for, and
  /// each iteration calls the function anew.
  ///
  /// An error has no call begin any more, and cancels those under way: all of them, or where the results come in order,
  /// those behind it. It is thrown in its turn, when no call runs any more. A cancellation of the task does the same as
  /// soon as a result is asked for, or is waited for. Leaving the loop early cancels what is under way, and does not
  /// wait for it; nor does anything wait for a sequence of inputs that is being asked for its next one.
  ///
  /// An operation of the queue that iterates over results of the same queue keeps its own place meanwhile: with all
  /// places taken so, nobody goes on.
  ///
  /// - Parameters:
  ///   - inputs: The inputs.
  ///   - isInOrder: Whether the results come in the order of the inputs; otherwise as they are there.
  ///   - window: How many inputs at most are under way; by default as many as the queue runs operations at once, and 64
  ///     where the system decides.
  ///   - transform: What to call.
  /// - Returns: The results, as they come.
  /// - Precondition: `window` is 1 or more.
  public func results<Input: Sendable, Output: Sendable>(
    of inputs: some Sequence<Input> & Sendable, inOrder isInOrder: Bool = true, window: Int? = nil,
    _ transform: @escaping @Sendable (Input) async throws -> Output
  ) -> OperationResults<Output> {
    results(isInOrder, window) { body in
      for input in inputs { guard try await body({ try await transform(input) }) else { break } }
    }
  }

  /// Calls an asynchronous function with each of the inputs as they come, several at a time, and gives what it returns,
  /// one after the other.
  ///
  /// As for a sequence that is there; what the sequence of the inputs throws is thrown when all before it has been
  /// given.
  ///
  /// - Parameters:
  ///   - inputs: The inputs.
  ///   - isInOrder: Whether the results come in the order of the inputs; otherwise as they are there.
  ///   - window: How many inputs at most are under way; by default as many as the queue runs operations at once, and 64
  ///     where the system decides.
  ///   - transform: What to call.
  /// - Returns: The results, as they come.
  /// - Precondition: `window` is 1 or more.
  public func results<Inputs: AsyncSequence & Sendable, Output: Sendable>(
    of inputs: Inputs, inOrder isInOrder: Bool = true, window: Int? = nil,
    _ transform: @escaping @Sendable (Inputs.Element) async throws -> Output
  ) -> OperationResults<Output> where Inputs.Element: Sendable {
    results(isInOrder, window) { body in
      for try await input in inputs { guard try await body({ try await transform(input) }) else { break } }
    }
  }
}

extension OperationQueue {
  fileprivate final func results<Output: Sendable>(
    _ isInOrder: Bool, _ window: Int?, _ forEachCall: @escaping OperationResults<Output>.Calls
  ) -> OperationResults<Output> {
    require(window ?? 1 > 0, "results(of:) of \(label) with a window of \(window ?? 0): use 1 or more.")
    return OperationResults(queue: self, isInOrder: isInOrder, window: window ?? width, forEachCall: forEachCall)
  }
}

/// What an asynchronous function returns for each of many inputs, as it comes; see
/// ``OperationQueueExtensions/results(of:inOrder:window:_:)-(_,_,_,(Input)->Output)``.
public struct OperationResults<Output: Sendable>: AsyncSequence, Sendable {
  /// One result.
  public typealias Element = Output
  /// What the function throws, or the sequence of the inputs; or a `CancellationError`.
  public typealias Failure = any Error

  typealias Call = @Sendable () async throws -> Output
  /// Calls its argument with one call after the other, until that answers false.
  typealias Calls = @Sendable (_ body: (@escaping Call) async throws -> Bool) async throws -> Void

  fileprivate let queue: OperationQueue
  fileprivate let isInOrder: Bool
  fileprivate let window: Int
  fileprivate let forEachCall: Calls

  /// Begins an iteration, which calls the function for the first time when its first result is asked for.
  public func makeAsyncIterator() -> Iterator {
    let line = ResultsBuffer<Output>(window: window, isInOrder: isInOrder)
    return Iterator(results: self, owner: ResultsOwner(line), arrivals: line.arrivals.makeAsyncIterator())
  }

  /// Gives the results one after the other.
  public struct Iterator: AsyncIteratorProtocol {
    fileprivate let results: OperationResults
    fileprivate let owner: ResultsOwner<Output>
    fileprivate var arrivals: AsyncStream<ResultsBuffer<Output>.Arrival>.Iterator

    fileprivate init(
      results: OperationResults, owner: ResultsOwner<Output>,
      arrivals: AsyncStream<ResultsBuffer<Output>.Arrival>.Iterator
    ) {
      (self.results, self.owner, self.arrivals) = (results, owner, arrivals)
    }

    /// The next result, or nil when there are no more.
    ///
    /// - Returns: The result.
    /// - Throws: The first error, once; `CancellationError` when the task, or an operation, was cancelled.
    public mutating func next() async throws -> Output? {
      let line = owner.line
      guard !line.isOver else { return nil }
      do {
        try Task.checkCancellation()
        line.begin(results.queue, results.forEachCall)
        let value = try await nextValue()
        if value == nil { line.end() }
        return value
      } catch {
        line.end()
        await line.cancelAll()
        throw error
      }
    }

    private mutating func nextValue() async throws -> Output? {
      let line = owner.line
      let arrival = await withPriority(raising: { line.raise(to: $0) }) { await arrivals.next(isolation: #isolation) }
      switch arrival {
      case .operation(let operation, let number):
        let value = try await operation.value
        line.take(number)
        return value
      case .failure(let error): throw error
      case nil:
        // So it ends, too, when the task is cancelled.
        try Task.checkCancellation()
        return nil
      }
    }
  }
}
