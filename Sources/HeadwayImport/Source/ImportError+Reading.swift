import HeadwayCSV
import HeadwayLines

extension ImportError {
  /// Creates the error for a file whose beginning can't be interpreted, or that can't be read.
  init(_ error: CSVReaderError) {
    if let cause = error.underlyingError as? LineReaderError {
      self.init(reading: cause)
      return
    }
    self.init(
      error.code == .foreignContent ? .foreignContent : .badHeader, path: error.path, lineNumber: error.lineNumber,
      message: error.message)
  }

  /// Creates the error for a file that can't be read, or whose archive can't be read.
  init(reading error: LineReaderError) {
    func foreign(_ message: String) -> ImportError {
      ImportError(.foreignContent, path: error.path, message: message)
    }
    switch error.code {
    case .damaged: self = foreign("The compressed file is damaged: it can't be unpacked further.")
    case .encrypted: self = foreign("This is encrypted: unpack it with its password, and give the folder.")
    case .expandsTooFar:
      self = foreign("More than 200 times the archive's size would come out of it: this is not unpacked.")
    case .unsafeName: self = foreign("An archive with such a name of a file, or with one twice, is not read.")
    case .fileNotFound:
      self.init(.cannotReadFile, path: error.path, message: "There is no such file or folder.", underlying: error)
    default:
      let reason = error.errorText ?? "\(error.code)"
      self.init(.cannotReadFile, path: error.path, message: "The file can't be read: \(reason).", underlying: error)
    }
  }
}
