import Synchronization

/// The names of a file's columns.
///
/// Blanks around a name are left out. A column without a name is called `column_1` and so on by its place, and of two
/// with one name the second gets a number behind it: `name`, `name_2`. Names differ by case.
public final class CSVHeader: Sendable {
  /// The names, in the order of the file.
  public let names: [String]

  private let positions: [String: Int]

  /// What tells this header from all others of the process: never zero.
  let identity: Int

  private static let count = Atomic<Int>(0)

  init(_ names: [String]) {
    self.names = names
    positions = Dictionary(zip(names, names.indices), uniquingKeysWith: { first, _ in first })
    identity = Self.count.wrappingAdd(1, ordering: .relaxed).newValue
  }

  /// How many columns there are.
  public var count: Int { names.count }

  /// Finds a column.
  ///
  /// - Parameter name: The column's name.
  /// - Returns: The position of the column, from 0; nil if there is none of that name.
  /// - Complexity: O(1)
  public func position(of name: String) -> Int? { positions[name] }
}
