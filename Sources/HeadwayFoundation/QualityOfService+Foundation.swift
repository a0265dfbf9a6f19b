public import Dispatch
public import Foundation
public import Headway

extension Headway.QualityOfService {
  /// The same of Foundation's.
  ///
  /// - Parameter quality: That of Foundation's.
  public init(_ quality: Foundation.QualityOfService) {
    self =
      switch quality {
      case .userInteractive: .userInteractive
      case .userInitiated: .userInitiated
      case .utility: .utility
      case .background: .background
      case .default: .default
      @unknown default: .default
      }
  }

  /// The same of Dispatch's; `.default` for what is not specified.
  ///
  /// - Parameter qualityClass: That of Dispatch's.
  public init(_ qualityClass: DispatchQoS.QoSClass) {
    self =
      switch qualityClass {
      case .userInteractive: .userInteractive
      case .userInitiated: .userInitiated
      case .utility: .utility
      case .background: .background
      case .default, .unspecified: .default
      @unknown default: .default
      }
  }

  /// The same of Dispatch's, but for its relative priority.
  ///
  /// - Parameter quality: That of Dispatch's.
  public init(_ quality: DispatchQoS) { self.init(quality.qosClass) }
}

extension Foundation.QualityOfService {
  /// The same of Headway's.
  ///
  /// - Parameter quality: That of Headway's.
  public init(_ quality: Headway.QualityOfService) {
    self =
      switch quality {
      case .userInteractive: .userInteractive
      case .userInitiated: .userInitiated
      case .utility: .utility
      case .background: .background
      case .default: .default
      }
  }
}

extension DispatchQoS.QoSClass {
  /// The same of Headway's.
  ///
  /// - Parameter quality: That of Headway's.
  public init(_ quality: Headway.QualityOfService) {
    self =
      switch quality {
      case .userInteractive: .userInteractive
      case .userInitiated: .userInitiated
      case .utility: .utility
      case .background: .background
      case .default: .default
      }
  }
}

extension DispatchQoS {
  /// The same of Headway's.
  ///
  /// - Parameters:
  ///   - quality: That of Headway's.
  ///   - relativePriority: The priority within that class, from -15 to 0.
  public init(_ quality: Headway.QualityOfService, relativePriority: Int = 0) {
    self.init(qosClass: QoSClass(quality), relativePriority: relativePriority)
  }
}

/// What has a quality of service of Foundation's: `Thread` and `Process`.
///
/// Nothing else need conform. With this, the property can be set to a quality of service of Headway's, and read as one;
/// Foundation's is preferred wherever both fit, as for `.utility`.
public protocol FoundationQualityOfService: AnyObject {
  /// That of Foundation's.
  var foundationQualityOfService: Foundation.QualityOfService { get set }
}

extension FoundationQualityOfService {
  /// How important the work is to the user, as Headway's type.
  public var qualityOfService: Headway.QualityOfService {
    get { Headway.QualityOfService(foundationQualityOfService) }
    set { foundationQualityOfService = Foundation.QualityOfService(newValue) }
  }
}

extension Thread: FoundationQualityOfService {
  /// That of Foundation's.
  public var foundationQualityOfService: Foundation.QualityOfService {
    get { qualityOfService }
    set { qualityOfService = newValue }
  }
}

#if !(os(iOS) || os(tvOS) || os(watchOS) || os(visionOS))
extension Process: FoundationQualityOfService {
  /// That of Foundation's.
  public var foundationQualityOfService: Foundation.QualityOfService {
    get { qualityOfService }
    set { qualityOfService = newValue }
  }
}
#endif
