extension TableSchema {
  /// Orders tables so that each one follows all tables that it refers to.
  ///
  /// Tables that are not in the list count as loaded. Among tables that could come next, the one listed first does. The
  /// order is therefore always the same, and changes the given one as little as the references allow.
  ///
  /// - Parameter tables: The tables, with distinct names.
  /// - Returns: The same tables in loading order, or `nil` if the references of some of them form a cycle.
  /// - Complexity: O(tables²), for the few dozen tables a feed has.
  public static func loadOrder(of tables: [TableSchema]) -> [TableSchema]? {
    var waiting = tables.map { (table: $0, dependencies: $0.dependencies) }
    var waitingNames = Set(tables.map(\.name))
    var ordered: [TableSchema] = []
    while !waiting.isEmpty {
      guard let next = waiting.firstIndex(where: { $0.dependencies.isDisjoint(with: waitingNames) }) else { return nil }
      let table = waiting.remove(at: next).table
      waitingNames.remove(table.name)
      ordered.append(table)
    }
    return ordered
  }
}
