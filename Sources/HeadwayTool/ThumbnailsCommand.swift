#if SQLite && Drawing
import ArgumentParser
import Foundation
import Headway
import HeadwayDrawing

struct ThumbnailsCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "thumbnails",
    abstract: "Create thumbnails of JPEG and PNG files.",
    discussion: """
      Thumbnails have the names of the pictures, and are in the same subfolders. A thumbnail is up to date if it has \
      its picture's modification time and the right size. Such thumbnails are kept, so after Ctrl-C, the same command \
      creates only the missing ones. A file that can't be read is reported, and the other files are still processed. \
      If a file that headway did not create has the name of a thumbnail, it is also reported, and replaced only with \
      --force. Files appear under their names only when they are complete.

      EXAMPLES:
        headway thumbnails photos --into small
        headway thumbnails photos --into small --size 512 --jobs 2
        headway thumbnails photos --into small --sheet photos.png
        headway thumbnails photo.jpg --output small.jpg
      """)

  @Argument(
    help: ArgumentHelp(
      "A picture, or a folder of pictures, including its subfolders.", valueName: "file or folder"),
    completion: .file())
  var source: String

  @Option(
    help: ArgumentHelp("The folder for the thumbnails, created if needed.", valueName: "folder"),
    completion: .directory)
  var into: String?

  @Option(
    name: .shortAndLong,
    help: ArgumentHelp(
      "The name of the thumbnail, which ends with .png or .jpg. Requires a single picture.", valueName: "file"),
    completion: .file())
  var output: String?

  @Option(
    parsing: .unconditional, help: ArgumentHelp("The longer side of a thumbnail, in pixels.", valueName: "pixels"))
  var size = 256

  @Option(
    name: .shortAndLong, parsing: .unconditional,
    help: ArgumentHelp(
      "How many thumbnails to create in parallel; by default, about as many as there are processors.",
      valueName: "number"))
  var jobs: Int?

  @Option(
    parsing: .unconditional,
    help: ArgumentHelp("The quality of JPEG thumbnails.", valueName: "1 to 100"))
  var quality = 85

  @Option(
    help: ArgumentHelp(
      "Draw all thumbnails with their names into this file, whose name ends with .png or .jpg.", valueName: "file"),
    completion: .file())
  var sheet: String?

  @Flag(
    help:
      "Create thumbnails again even if they are up to date. Also replace other files with the thumbnails' names."
  )
  var force = false

  @Option(help: ProgressStyle.help)
  var progress: ProgressStyle?

  @Flag(name: .shortAndLong, help: "Print only errors.")
  var quiet = false

  func validate() throws {
    guard 1...16_384 ~= size else { throw ValidationError("--size \(size): use 1 to 16384.") }
    guard 1...100 ~= quality else { throw ValidationError("--quality \(quality): use 1 to 100.") }
    if let jobs, jobs < 1 { throw ValidationError("--jobs \(jobs): use 1 or more.") }
    if quiet, progress != nil { throw ValidationError("--quiet and --progress: use one of them.") }
    guard (into == nil) != (output == nil) else {
      throw ValidationError("Specify the folder for the thumbnails, --into, or the file for one thumbnail, --output.")
    }
    if let output, ImageFileFormat(pathExtensionOf: output) == nil {
      throw ValidationError("--output \(output): use a name that ends with .png or .jpg. For a folder, use --into.")
    }
    if let sheet, ImageFileFormat(pathExtensionOf: sheet) == nil {
      throw ValidationError("--sheet \(sheet): use a name that ends with .png or .jpg.")
    }
  }

  func run() async throws {
    do {
      try await makeAll()
    } catch let exit as ExitCode {
      throw exit
    } catch let error as ValidationError {
      throw error
    } catch {
      throw ToolExit.report(error)
    }
  }

  private func makeAll() async throws {
    let start = ContinuousClock.now
    let files = try ThumbnailFiles(of: source, to: output.map { .file($0) } ?? .folder(into ?? ""))
    try files.prepareOutput()
    let tally = ThumbnailTally(total: files.names.count)
    let display = ThumbnailDisplay(quiet ? .none : progress ?? (Terminal.canRedraw ? .bars : .plain), tally)
    let queue = OperationQueue(
      name: "thumbnails", maxConcurrentOperationCount: jobs ?? OperationQueue.defaultMaxConcurrentOperationCount)
    let signals = Signals {
      queue.cancelAllOperations()
      display.show(note: "Stopping. To quit immediately, press Ctrl-C again.")
    }
    display.start()
    for path in files.closedFolders {
      display.show(error: ToolExit.description(of: ImageFileError(.permissionDenied, path: path)))
    }
    for name in files.names where signals.stopSignal == nil {
      queue.addOperation(operation(name, files, tally, display))
    }
    if signals.stopSignal != nil { queue.cancelAllOperations() }
    try await queue.untilAllOperationsAreFinished()
    await display.stop()

    let counts = tally.counts
    // A signal can arrive when everything is done.
    let isStopped = signals.stopSignal != nil && counts.ended < counts.total
    if let sheet, !isStopped { try await drawSheet(sheet, files, queue) }
    let hasFailed = counts.failed > 0 || !files.closedFolders.isEmpty
    let code = isStopped ? 128 + (signals.stopSignal ?? 0) : hasFailed ? ToolExit.dataError.rawValue : 0
    display.showEnd(seconds: (.now - start).inSeconds, isStopped: isStopped, exitCode: code)
    if code != 0 { throw ExitCode(code) }
  }

  /// Returns an operation that creates one thumbnail, unless the thumbnail is up to date.
  private func operation(
    _ name: String, _ files: ThumbnailFiles, _ tally: ThumbnailTally, _ display: ThumbnailDisplay
  ) -> Headway.Operation {
    ThumbnailJob(files.source(name), files.output(name), side: size, quality: quality, force: force) { result in
      switch result {
      case .success(let isMade): tally.add(isMade ? .made : .upToDate)
      case .failure(let error):
        display.show(error: ToolExit.description(of: error))
        tally.add(.failed)
      }
      display.noteStep()
    }
  }

  private func drawSheet(_ path: String, _ files: ThumbnailFiles, _ queue: OperationQueue) async throws {
    let sheets = ContactSheet.sheets(of: files, path: path, side: size)
    let operations = sheets.map { sheet in (sheet: sheet, operation: sheet.operation()) }
    queue.addOperations(operations.map(\.operation), waitUntilFinished: false)
    for (sheet, operation) in operations { try await operation.value.write(to: sheet.path) }
  }
}
#endif
