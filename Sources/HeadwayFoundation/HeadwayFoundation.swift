// Replace `import Foundation` with `import HeadwayFoundation` to get all of Foundation, with Headway's operations and
// queues under the names of Foundation's.
//
// Only the four names are exported, not all of Headway: its other types would be ambiguous in a file that imports a
// library with types of the same names. The members of the classes are visible anyway. `import Headway` makes the other
// types visible.
//
// A name that is exported individually wins over a name that is exported with its module. Therefore these four names
// are Headway's even in a file that also imports Foundation, or XCTest, which exports Foundation. With only aliases in
// this module, the names would be ambiguous there. The aliases serve names that are qualified by this module, and
// `import class HeadwayFoundation.Operation`. Both look up the name in the module itself first.

@_exported public import Foundation
public import Headway

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

/// The token that an observation by key path returns, under its name on Apple platforms.
public typealias NSKeyValueObservation = KeyValueObservation

/// The options of an observation by key path, under their name on Apple platforms.
public typealias NSKeyValueObservingOptions = KeyValueObservingOptions

/// The change that an observer by key path receives, under its name on Apple platforms.
public typealias NSKeyValueObservedChange = KeyValueObservedChange

/// The kind of change of an observed property, under its name on Apple platforms.
public typealias NSKeyValueChange = KeyValueChange

extension OperationProtocol {
  /// Runs `main()` for callers that do not expect it to throw: an error is kept in `error`.
  ///
  /// Foundation's `main()` does not throw, and an override of `start()` might call it. If a direct subclass of
  /// `Operation` calls it as `super.main()`, it does nothing.
  public func main() { callMain(seenAs: Self.self) }
}
