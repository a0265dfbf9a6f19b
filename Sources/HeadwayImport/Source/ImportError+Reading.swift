import HeadwayCSV
import HeadwayLines

extension ImportError {
  /// Creates the error for a file whose beginning can't be interpreted, or that can't be read.
  init(_ error: CSVReaderError) {
    if let cause = error.underlyingError as? LineReaderError {
      self.init(reading: cause)
      return
    }
    if error.code == .cannotRead {
      self.init(
        .cannotReadFile, path: error.path, context: error.context, underlyingError: error.underlyingError)
      return
    }
    self.init(
      error.code == .foreignContent ? .foreignContent : .badHeader, path: error.path, lineNumber: error.lineNumber,
      context: error.context)
  }

  /// Creates the error for a file that can't be read, or whose archive can't be read.
  init(reading error: LineReaderError) {
    func foreign(_ context: String) -> ImportError {
      ImportError(.foreignContent, path: error.path, context: context)
    }
    switch error.code {
    case .damaged: self = foreign("The compressed file is damaged: it can't be unpacked further.")
    case .encrypted: self = foreign("This is encrypted: unpack it with its password, and give the folder.")
    case .expandsTooFar:
      self = foreign("The archive would expand to more than 200 times its size, so it is not unpacked.")
    case .unsafeName: self = foreign("An archive with such a name of a file, or with one twice, is not read.")
    case .fileNotFound:
      self.init(.cannotReadFile, path: error.path, context: "There is no such file or folder.", underlyingError: error)
    default:
      let context = error.systemErrorDescription.map { "The file can't be read: \($0)." } ?? error.context
      self.init(.cannotReadFile, path: error.path, context: context, underlyingError: error)
    }
  }
}
