/// The dependencies between an object's properties, as its class declares them for key-value observing.
struct DependentKeys {
  /// The class's `keyPathsForValuesAffectingValue(forKey:)`.
  let pathsAffecting: (String) -> Set<String>

  /// Finds the properties that depend on a changing property, directly or through other properties.
  ///
  /// - Parameters:
  ///   - keys: The properties to choose from.
  ///   - changed: The property that changes.
  ///   - name: The posted name; nil if the change was posted by key path. In that case, a property added by a subclass
  ///     matches every added property named by the class.
  /// - Returns: The properties that depend on `changed`, in the same order.
  func keys(of keys: [ObservedKey], affectedBy changed: ObservedKey, named name: String?) -> [ObservedKey] {
    keys.filter { key in
      var visited: Set<String> = []
      return key != changed && key.names.contains { isAffected($0, by: changed, named: name, &visited) }
    }
  }

  private func isAffected(
    _ key: String, by changed: ObservedKey, named name: String?, _ visited: inout Set<String>
  ) -> Bool {
    guard visited.insert(key).inserted else { return false }
    for path in pathsAffecting(key) {
      // In a path through other objects, only the first component can be the property that was posted.
      let first = String(path.prefix { $0 != "." })
      if isSame(first, as: changed, named: name) || isAffected(first, by: changed, named: name, &visited) {
        return true
      }
    }
    return false
  }

  private func isSame(_ key: String, as changed: ObservedKey, named name: String?) -> Bool {
    switch changed {
    case .unknown: key == name
    case .own: ObservedKey(name: key) == .unknown
    default: ObservedKey(name: key) == changed
    }
  }
}
