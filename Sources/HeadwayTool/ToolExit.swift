#if SQLite
  import ArgumentParser
  import Foundation
  import GRDB
  import HeadwayImport

  /// The exit codes of the tool, as `sysexits.h` numbers them.
  enum ToolExit: Int32 {
    case dataError = 65
    case noInput = 66
    case software = 70
    case cannotCreate = 73
    case inputOutput = 74

    init(_ error: any Error) {
      switch error {
      case let error as ImportError:
        switch error.code {
        case .missingFiles, .cannotReadFile: self = .noInput
        case .badHeader, .malformedRow: self = .dataError
        case .database where (error.underlying as? DatabaseError)?.resultCode == .SQLITE_CANTOPEN: self = .cannotCreate
        case .database where (error.underlying as? DatabaseError)?.resultCode == .SQLITE_NOTADB: self = .dataError
        case .cannotWriteRejects: self = .cannotCreate
        default: self = .inputOutput
        }
      case let error as SampleFeedError: self = error.code == .cannotWrite ? .inputOutput : .cannotCreate
      default: self = .software
      }
    }

    /// Says in one line what went wrong, and gives the exit code.
    static func report(_ error: any Error) -> ExitCode {
      let line = "headway: \(error)".replacing("\n", with: " ")
      FileHandle.standardError.write(Data("\(line)\n".utf8))
      return ExitCode(ToolExit(error).rawValue)
    }
  }
#endif
