/// The resources that a policy names.
///
/// Immutable and shared by the copies of the policy, so that operations with the same policy do not look up names.
final class ResourceList: Sendable, Hashable {
  let exclusiveNames: Set<String>
  let sharedNames: Set<String>
  /// The resources, exclusive ones first.
  private let resources: [Resource]
  private let exclusiveCount: Int

  /// Creates a list; nil if it would be empty.
  init?(exclusive: Set<String>, shared: Set<String>) {
    guard !exclusive.isEmpty || !shared.isEmpty else { return nil }
    (exclusiveNames, sharedNames, exclusiveCount) = (exclusive, shared, exclusive.count)
    resources = Resource.enterList(exclusive.sorted() + shared.sorted())
  }

  deinit { Resource.leaveList(resources) }

  /// The names that are both exclusive and shared, which is a mistake.
  var namesInBothSets: [String] { sharedNames.isEmpty ? [] : exclusiveNames.intersection(sharedNames).sorted() }

  /// The resource, if there is only one, which is used exclusively.
  var only: Resource? { resources.count == 1 && exclusiveCount == 1 ? resources[0] : nil }

  /// Calls `body` with each resource.
  @inline(__always)
  func forEach(_ body: (Resource, _ isShared: Bool) -> Void) {
    for position in resources.indices { body(resources[position], position >= exclusiveCount) }
  }

  /// The first resource that satisfies a condition, or nil.
  @inline(__always)
  func first(where condition: (Resource, _ isShared: Bool) -> Bool) -> Resource? {
    for position in resources.indices where condition(resources[position], position >= exclusiveCount) {
      return resources[position]
    }
    return nil
  }

  static func == (first: ResourceList, second: ResourceList) -> Bool {
    first === second || (first.exclusiveNames == second.exclusiveNames && first.sharedNames == second.sharedNames)
  }

  func hash(into hasher: inout Hasher) {
    hasher.combine(exclusiveNames)
    hasher.combine(sharedNames)
  }
}
