/// The events that a committed batch survives.
///
/// With either setting, the database is never corrupted, and a process that is killed loses no committed batch.
public enum Durability: String, Sendable, Hashable, Codable, CaseIterable {
  /// `PRAGMA synchronous = NORMAL`: after a power failure or a crash of the operating system, the last committed
  /// batches can be missing.
  ///
  /// This is fast, because only checkpoints wait for the disk.
  case normal
  /// `PRAGMA synchronous = FULL`: every committed batch survives a power failure.
  ///
  /// Each commit waits for the disk.
  case full

  /// The number that SQLite uses for the setting.
  var pragma: Int { self == .normal ? 1 : 2 }
}
