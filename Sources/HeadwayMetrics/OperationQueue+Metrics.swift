#if Observability
public import Headway
public import Metrics

extension OperationQueueProtocol {
  /// Records metrics of the operations that are added from now on.
  ///
  /// ```swift
  /// let queue = OperationQueue(name: "thumbnails")
  /// queue.recordMetrics()
  /// ```
  ///
  /// All metrics have the dimension `queue`. No dimension identifies single operations, because each value of a
  /// dimension uses memory forever, in the process and in the system that collects the metrics.
  ///
  /// - The meter `headway.queue.depth`, with the dimension `status`, is the number of operations: `waiting`, before the
  ///   start or between two attempts, or `running`.
  /// - The meter `headway.queue.oldest.waiting.duration` is how many seconds the oldest operation that has not started
  ///   has waited; 0 if there is none.
  /// - The timer `headway.operation.waiting.duration` measures the time from when an operation is added until it first
  ///   starts.
  /// - The timer `headway.operation.duration`, with the dimension `status`, measures the time from the first start to
  ///   the end, including the pauses between attempts.
  /// - The counter `headway.operations`, with the dimension `status`, counts the operations that have finished:
  ///   `succeeded`, `failed` or `cancelled`.
  /// - The counter `headway.operation.retries` counts how often an operation begins to wait for another attempt.
  ///
  /// Only the age of the oldest operation changes while nothing happens, so a task measures it. The task ends when the
  /// queue is freed. The other metrics are updated when something happens in the queue. Threads belong to all queues:
  /// see ``recordThreadMetrics(every:factory:clock:)``.
  ///
  /// Give each queue its own name, and bootstrap the metrics system before you call this method. The backend keeps the
  /// metrics after the queue is freed.
  ///
  /// - Parameters:
  ///   - name: The value of the dimension `queue`; nil for the name of the queue, or `unnamed`.
  ///   - interval: The time between two measurements of the age of the oldest operation.
  ///   - factory: Creates the metrics; nil for the factory of the metrics system.
  ///   - clock: Measures all times.
  /// - Returns: The registration, which can end the recording. It sets the age of the oldest operation to 0.
  /// - Precondition: `interval` is greater than zero.
  /// - Complexity: O(1) for each event. Each unfinished operation uses about 100 bytes.
  @_disfavoredOverload
  @discardableResult
  public func recordMetrics<ClockType: Clock>(
    name: String? = nil, every interval: Duration = .seconds(5), factory: (any MetricsFactory)? = nil,
    clock: ClockType = ContinuousClock()
  ) -> InstrumentRegistration where ClockType.Duration == Duration {
    require(
      interval > .zero, "recordMetrics(every: \(interval)) of \(description): use an interval of more than zero.")
    let metrics = QueueMetrics(
      queueName: name ?? self.name ?? "unnamed", factory: factory ?? MetricsSystem.factory)
    let instrument = MetricsInstrument(metrics, clock: MetricsClock(clock))
    let registration = addInstrument(instrument)
    instrument.sample(every: interval)
    return registration.alsoCalling { instrument.stopSampling() }
  }

  /// Records how many threads Headway uses, for all queues of the process together, until the returned task is
  /// cancelled.
  ///
  /// ```swift
  /// OperationQueue.recordThreadMetrics()
  /// ```
  ///
  /// The meter `headway.threads` has the dimension `status`. The status `working` counts threads that run operations or
  /// look for work. `blocked` counts threads inside an operation that sleeps, waits, or reads, and `sleeping` counts
  /// threads that wait for work. Call this method once per process.
  ///
  /// - Parameters:
  ///   - interval: The time between two measurements.
  ///   - factory: Creates the metrics; nil for the factory of the metrics system.
  ///   - clock: Measures the interval.
  /// - Returns: A task that measures until it is cancelled. Releasing the task does not cancel it.
  /// - Precondition: `interval` is greater than zero.
  /// - Complexity: A measurement takes O(*n*) in the number of queues and threads.
  @_disfavoredOverload
  @discardableResult
  public static func recordThreadMetrics<ClockType: Clock>(
    every interval: Duration = .seconds(5), factory: (any MetricsFactory)? = nil, clock: ClockType = ContinuousClock()
  ) -> Task<Void, Never> where ClockType.Duration == Duration {
    require(interval > .zero, "recordThreadMetrics(every: \(interval)): use an interval of more than zero.")
    let metrics = ThreadMetrics(factory: factory ?? MetricsSystem.factory)
    metrics.measure()
    return Task.detached {
      while (try? await clock.sleepAtMostCentury(for: interval)) != nil { metrics.measure() }
    }
  }
}
#endif
