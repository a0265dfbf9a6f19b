#if SQLite
import GRDB

/// Somebody else has added rows while an import was adding its own.
struct OtherRows: Error {}

/// A row of a batch that a constraint of the table does not let in.
struct RefusedRow {
  let position: Int
  /// Why, for a person.
  let reason: String
}

/// A trigger has ended the transaction because of a row (`RAISE(ROLLBACK)`): all rows of the transaction are gone.
struct TransactionEnded: Error {
  let row: RefusedRow
}

extension TablePlan {
  /// The reason for which a row is rejected that a trigger ignores (`RAISE(IGNORE)`).
  var ignoredReason: String { "A trigger of the table \(table) ignores it" }

  /// In a table without a key, the number of the row is another's.
  static let takenNumber = "another row has its number"

  /// The result codes of rows with a wrong value: for a constraint, or for an expression of a constraint, an index or
  /// a trigger that cannot be computed.
  private static let rowErrors: [ResultCode] = [
    .SQLITE_CONSTRAINT, .SQLITE_MISMATCH, .SQLITE_TOOBIG, .SQLITE_ERROR,
  ]

  /// The reason for which the table refuses a row; nil if the error is not one of the row.
  func refusal(_ code: ResultCode, _ message: String?) -> String? {
    let columns = key.map { "\(table).\(self.columns[$0].name)" }.joined(separator: ", ")
    switch code {
    case .SQLITE_CONSTRAINT_TRIGGER: return "A trigger of the table \(table) refuses it: \(message ?? "")"
    // A trigger may have tried to add a row to another table.
    case .SQLITE_CONSTRAINT_PRIMARYKEY, .SQLITE_CONSTRAINT_ROWID:
      guard message?.contains("failed: \(table).") == true else { return message }
      return hasKey ? duplicateReason : Self.takenNumber
    case .SQLITE_CONSTRAINT_UNIQUE where message?.hasSuffix("failed: \(columns)") == true: return duplicateReason
    // The table, one that a trigger uses, or a column of theirs is gone.
    case .SQLITE_ERROR where message?.hasPrefix("no such ") == true: return nil
    case .SQLITE_ERROR where message?.contains(" has no column named ") == true: return nil
    case let code where Self.rowErrors.contains(code.primaryResultCode): return message ?? "SQLite refuses it"
    default: return nil
    }
  }
}
#endif
