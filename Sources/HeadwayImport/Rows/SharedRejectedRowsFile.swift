import HeadwayFiles

/// Collects the rejected rows of one file, if several files go into one table and share a file for rejected rows.
///
/// A line number does not identify the file, so each reason begins with the file's name.
struct SharedRejectedRowsFile: RowIssueHandler {
  private let file: String
  private let rejectedRows: RejectedRowsFile

  init(of file: String, in rejectedRows: RejectedRowsFile) { (self.file, self.rejectedRows) = (file, rejectedRows) }

  var rejectedRowsPath: String? { rejectedRows.path }

  func append(_ rows: [RowIssue]) throws {
    try rejectedRows.append(
      rows.map { row in
        RowIssue(
          table: row.table, lineNumber: row.lineNumber, status: row.status, reason: "\(file.shownPath): \(row.reason)",
          record: row.record)
      })
  }
}
