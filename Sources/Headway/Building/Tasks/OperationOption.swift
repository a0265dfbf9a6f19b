/// A setting of an operation that runs an asynchronous function: its name, priority, policy or dependencies.
///
/// ```swift
/// let page = queue.addTask("load", .retry(.exponential(maxAttemptCount: 5)), .timeout(.seconds(10))) {
///   try await fetch(addresses[0])
/// }
/// let image = queue.addTask("render", .priority(.high), .dependingOn(page)) { try await render(page.value) }
/// ```
///
/// A string literal is the ``name(_:)`` of the operation. If an option occurs twice, the later one takes
/// precedence. Dependencies are added to the earlier ones. To use the same options for several operations, store them:
///
/// ```swift
/// let bulk: [OperationOption] = [.priority(.low), .qualityOfService(.utility), .timeout(.seconds(30))]
/// for address in addresses { queue.addTask(.options(bulk)) { _ = try await fetch(address) } }
/// ```
public struct OperationOption: Sendable {
  let apply: @Sendable (inout OperationSettings) -> Void

  /// Several options, for example a prepared list.
  ///
  /// - Parameter options: The options. They take precedence over options that come before this one.
  /// - Returns: The options as one option.
  public static func options(_ options: [OperationOption]) -> Self {
    Self { settings in for option in options { option.apply(&settings) } }
  }

  /// Sets the name of the operation in descriptions and messages.
  ///
  /// - Parameter name: The name; nil for none.
  /// - Returns: The option.
  public static func name(_ name: String?) -> Self { Self { $0.name = name } }

  /// Sets the priority among the ready operations of the queue.
  ///
  /// - Parameter priority: The priority. Without this option, it is ``QueuePriority/normal``.
  /// - Returns: The option.
  public static func priority(_ priority: QueuePriority) -> Self { Self { $0.priority = priority } }

  /// Sets how important the work is to the user.
  ///
  /// - Parameter quality: The quality of service. Without this option, it matches the priority of the current task.
  /// - Returns: The option.
  public static func qualityOfService(_ quality: QualityOfService) -> Self { Self { $0.qualityOfService = quality } }

  /// Makes the operation wait for other operations.
  ///
  /// - Parameters:
  ///   - dependencies: The operations that must finish first. An operation that waits for them counts toward
  ///     ``OperationQueueProtocol/maxOperationCount``.
  ///   - requirement: The outcome that the new operation requires of them. With ``DependencyRequirement/success``, if
  ///     one of them fails or is cancelled, the new operation is cancelled, with a ``DependencyError`` that names it.
  /// - Returns: The option. Several of these options can have different requirements.
  public static func dependingOn(
    _ dependencies: Operation..., requiring requirement: DependencyRequirement = .success
  ) -> Self { dependingOn(dependencies, requiring: requirement) }

  /// Makes the operation wait for all operations of a list.
  ///
  /// - Parameters:
  ///   - dependencies: The operations that must finish first.
  ///   - requirement: The outcome that the new operation requires of them.
  /// - Returns: The option.
  public static func dependingOn(
    _ dependencies: [Operation], requiring requirement: DependencyRequirement = .success
  ) -> Self { Self { $0.dependencies += dependencies.map { ($0, requirement) } } }
}

extension OperationOption: ExpressibleByStringInterpolation {
  /// Creates the option ``name(_:)``.
  ///
  /// - Parameter name: The name of the operation.
  public init(stringLiteral name: String) { self = .name(name) }
}

/// The settings of an operation that a list of options makes.
struct OperationSettings {
  var name: String?
  var priority = QueuePriority.normal
  var qualityOfService: QualityOfService?
  var policy = OperationPolicy()
  var retryChoice = RetryChoice()
  var dependencies: [(Operation, DependencyRequirement)] = []

  init(_ options: [OperationOption]) { for option in options { option.apply(&self) } }

  /// Configures a new operation.
  ///
  /// - Parameters:
  ///   - operation: The operation. No queue has accepted it yet.
  ///   - work: Its entry in the table of coalescing keys, if calls can share the operation.
  func configure(_ operation: Operation, _ work: CoalescedWork? = nil) {
    if let name { operation.name = name }
    if priority != .normal { operation.queuePriority = priority }
    if let qualityOfService { operation.qualityOfService = qualityOfService }
    operation.setPolicy(policy, retryChoice, work)
    // Last, because a dependency that has failed ends the operation.
    for (dependency, requirement) in dependencies { operation.addDependency(dependency, requiring: requirement) }
  }
}
