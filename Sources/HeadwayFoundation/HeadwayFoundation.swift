// `import HeadwayFoundation` in place of `import Foundation`: all of Foundation, with Headway's operations and queues
// under the names of Foundation's. A declaration of this module hides one of the same name that it re-exports.

@_exported public import Foundation
@_exported public import Headway

/// Headway's operation, in place of Foundation's.
public typealias Operation = Headway.Operation

/// Headway's block operation, in place of Foundation's.
public typealias BlockOperation = Headway.BlockOperation

/// Headway's queue, in place of Foundation's.
public typealias OperationQueue = Headway.OperationQueue

/// Headway's quality of service, in place of Foundation's.
public typealias QualityOfService = Headway.QualityOfService

/// What an observation by key path returns on Apple platforms.
public typealias NSKeyValueObservation = ObservationToken

/// What an observer by key path wants to be told, by the name that it has on Apple platforms.
public typealias NSKeyValueObservingOptions = ObservationOptions

/// What an observer by key path is told, by the name that it has on Apple platforms.
public typealias NSKeyValueObservedChange = ObservedValueChange

extension OperationExtensions {
  /// Does the work, for callers that do not expect it to throw: an error is kept in `error`.
  ///
  /// Foundation's `main()` does not throw, and an override of `start()` may call it. As `super.main()` in a direct
  /// subclass of `Operation`, it does nothing.
  public func main() { callMain(seenAs: Self.self) }
}
