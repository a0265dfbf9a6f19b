// `import HeadwayFoundation` in place of `import Foundation`: all of Foundation, with Headway's operations and queues
// under the names of Foundation's.
//
// A name that is exported by itself wins over one that comes with its module. So these four are Headway's even in a
// file that imports Foundation too, or XCTest, which exports it. Aliases of this module alone would be ambiguous there.
// The aliases are for names that are qualified by this module, and for `import class HeadwayFoundation.Operation`: both
// look into the module itself first.

@_exported public import Foundation
@_exported public import Headway

@_exported public import class Headway.BlockOperation
@_exported public import class Headway.Operation
@_exported public import class Headway.OperationQueue
@_exported public import enum Headway.QualityOfService

/// Headway's operation, under the name of Foundation's.
public typealias Operation = Headway.Operation

/// Headway's block operation, under the name of Foundation's.
public typealias BlockOperation = Headway.BlockOperation

/// Headway's queue, under the name of Foundation's.
public typealias OperationQueue = Headway.OperationQueue

/// Headway's quality of service, under the name of Foundation's.
public typealias QualityOfService = Headway.QualityOfService

/// What an observation by key path returns on Apple platforms.
public typealias NSKeyValueObservation = ObservationToken

/// What an observer by key path wants to be told, by the name that it has on Apple platforms.
public typealias NSKeyValueObservingOptions = ObservationOptions

/// What an observer by key path is told, by the name that it has on Apple platforms.
public typealias NSKeyValueObservedChange = ObservedValueChange

/// In which way an observed property changes, by the name that it has on Apple platforms.
public typealias NSKeyValueChange = ObservedChangeKind

extension OperationExtensions {
  /// Does the work, for callers that do not expect it to throw: an error is kept in `error`.
  ///
  /// Foundation's `main()` does not throw, and an override of `start()` may call it. As `super.main()` in a direct
  /// subclass of `Operation`, it does nothing.
  public func main() { callMain(seenAs: Self.self) }
}
