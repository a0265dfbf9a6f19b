/// What a committed batch survives.
///
/// Whatever is chosen, the database is never corrupted, and a process that is killed loses nothing that was committed.
public enum Durability: String, Sendable, Hashable, Codable, CaseIterable {
  /// `PRAGMA synchronous = NORMAL`: after a loss of power, or a crash of the operating system, the last committed
  /// batches may be missing. Fast: the disk is waited for at checkpoints only.
  case normal
  /// `PRAGMA synchronous = FULL`: every committed batch survives a loss of power. Each commit waits for the disk.
  case full

  /// The number by which SQLite reports the setting.
  var pragma: Int { self == .normal ? 1 : 2 }
}
