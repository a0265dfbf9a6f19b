import Synchronization

/// What says which column of a row is meant: a name, a position, or a ``CSVColumn``.
///
/// An enumeration with names as raw values can be one:
///
/// ```swift
/// enum StationColumn: String, CSVColumnSelector { case id, name, height }
/// ```
public protocol CSVColumnSelector {
  /// Finds the column.
  ///
  /// - Parameter header: The names of the file's columns.
  /// - Returns: The position of the field in a row, from 0; nil if the file has no such column.
  func csvPosition(in header: CSVHeader) -> Int?

  /// What errors call the column where the file does not have it.
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
/// A string does the same, and is looked up for each row. One value may be used by any thread, and for any number of
/// files, one after the other.
public final class CSVColumn: CSVColumnSelector, Sendable {
  /// The name.
  public let csvColumnName: String

  /// The header that was seen last and the position in it, in one word; so they fit together without a lock, and
  /// neither orders anything else.
  private let known = Atomic<Int>(0)
  private static let positionBits = 24

  /// Names a column.
  ///
  /// - Parameter name: The column's name, as the header has it.
  public init(_ name: String) { csvColumnName = name }

  /// Finds the column.
  ///
  /// - Parameter header: The names of the file's columns.
  /// - Returns: The position of the field in a row, from 0; nil if the file has no such column.
  /// - Complexity: O(1), in a few instructions for the header that was seen last.
  public func csvPosition(in header: CSVHeader) -> Int? {
    let word = known.load(ordering: .relaxed)
    if word >> Self.positionBits == header.identity { return word & (1 << Self.positionBits - 1) }
    guard let position = header.position(of: csvColumnName) else { return nil }
    if position >> Self.positionBits == 0 {
      known.store(header.identity << Self.positionBits | position, ordering: .relaxed)
    }
    return position
  }
}

extension String: CSVColumnSelector {
  /// Finds the column of this name.
  ///
  /// - Parameter header: The names of the file's columns.
  /// - Returns: The position of the field in a row, from 0; nil if the file has no such column.
  /// - Complexity: O(1)
  public func csvPosition(in header: CSVHeader) -> Int? { header.position(of: self) }

  /// The name itself.
  public var csvColumnName: String { self }
}

extension Int: CSVColumnSelector {
  /// The number itself, unless it is negative.
  ///
  /// - Parameter header: The names of the file's columns.
  /// - Returns: The position of the field in a row, from 0, even beyond the header: a longer row may have it.
  @inlinable
  public func csvPosition(in header: CSVHeader) -> Int? { self < 0 ? nil : self }

  /// The number.
  public var csvColumnName: String { "\(self)" }
}

extension CSVColumnSelector where Self: RawRepresentable, RawValue == String {
  /// Finds the column that the raw value names.
  ///
  /// - Parameter header: The names of the file's columns.
  /// - Returns: The position of the field in a row, from 0; nil if the file has no such column.
  /// - Complexity: O(1)
  public func csvPosition(in header: CSVHeader) -> Int? { header.position(of: rawValue) }

  /// The raw value.
  public var csvColumnName: String { rawValue }
}
