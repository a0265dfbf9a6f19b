public import Dispatch
public import Foundation
public import Headway

extension OperationProgress {
  /// Creates a Foundation progress that shows this one, for code that displays a `Progress`.
  ///
  /// Its units are hundredths of this progress. It is indeterminate while this progress is. Cancelling, pausing, or
  /// resuming either progress does the same to the other.
  ///
  /// On Linux, Foundation's `Progress` has no lock, so it may be used on only one queue. It is updated on that queue.
  ///
  /// - Parameter queue: The queue that uses the Foundation progress; the main queue by default.
  /// - Returns: A Foundation progress that retains this one. This one does not retain it.
  public func makeFoundationProgress(updatedOn queue: DispatchQueue = .main) -> Progress {
    let shown = ShownProgress(of: self)
    let reference = WeakProgress(shown)
    shown.show(self)
    shown.token = onChange { source in
      queue.async { reference.progress?.show(source) }
    }
    // A part without units receives cancellations and leaves this progress's handlers to their owner.
    OperationProgress(totalUnitCount: 0, parent: self, pendingUnitCount: 0).forward(to: reference, on: queue)
    return shown
  }

  /// Creates a Foundation progress for part of this one, for code that reports to a `Progress`.
  ///
  /// Values that one thread at a time sets on it count toward this progress. Cancelling, pausing, or resuming this
  /// progress does the same to the part.
  ///
  /// - Parameters:
  ///   - totalUnitCount: The number of units of the part; 0 or less if unknown.
  ///   - pendingUnitCount: The number of this progress's units that the part completes.
  /// - Returns: A Foundation progress whose completed units count toward this one.
  public func makeFoundationChild(totalUnitCount: Int64, pendingUnitCount: Int64) -> Progress {
    let part = OperationProgress(totalUnitCount: 0)
    let progress = ReportedProgress(to: part)
    progress.totalUnitCount = totalUnitCount
    part.forward(to: WeakProgress(progress), on: nil)
    addChild(part, withPendingUnitCount: pendingUnitCount)
    return progress
  }

  /// Cancels, pauses, and resumes `progress` together with this one.
  fileprivate func forward(to progress: WeakProgress, on queue: DispatchQueue?) {
    let on = { @Sendable (body: @escaping @Sendable () -> Void) in
      if let queue { queue.async(execute: body) } else { body() }
    }
    cancellationHandler = { on { progress.progress.map { if !$0.isCancelled { $0.cancel() } } } }
    pausingHandler = { on { progress.progress.map { if !$0.isPaused { $0.pause() } } } }
    resumingHandler = { on { progress.progress.map { if $0.isPaused { $0.resume() } } } }
  }
}

extension Progress {
  /// Adds a Headway progress, for example a queue's progress, as part of this one.
  ///
  /// Cancelling, pausing, or resuming this progress does the same to the part.
  ///
  /// - Parameters:
  ///   - child: The progress of the part.
  ///   - pendingUnitCount: The number of this progress's units that the part completes.
  ///   - queue: The queue that uses this progress; the main queue by default.
  public func addChild(
    _ child: OperationProgress, withPendingUnitCount pendingUnitCount: Int64, updatedOn queue: DispatchQueue = .main
  ) {
    addChild(child.makeFoundationProgress(updatedOn: queue), withPendingUnitCount: pendingUnitCount)
  }
}

/// A reference to a Foundation progress, for use on one queue.
private struct WeakProgress: @unchecked Sendable {  // A weak reference, which the runtime protects.
  weak var progress: Progress?

  init(_ progress: Progress) { self.progress = progress }
}

/// A Foundation progress that shows a Headway one.
///
/// It overrides the methods that cancel, pause, and resume, because Foundation on Linux calls the handlers of a
/// progress with a delay.
private final class ShownProgress: Progress, @unchecked Sendable {
  // Used on one queue, as documented.
  private let source: OperationProgress
  var token: KeyValueObservation?

  init(of source: OperationProgress) {
    self.source = source
    super.init(parent: nil, userInfo: nil)
  }

  override func cancel() {
    super.cancel()
    source.cancel()
  }

  override func pause() {
    super.pause()
    source.pause()
  }

  override func resume() {
    super.resume()
    source.resume()
  }
}

extension Progress {
  /// Copies the state of a Headway progress, in hundredths.
  fileprivate func show(_ source: OperationProgress) {
    totalUnitCount = source.isIndeterminate ? -1 : 100
    completedUnitCount = Int64(source.fractionCompleted * 100)
    isCancellable = source.isCancellable
    isPausable = source.isPausable
  }
}

/// A Foundation progress that reports the values that are set on it.
private final class ReportedProgress: Progress, @unchecked Sendable {
  // Used by one thread at a time, as documented.
  private let part: OperationProgress

  init(to part: OperationProgress) {
    self.part = part
    super.init(parent: nil, userInfo: nil)
  }

  override var totalUnitCount: Int64 {
    get { super.totalUnitCount }
    set {
      super.totalUnitCount = newValue
      part.totalUnitCount = newValue
    }
  }

  override var completedUnitCount: Int64 {
    get { super.completedUnitCount }
    set {
      super.completedUnitCount = newValue
      part.completedUnitCount = newValue
    }
  }
}
