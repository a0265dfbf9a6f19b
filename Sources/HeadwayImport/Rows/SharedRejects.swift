import Headway

/// Collects the rejected rows of one of several files that go into one table, in one file for all of them.
///
/// A line number does not identify the file, so each reason begins with the file's name.
struct SharedRejects: RejectedRowReceiver {
  private let file: String
  private let rejects: RejectsFile

  init(of file: String, in rejects: RejectsFile) { (self.file, self.rejects) = (file, rejects) }

  var rejectsPath: String? { rejects.path }

  func append(_ rows: [RejectedRow]) throws {
    try rejects.append(
      rows.map { row in
        RejectedRow(
          table: row.table, line: row.line, status: row.status, reason: "\(file.shownPath): \(row.reason)",
          record: row.record)
      })
  }
}
