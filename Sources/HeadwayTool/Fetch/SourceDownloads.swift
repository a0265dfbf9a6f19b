#if SQLite && HTTP
import ArgumentParser
import Foundation
import Headway
import HeadwayFiles
import HeadwayHTTP

/// Downloads sources that are addresses, before they are imported.
///
/// The files stay in their folder, under a name that is the same each time. The name lets a later import detect that it
/// imports the same file again.
struct SourceDownloads {
  let folder: String

  /// Creates a folder for downloads that are needed only once.
  ///
  /// - Throws: ``RequestError``.
  static func privateFolder() throws -> PrivateFolder {
    do { return try PrivateFolder() } catch {
      throw RequestError(
        .cannotWriteFile, url: "", context: "A temporary folder can't be created.", systemErrorNumber: error.errorNumber
      )
    }
  }

  /// Downloads the sources that are addresses and returns the paths of all sources.
  ///
  /// - Throws: ``RequestError``; an exit code, if a signal ended the downloads; or a `ValidationError`.
  func files(of sources: [String], _ style: ProgressStyle, _ notices: Notices) async throws -> [String] {
    guard sources.contains(where: Self.isAddress) else { return sources }
    try Self.requireText(sources.filter(Self.isAddress))
    let paths = sources.map { Self.isAddress($0) ? "\(folder)/\(FileName.of($0))" : $0 }
    guard Set(paths).count == paths.count else {
      throw ValidationError("More than one of these files would have the same name. Import them one at a time.")
    }
    do {
      try FileSystem.createFolder(folder)
    } catch {
      throw RequestError(
        .cannotWriteFile, url: folder, context: "The folder for downloads can't be created.",
        systemErrorNumber: error.errorNumber)
    }
    let pool = HTTPConnectionPool(ProxyEnvironment())
    let downloads = zip(sources, paths).filter { Self.isAddress($0.0) }.map { url, path in
      let download = DownloadOperation(
        url, to: path, keepsPartialFile: true, connectionPool: pool)
      // An import needs the decoded content, whatever coding it has during transfer.
      download.decodesContent = true
      download.skipsUnchanged = true
      return download
    }
    for download in downloads { notices.say("Downloading \(download.request.url) to \(download.path).") }
    let display = FetchDisplay(style == .json ? .none : style, downloads)
    let queue = OperationQueue()
    queue.name = "download"
    let signals = Signals { queue.cancelAllOperations() }
    display.start()
    queue.addOperations(downloads, waitUntilFinished: false)
    try await queue.untilAllOperationsAreFinished()
    await display.stop()
    if let error = downloads.lazy.compactMap(\.error).first { throw error }
    if let signal = signals.stopSignal { throw ExitCode(128 + signal) }
    return paths
  }

  /// Throws if a URL has bytes that are not UTF-8: as characters, they would be sent as other bytes.
  ///
  /// - Throws: A `ValidationError`.
  static func requireText(_ urls: [String]) throws {
    guard let url = urls.first(where: \.hasForeignBytes) else { return }
    let shown = url.withoutCredentials
    let byte = shown.replacingForeignBytes { "%" + String($0, radix: 16, uppercase: true) }
    throw ValidationError("\(shown): The URL has bytes that are not UTF-8. Percent-encode them: \(byte)")
  }

  static func isAddress(_ source: String) -> Bool {
    ["http://", "https://"].contains { source.lowercased().hasPrefix($0) }
  }
}
#endif
