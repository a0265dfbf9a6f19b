#if SQLite && Jobs
import ArgumentParser
import HeadwayImport

extension ImportSources {
  /// Checks that each file has its own table and can be read again after the process has ended.
  ///
  /// - Throws: A `ValidationError` that names a file.
  func requireRepeatable() throws {
    switch content {
    case .feed: return
    case .files(let files), .table(let files):
      if let pipe = files.first(where: { $0.size == nil }) {
        throw ValidationError("--durable: \(pipe.path) can't be read again. Save it as a file.")
      }
      if case .table = content, files.count > 1 {
        throw ValidationError(
          "--durable: \(files[0].path) and \(files[1].path) belong to one table, and are imported together or not at "
            + "all. Import them without --durable.")
      }
    }
  }
}
#endif
