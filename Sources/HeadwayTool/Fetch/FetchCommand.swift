#if SQLite && HTTP
import ArgumentParser
import Foundation
import Headway
import HeadwayFiles
import HeadwayHTTP

struct FetchCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "fetch",
    abstract: "Download several files at the same time, and resume interrupted downloads.",
    discussion: """
      Until a download is complete, the file is named NAME.headway-part. After Ctrl-C or a lost connection, the same \
      command resumes the download if the server supports that and the content has not changed. An existing file is \
      replaced when the download is complete; if it is a link, the file that it leads to is replaced. A file that was \
      downloaded from the same URL is skipped if it has not changed since, on this machine and on the server. To \
      detect that, the ETag and Last-Modified of the response are stored in an extended attribute of the file, \
      user.headway.download. --force downloads such files again. The environment variables http_proxy, https_proxy, \
      all_proxy and no_proxy specify proxies. no_proxy lists hosts, domains, addresses and networks, each optionally \
      with a port, or is *.

      EXAMPLES:
        headway fetch https://example.org/feed.zip
        headway fetch https://example.org/feed.zip --into downloads --retry 5
        headway fetch https://example.org/a.zip https://example.org/b.zip --jobs 2
        headway fetch 'https://example.org/feed?year=2026' --output feed.zip
        headway fetch https://example.org/feed.zip --checksum $(cat feed.sha256)
        headway fetch https://example.org/feed.zip -H 'Authorization: Bearer TOKEN'

      EXIT CODES, of the first download that failed:
        0    all files are complete or up to date
        64   a usage error, or a URL that is not http or https
        65   a file has the wrong checksum, or exceeds --max-size
        68   the connection to a server failed, for example because its host is unknown
        69   a server responded with an error status, such as 404
        70   an error in headway itself
        73   a file cannot be written
        75   a temporary failure: a timeout, a lost connection, or another download is writing the same file
        76   TLS failed, or a response is not HTTP, can't be decompressed, or has an unsupported redirect
        130  SIGINT stopped the downloads; 129 and 143 are the codes for SIGHUP and SIGTERM
      """)

  @Argument(help: "The http or https URLs to download.")
  var urls: [String]

  @Option(
    help: ArgumentHelp("The folder for the files, created if needed.", valueName: "folder"), completion: .directory)
  var into = "."

  @Option(
    name: .shortAndLong,
    help: ArgumentHelp(
      "The file name, instead of the one in the URL; - for standard output. Requires a single URL.",
      valueName: "file"),
    completion: .file())
  var output: String?

  @Option(
    name: .shortAndLong, parsing: .unconditional,
    help: ArgumentHelp("How many files to download at the same time.", valueName: "number"))
  var jobs = 4

  @Option(
    help: ArgumentHelp(
      "The SHA-256 checksum that the file must have, 64 hexadecimal digits. Requires a single URL.",
      valueName: "sha-256"))
  var checksum: String?

  @Option(
    parsing: .unconditional,
    help: ArgumentHelp("How many times to retry after a temporary failure.", valueName: "times"))
  var retry = 2

  @Option(
    name: [.customShort("H"), .long], parsing: .unconditionalSingleValue,
    help: ArgumentHelp(
      "A header field to send with each request. This option can be repeated.", valueName: "NAME: VALUE"))
  var header: [String] = []

  @Flag(help: "Download files even if they are up to date.")
  var force = false

  @Option(
    help: ArgumentHelp("The maximum size of a file in bytes, optionally with the suffix K, M or G.", valueName: "bytes")
  )
  var maxSize: String?

  @Option(help: ProgressStyle.help)
  var progress: ProgressStyle?

  @Flag(name: .shortAndLong, help: "Print only errors.")
  var quiet = false

  func validate() throws {
    guard !urls.isEmpty else { throw ValidationError("Specify at least one URL.") }
    try SourceDownloads.requireText(urls)
    guard jobs > 0 else { throw ValidationError("--jobs \(jobs): use 1 or more.") }
    guard retry >= 0 else { throw ValidationError("--retry \(retry): use 0 or more.") }
    if quiet, progress != nil { throw ValidationError("--quiet and --progress: use only one of them.") }
    if let checksum {
      guard urls.count == 1 else {
        throw ValidationError("--checksum requires a single URL, but there are \(urls.count).")
      }
      guard (try? SHA256Checksum(checksum)) != nil else {
        throw ValidationError("--checksum \(checksum): use 64 hexadecimal digits.")
      }
    }
    if output != nil, urls.count > 1 {
      throw ValidationError("--output requires a single URL, but there are \(urls.count).")
    }
    if let output, output.isEmpty || output.hasSuffix("/") {
      throw ValidationError("--output \(output): specify the name of a file. For its folder, use --into.")
    }
    var request = Request(url: "")
    for field in header { try Self.add(field, to: &request) }
    if let maxSize, ByteCount.parsed(maxSize) == nil {
      throw ValidationError("--max-size \(maxSize): use a number of bytes, such as 500K, 20M or 2G.")
    }
    if output == "-", progress == .json {
      throw ValidationError(
        "--output - and --progress json: use only one of them, because both write to standard output.")
    }
    var names = urls.map(FileName.of)
    // The partial file of one download must not be the file of another.
    names += names.flatMap { name in DownloadOperation.partialEndings.map { name + $0 } }
    if let twice = names.first(where: { name in names.count { $0 == name } > 1 }) {
      throw ValidationError("More than one of these files would be named “\(twice)”. Download them one at a time.")
    }
  }

  func run() async throws {
    do {
      try FileSystem.createFolder(into)
    } catch {
      ToolExit.say("\(into): The folder can't be created: \(String(cString: strerror(error.errorNumber))).")
      throw ExitCode(ToolExit.cannotCreate.rawValue)
    }
    let start = ContinuousClock.now
    let downloads: [DownloadOperation]
    do { downloads = try makeDownloads() } catch { throw ToolExit.report(error) }
    let queue = OperationQueue()
    queue.name = "fetch"
    queue.maxConcurrentOperationCount = jobs
    let display = FetchDisplay(quiet ? .none : progress ?? (Terminal.canRedraw ? .bars : .plain), downloads)
    let signals = Signals {
      queue.cancelAllOperations()
      display.show(note: "Stopping. To quit immediately, press Ctrl-C again.")
    }
    display.start()
    queue.addOperations(downloads, waitUntilFinished: false)
    try await queue.untilAllOperationsAreFinished()
    await display.stop()
    for error in downloads.compactMap(\.error) { ToolExit.say("\(error)") }
    let code = exitCode(downloads, stoppedBy: signals.stopSignal)
    display.sayEnd(seconds: (.now - start).inSeconds, exitCode: code)
    guard code == 0 else { throw ExitCode(code) }
  }

  private func makeDownloads() throws -> [DownloadOperation] {
    let pool = HTTPConnectionPool(ProxyEnvironment())
    return try urls.map { url in
      var request = Request(url: url)
      for field in header { try Self.add(field, to: &request) }
      let download = DownloadOperation(
        request, to: path(of: url), checksum: try checksum.map { try SHA256Checksum($0) },
        keepsPartialFile: true, limits: limits, connectionPool: pool)
      download.skipsUnchanged = !force
      return download
    }
  }

  /// Adds the header field in an argument.
  private static func add(_ text: String, to request: inout Request) throws {
    let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
    guard parts.count > 1 else { throw ValidationError("--header '\(text)': use 'NAME: VALUE'.") }
    // Header fields are strings, so such bytes can't be sent.
    guard !text.hasForeignBytes else {
      throw ValidationError("--header '\(parts[0])': the header field has bytes that are not UTF-8.")
    }
    do {
      try request.addHeaderField(name: String(parts[0]), value: parts[1].trimmingCharacters(in: .whitespaces))
    } catch {
      throw ValidationError("--header: \(error)")
    }
  }

  private func path(of url: String) -> String {
    let name = output ?? FileName.of(url)
    return name.hasPrefix("/") || name == "-" ? name : "\(into)/\(name)"
  }

  private var limits: HTTPLimits {
    var limits = HTTPLimits()
    limits.maxBodyBytes = maxSize.flatMap(ByteCount.parsed)
    limits.retryPolicy.maxAttemptCount = retry + 1
    return limits
  }

  private func exitCode(_ downloads: [DownloadOperation], stoppedBy signal: Int32?) -> Int32 {
    if let error = downloads.lazy.compactMap(\.error).first { return ToolExit(error).rawValue }
    // A signal can arrive when everything is done.
    guard let signal, downloads.contains(where: \.isCancelled) else { return 0 }
    return 128 + signal
  }
}

/// The name of a file for an address.
enum FileName {
  /// The maximum length of a name in a file system, minus the length that the names of a partial file and its note add.
  private static let maximumBytes = 255 - (DownloadOperation.partialEndings.map(\.utf8.count).max() ?? 0)

  /// Returns the last part of the path.
  ///
  /// It can't lead out of a folder, or control a terminal that shows it.
  static func of(_ url: String) -> String {
    let address = URL(string: url)
    // A path whose bytes are not UTF-8 can't be decoded.
    let encoded = address.flatMap { URLComponents(url: $0, resolvingAgainstBaseURL: true)?.percentEncodedPath }
    let path = address.map { $0.path.isEmpty ? encoded ?? "" : $0.path } ?? ""
    let name = path.split(separator: "/").last.map(String.init) ?? ""
    var safe = String.UnicodeScalarView()
    for scalar in name.unicodeScalars { safe.append(isSafe(scalar) ? scalar : "_") }
    // Names of hidden files and names that mean a folder are not acceptable, because another person chose the address.
    let visible = String(String(safe).drop { $0 == "." })
    return visible.isEmpty ? "download" : shortened(visible)
  }

  private static func isSafe(_ scalar: Unicode.Scalar) -> Bool {
    // In scripts and emoji, joiners are part of a name.
    if scalar == "\u{200C}" || scalar == "\u{200D}" { return true }
    return switch scalar.properties.generalCategory {
    case .control, .format, .lineSeparator, .paragraphSeparator: false
    default: scalar != "/" && scalar != "\\"
    }
  }

  /// Returns the beginning of a long name, with its extension.
  private static func shortened(_ name: String) -> String {
    guard name.utf8.count > maximumBytes else { return name }
    let dot = name.lastIndex(of: ".") ?? name.endIndex
    // Anything longer is not an extension.
    let ending = name[dot...].utf8.count <= 20 ? name[dot...] : ""
    var beginning = name[..<name.index(name.endIndex, offsetBy: -ending.count)]
    while beginning.utf8.count + ending.utf8.count > maximumBytes { beginning.removeLast() }
    return String(beginning + ending)
  }
}

/// Numbers of bytes, as people write and read them.
enum ByteCount {
  private static let units: [Character: Int] = ["K": 1 << 10, "M": 1 << 20, "G": 1 << 30]

  /// Parses `500`, `500K`, `20M`, `2G`.
  static func parsed(_ text: String) -> Int? {
    let unit = text.last.flatMap { units[Character($0.uppercased())] }
    guard let number = Int(unit == nil ? Substring(text) : text.dropLast()), number > 0 else { return nil }
    let (bytes, isTooLarge) = number.multipliedReportingOverflow(by: unit ?? 1)
    return isTooLarge ? nil : bytes
  }

  /// Returns a number in bytes, kB, MB or GB, with factors of 1,000.
  static func text(_ bytes: Int64) -> String {
    switch bytes {
    case 1: "1 byte"
    case ..<1_000: "\(bytes) bytes"
    case ..<1_000_000: String(format: "%.1f kB", Double(bytes) / 1e3)
    case ..<1_000_000_000: String(format: "%.1f MB", Double(bytes) / 1e6)
    default: String(format: "%.2f GB", Double(bytes) / 1e9)
    }
  }
}
#endif
