#if SQLite
import GRDB

/// Another connection has added rows while an import was adding its own.
struct OtherRows: Error {}

/// A row of a batch that a constraint of the table rejects.
struct RefusedRow {
  let position: Int
  /// The reason, described for people.
  let reason: String
}

/// A trigger has ended the transaction because of a row (`RAISE(ROLLBACK)`).
///
/// All rows of the transaction were rolled back.
struct TransactionEnded: Error {
  let row: RefusedRow
}

extension TablePlan {
  /// The reason for rejecting a row that a trigger ignores (`RAISE(IGNORE)`).
  var ignoredReason: String { "A trigger of the table \(table) ignores it" }

  /// The reason for rejecting a row of a table without a key if another row has its number.
  static let takenNumber = "another row has its number"

  /// The reason for rejecting a row that violates a foreign key.
  static let brokenReference = "it refers to a row that does not exist, or rows of other tables refer to it"

  /// The result codes for rows with an invalid value.
  ///
  /// It violates a constraint, or makes it impossible to compute an expression of a constraint, an index or a trigger.
  private static let rowErrors: [ResultCode] = [
    .SQLITE_CONSTRAINT, .SQLITE_MISMATCH, .SQLITE_TOOBIG, .SQLITE_ERROR,
  ]

  /// The reason that the table rejects a row; nil if the error is not caused by the row.
  func refusal(_ code: ResultCode, _ message: String?) -> String? {
    let columns = key.map { "\(table).\(self.columns[$0].name)" }.joined(separator: ", ")
    switch code {
    case .SQLITE_CONSTRAINT_FOREIGNKEY: return Self.brokenReference
    case .SQLITE_CONSTRAINT_TRIGGER: return "A trigger of the table \(table) rejects it: \(message ?? "")"
    // A trigger might have tried to add a row to another table.
    case .SQLITE_CONSTRAINT_PRIMARYKEY, .SQLITE_CONSTRAINT_ROWID:
      guard message?.contains("failed: \(table).") == true else { return message }
      return hasKey ? duplicateReason : Self.takenNumber
    case .SQLITE_CONSTRAINT_UNIQUE where message?.hasSuffix("failed: \(columns)") == true: return duplicateReason
    // The table, a table that a trigger uses, or one of their columns no longer exists.
    case .SQLITE_ERROR where message?.hasPrefix("no such ") == true: return nil
    case .SQLITE_ERROR where message?.contains(" has no column named ") == true: return nil
    case let code where Self.rowErrors.contains(code.primaryResultCode): return message ?? "SQLite rejects it"
    default: return nil
    }
  }
}
#endif
