public import Dispatch
public import Foundation
public import Headway

extension Headway.QualityOfService {
  /// Creates a quality of service from Foundation's.
  ///
  /// - Parameter quality: Foundation's quality of service.
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

  /// Creates a quality of service from a class of Dispatch's; `.default` if it is unspecified.
  ///
  /// - Parameter qualityClass: The quality-of-service class of Dispatch.
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

  /// Creates a quality of service from Dispatch's, without its relative priority.
  ///
  /// - Parameter quality: The quality of service of Dispatch.
  public init(_ quality: DispatchQoS) { self.init(quality.qosClass) }
}

extension Foundation.QualityOfService {
  /// Creates a quality of service from Headway's.
  ///
  /// - Parameter quality: Headway's quality of service.
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
  /// Creates a quality of service from Headway's.
  ///
  /// - Parameter quality: Headway's quality of service.
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
  /// Creates a quality of service from Headway's.
  ///
  /// - Parameters:
  ///   - quality: Headway's quality of service.
  ///   - relativePriority: The priority within that class, from -15 to 0.
  public init(_ quality: Headway.QualityOfService, relativePriority: Int = 0) {
    self.init(qosClass: QoSClass(quality), relativePriority: relativePriority)
  }
}

/// A type with a Foundation quality of service: `Thread` and `Process`.
///
/// No other type needs to conform. With this protocol, you can set the property to a Headway quality of service, and
/// read it as one. If both types fit, as for `.utility`, the compiler prefers Foundation's.
public protocol _FoundationQualityOfService: AnyObject {
  /// The quality of service as Foundation's type.
  var _foundationQualityOfService: Foundation.QualityOfService { get set }
}

extension _FoundationQualityOfService {
  /// The importance of the work to the user, as Headway's type.
  public var qualityOfService: Headway.QualityOfService {
    get { Headway.QualityOfService(_foundationQualityOfService) }
    set { _foundationQualityOfService = Foundation.QualityOfService(newValue) }
  }
}

extension Thread: _FoundationQualityOfService {
  /// The quality of service as Foundation's type.
  public var _foundationQualityOfService: Foundation.QualityOfService {
    get { qualityOfService }
    set { qualityOfService = newValue }
  }
}

#if !(os(iOS) || os(tvOS) || os(watchOS) || os(visionOS))
extension Process: _FoundationQualityOfService {
  /// The quality of service as Foundation's type.
  public var _foundationQualityOfService: Foundation.QualityOfService {
    get { qualityOfService }
    set { qualityOfService = newValue }
  }
}
#endif
