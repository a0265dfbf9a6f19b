public import Dispatch
public import Foundation
public import Headway

extension OperationProgress {
  /// Makes a Foundation progress that shows this one, for code that shows a `Progress` to people.
  ///
  /// Its units are hundredths of this one's. It is indeterminate as long as this one is. Cancelling, pausing and
  /// resuming either does so to both.
  ///
  /// Foundation's `Progress` on Linux has no lock, so it may be used on one queue only. It is updated there.
  ///
  /// - Parameter queue: The queue on which it is used; the main queue by default.
  /// - Returns: The Foundation progress. It holds this one; this one does not hold it.
  public func foundationProgress(updatedOn queue: DispatchQueue = .main) -> Progress {
    let shown = ShownProgress(of: self)
    let reference = WeakProgress(shown)
    shown.show(self)
    shown.token = observe { source in
      queue.async { reference.progress?.show(source) }
    }
    // A part without units hears of cancelling, and leaves the handlers of this one to their owner.
    OperationProgress(totalUnitCount: 0, parent: self, pendingUnitCount: 0).forward(to: reference, on: queue)
    return shown
  }

  /// Makes a Foundation progress that stands for a part of this one, for code that reports what it does to a
  /// `Progress`.
  ///
  /// What is set on it, by one thread at a time, counts here. Cancelling, pausing and resuming this one does so to the
  /// part.
  ///
  /// - Parameters:
  ///   - totalUnitCount: How many units there are to do; 0 or less when that is not known.
  ///   - pendingUnitCount: How many of this progress's units the part completes.
  /// - Returns: The Foundation progress.
  public func foundationPart(totalUnitCount: Int64, pendingUnitCount: Int64) -> Progress {
    let part = OperationProgress(totalUnitCount: 0)
    let progress = ReportedProgress(to: part)
    progress.totalUnitCount = totalUnitCount
    part.forward(to: WeakProgress(progress), on: nil)
    addChild(part, withPendingUnitCount: pendingUnitCount)
    return progress
  }

  /// Cancels, pauses and resumes `progress` with this one.
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
  /// Makes a Headway progress, for instance that of a queue, a part of this one.
  ///
  /// Cancelling, pausing and resuming this progress does so to the part.
  ///
  /// - Parameters:
  ///   - child: The progress of the part.
  ///   - pendingUnitCount: How many of this progress's units it completes.
  ///   - queue: The queue on which this progress is used; the main queue by default.
  public func addChild(
    _ child: OperationProgress, withPendingUnitCount pendingUnitCount: Int64, updatedOn queue: DispatchQueue = .main
  ) {
    addChild(child.foundationProgress(updatedOn: queue), withPendingUnitCount: pendingUnitCount)
  }
}

/// A reference to a Foundation progress, to be used on one queue.
private struct WeakProgress: @unchecked Sendable {  // A weak reference, which the runtime protects.
  weak var progress: Progress?

  init(_ progress: Progress) { self.progress = progress }
}

/// A Foundation progress that shows a Headway one.
///
/// It overrides what cancels: Foundation on Linux calls the handlers of a progress some time later.
private final class ShownProgress: Progress, @unchecked Sendable {
  // Used on one queue, as its documentation says.
  private let source: OperationProgress
  var token: ObservationToken?

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
  /// Takes over how far a Headway progress has come, in hundredths.
  fileprivate func show(_ source: OperationProgress) {
    totalUnitCount = source.isIndeterminate ? -1 : 100
    completedUnitCount = Int64(source.fractionCompleted * 100)
    isCancellable = source.isCancellable
    isPausable = source.isPausable
  }
}

/// A Foundation progress that reports what is set on it.
private final class ReportedProgress: Progress, @unchecked Sendable {
  // Used by one thread at a time, as its documentation says.
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
