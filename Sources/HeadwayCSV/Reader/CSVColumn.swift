import Synchronization

/// Identifies a column of a row: a name, a position, or a ``CSVColumn``.
///
/// An enumeration whose raw values are names can conform:
///
/// ```swift
/// enum StationColumn: String, CSVColumnSelector { case id, name, height }
/// ```
public protocol CSVColumnSelector {
  /// Finds the column.
  ///
  /// - Parameter header: The file's column names.
  /// - Returns: The position of the field in a row, from 0; nil if the file has no such column.
  func csvPosition(in header: CSVHeader) -> Int?

  /// The column's name in errors, for a file without this column.
  var csvColumnName: String { get }
}

/// The name of a column, which is looked up once per file.
///
/// ```swift
/// let height = CSVColumn("height")
/// try CSVReader(path: path).forEachRow { row in
///   print(try row.value(height, as: Double.self))
/// }
/// ```
///
/// A string works as well but is looked up for each row. Any thread can use a `CSVColumn`, and for any number of files,
/// one after the other.
public final class CSVColumn: CSVColumnSelector, Sendable {
  /// The column's name.
  public let csvColumnName: String

  /// The header that was used last and the position in it, combined in one word.
  ///
  /// As a result, the two values are always consistent without a lock, and no other memory access has to be ordered.
  private let known = Atomic<Int>(0)
  private static let positionBits = 24

  /// Creates a column with the given name.
  ///
  /// - Parameter name: The column's name, as in the header.
  public init(_ name: String) { csvColumnName = name }

  /// Finds the column.
  ///
  /// - Parameter header: The file's column names.
  /// - Returns: The position of the field in a row, from 0; nil if the file has no such column.
  /// - Complexity: O(1), a few instructions for the header that was used last.
  public func csvPosition(in header: CSVHeader) -> Int? {
    let word = known.load(ordering: .relaxed)
    if word >> Self.positionBits == header.identity { return word & ((1 << Self.positionBits) - 1) }
    guard let position = header.position(of: csvColumnName) else { return nil }
    if position >> Self.positionBits == 0 {
      known.store((header.identity << Self.positionBits) | position, ordering: .relaxed)
    }
    return position
  }
}

extension String: CSVColumnSelector {
  /// Finds the column with this name.
  ///
  /// - Parameter header: The file's column names.
  /// - Returns: The position of the field in a row, from 0; nil if the file has no such column.
  /// - Complexity: O(1)
  public func csvPosition(in header: CSVHeader) -> Int? { header.position(of: self) }

  /// The name itself.
  public var csvColumnName: String { self }
}

extension Int: CSVColumnSelector {
  /// The number itself, unless it is negative.
  ///
  /// - Parameter header: The file's column names.
  /// - Returns: The position of the field in a row, starting at 0. It can be beyond the header, because a longer row
  ///   can have such a field.
  @inlinable
  public func csvPosition(in header: CSVHeader) -> Int? { self < 0 ? nil : self }

  /// The number.
  public var csvColumnName: String { "\(self)" }
}

extension CSVColumnSelector where Self: RawRepresentable, RawValue == String {
  /// Finds the column that the raw value names.
  ///
  /// - Parameter header: The file's column names.
  /// - Returns: The position of the field in a row, from 0; nil if the file has no such column.
  /// - Complexity: O(1)
  public func csvPosition(in header: CSVHeader) -> Int? { header.position(of: rawValue) }

  /// The raw value.
  public var csvColumnName: String { rawValue }
}
