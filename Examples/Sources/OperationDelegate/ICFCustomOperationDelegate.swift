/// Receives the items that an operation has created, on the main queue.
@MainActor
protocol ICFCustomOperationDelegate: AnyObject, Sendable {
  /// Adds rows.
  func updateTable(with moreData: [String])
}
