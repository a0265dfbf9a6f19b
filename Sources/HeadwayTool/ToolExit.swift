#if SQLite
import ArgumentParser
import Foundation
import GRDB
import HeadwayCSV
import HeadwayImport
import HeadwaySampleData

#if HTTP
import HeadwayHTTP
#endif

#if Drawing
import HeadwayDrawing
#endif

#if Web
import HeadwayWeb
#endif

/// The exit codes of the tool, numbered as in `sysexits.h`, and one for partial success.
enum ToolExit: Int32 {
  case rejectedRows = 3
  case usage = 64
  case dataError = 65
  case noInput = 66
  case noHost = 68
  case unavailable = 69
  case software = 70
  case cannotCreate = 73
  case inputOutput = 74
  case temporaryFailure = 75
  case protocolError = 76

  init(_ error: any Error) {
    switch error {
    case let error as ImportError:
      switch error.code {
      case .missingFiles, .cannotReadFile: self = .noInput
      case .foreignContent, .badHeader, .malformedRow, .foreignRows, .unsuitableTable, .unfinishedAppend,
        .unknownColumn, .noRows, .brokenReferences:
        self = .dataError
      case .database: self = Self(databaseResult: (error.underlyingError as? DatabaseError)?.resultCode)
      case .cannotWriteRejectedRows: self = .cannotCreate
      case .otherWriter: self = .temporaryFailure
      default: self = .inputOutput
      }
    case let error as CSVWriterError: self = Self(writerError: error)
    case let error as SampleFeedError: self = error.code == .cannotWrite ? .inputOutput : .cannotCreate
    #if HTTP
    case let error as RequestError: self = Self(error)
    #endif
    #if Web
    case is WebServer.ListeningError: self = .unavailable
    #endif
    default:
      self = Self(drawingError: error) ?? Self(jobError: error) ?? Self(dashboardError: error) ?? .software
    }
  }

  private init(writerError error: CSVWriterError) {
    switch error.code {
    case .folderNotFound, .isDirectory, .permissionDenied: self = .cannotCreate
    default: self = .inputOutput
    }
  }

  #if Drawing
  private init?(drawingError error: any Error) {
    switch (error as? ImageFileError)?.code {
    case nil: return nil
    case .fileNotFound?, .notRegularFile?, .permissionDenied?, .inputOutputError?: self = .noInput
    case .cannotWrite?: self = .cannotCreate
    case .outOfMemory?: self = .software
    default: self = .dataError
    }
  }
  #else
  private init?(drawingError error: any Error) { return nil }
  #endif

  #if Jobs
  /// The exit code for an error of SQLite; nil for other errors.
  init?(databaseError error: (any Error)?) {
    guard let error = error as? DatabaseError else { return nil }
    self.init(databaseResult: error.resultCode)
  }
  #else
  private init?(jobError error: any Error) { return nil }
  #endif

  #if !Dashboard
  private init?(dashboardError error: any Error) { return nil }
  #endif

  private init(databaseResult result: ResultCode?) {
    switch result {
    case .SQLITE_CANTOPEN?, .SQLITE_READONLY?, .SQLITE_PERM?: self = .cannotCreate
    case .SQLITE_NOTADB?, .SQLITE_CORRUPT?: self = .dataError
    case .SQLITE_BUSY?, .SQLITE_LOCKED?: self = .temporaryFailure
    default: self = .inputOutput
    }
  }

  /// Prints a one-line error message and returns the exit code.
  static func report(_ error: any Error) -> ExitCode {
    say(description(of: error))
    return ExitCode(ToolExit(error).rawValue)
  }

  /// Writes one line to standard error, regardless of the line endings in the text.
  static func say(_ text: String) {
    let line = text.split(whereSeparator: \.isNewline).joined(separator: " ")
    StandardStream.error.writeLine("headway: \(sentence(line))")
  }

  /// Returns the text, with a period if it does not end like a sentence.
  static func sentence(_ text: String) -> String {
    endsSentence(text[...]) ? text : "\(text)."
  }

  /// Returns whether a text ends with a sentence, or with parentheses that contain or follow one.
  private static func endsSentence(_ text: Substring) -> Bool {
    func isEnd(_ character: Character?) -> Bool { character.map { ".?!…".contains($0) } ?? false }
    guard text.last == ")", !isEnd(text.dropLast().last) else { return text.last == ")" || isEnd(text.last) }
    var depth = 0
    for position in text.indices.reversed() {
      switch text[position] {
      case ")": depth += 1
      case "(": depth -= 1
      default: break
      }
      if depth == 0 { return text[..<position].last == " " && isEnd(text[..<position].dropLast().last) }
    }
    return false
  }

  /// Returns the error for people, without the statement that SQLite was executing and the internals of Foundation's
  /// errors.
  static func description(of error: any Error) -> String {
    if let error = error as? ImportError, error.code == .foreignRows {
      return "\(error.text) Use --append to add to them, --replace to put the file's rows in their place, or --key."
    }
    if let error = error as? ImportError, error.code == .unknownColumn {
      return "\(error.text) Correct the file, or use --add-columns."
    }
    if let error = error as? ImportError, error.code == .unfinishedAppend {
      return "\(error.text) Use --from-start to add the whole file."
    }
    guard let error = error as? ImportError, let underlying = error.underlyingErrorOutsideContext else {
      return "\(error)"
    }
    let reason =
      switch underlying {
      case let underlying as DatabaseError: underlying.message ?? "SQLite error \(underlying.resultCode.rawValue)"
      case is CocoaError, is POSIXError: systemReason(underlying as NSError)
      default: "\(underlying)"
      }
    guard ToolExit(error) == .temporaryFailure else { return "\(error.text) (\(reason))" }
    return "\(error.text) (\(reason)) Another program is writing to it: run the same command when that program has "
      + "ended. Committed rows stay in the table."
  }

  private static func systemReason(_ error: NSError) -> String {
    // The system's own description, if Foundation kept its number, because it is the most precise.
    let inner = (error.userInfo[NSUnderlyingErrorKey] as? any Error).map { $0 as NSError } ?? error
    guard inner.domain == NSPOSIXErrorDomain else { return error.localizedDescription }
    return String(cString: strerror(Int32(inner.code)))
  }
}
#endif
