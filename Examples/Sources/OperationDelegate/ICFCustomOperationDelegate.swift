/// Hears of what an operation has made, on the main queue.
@MainActor
protocol ICFCustomOperationDelegate: AnyObject, Sendable {
  /// Takes in more rows.
  func updateTable(with moreData: [String])
}
