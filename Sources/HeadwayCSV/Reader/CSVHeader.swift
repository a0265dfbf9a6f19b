import Synchronization

/// The names of a file's columns.
///
/// Blanks around a name are removed. A column without a name is named `column_1` and so on, by its position. If two
/// columns have the same name, the second gets a number after it: `name`, `name_2`. Names are case-sensitive.
public final class CSVHeader: Sendable {
  /// The names, in file order.
  public let names: [String]

  private let positions: [String: Int]

  /// A number that distinguishes this header from all others in the process.
  ///
  /// Never zero.
  let identity: Int

  private static let count = Atomic<Int>(0)

  init(_ names: [String]) {
    self.names = names
    positions = Dictionary(zip(names, names.indices), uniquingKeysWith: { first, _ in first })
    identity = Self.count.wrappingAdd(1, ordering: .relaxed).newValue
  }

  /// The number of columns.
  public var count: Int { names.count }

  /// Finds a column.
  ///
  /// - Parameter name: The column's name.
  /// - Returns: The position of the column, starting at 0. Nil if there is no column with that name.
  /// - Complexity: O(1)
  public func position(of name: String) -> Int? { positions[name] }
}
