#if Lab
import Foundation
import HTTPTypes
import Headway
import Hummingbird
import HummingbirdCore
import Logging
import NIOCore
import NIOHTTP1
import NIOPosix
import Synchronization

/// Serves the lab's pages and its events to browsers.
package final class LabServer: Sendable {
  /// The address that the server listens on, and what it shows.
  package struct Options: Sendable {
    /// The port, or the next free one if it is in use.
    ///
    /// 0 for any port.
    package var port = 8080
    /// The address to listen on.
    ///
    /// Nil for this machine only.
    package var listen: String?
    /// The folder of a feed for the page about imports.
    package var feed: String?
    /// Whether runs are recorded for the page `trace.html`.
    ///
    /// A process records at most one trace at a time, so at most one lab in a process can have this option.
    package var recordsTrace = false

    /// Creates options.
    ///
    /// - Parameters:
    ///   - port: The port, or 0 for any port.
    ///   - listen: The address to listen on. Nil for this machine only.
    ///   - feed: The folder of a feed for the page about imports.
    ///   - recordsTrace: Whether runs are recorded for the page `trace.html`.
    package init(port: Int = 8080, listen: String? = nil, feed: String? = nil, recordsTrace: Bool = false) {
      self.port = port
      self.listen = listen
      self.feed = feed
      self.recordsTrace = recordsTrace
    }
  }

  /// The number of ports to try.
  private static let attempts = 20
  private static let ownHost = "127.0.0.1"

  let lab: Lab
  let workshops: Workshops
  private let options: Options
  private let guardian: Guardian
  // The server's tasks run here, because its techniques might occupy all threads of the dispatch queues that run tasks
  // by default.
  private let queue = OperationQueue(name: "lab server", qualityOfService: .userInteractive)

  /// Creates a server.
  ///
  /// - Parameters:
  ///   - options: The address that the server listens on, and what it shows.
  ///   - lab: The lab.
  package init(_ options: Options, lab: Lab) {
    self.options = options
    self.lab = lab
    workshops = Workshops(journal: lab.journal, feed: options.feed, work: lab.work)
    guardian = Guardian(token: options.listen == nil ? nil : Guardian.makeToken())
  }

  /// The reason why the server can't listen.
  package struct ListeningError: Error, CustomStringConvertible {
    /// The address and port.
    package let place: String
    /// The system's description of the reason.
    package let reason: String

    /// The text to show to people.
    package var description: String { "Can't listen on \(place): \(reason)." }
  }

  /// Serves until its task is cancelled.
  ///
  /// When this method returns, everything that was running has ended, and the created files have been removed.
  ///
  /// - Parameter onStart: Called with the address of the page when it can be opened.
  /// - Throws: ``ListeningError``.
  package func run(onStart: @escaping @Sendable (String) -> Void) async throws {
    do {
      try await withTaskExecutorPreference(queue) { try await listen(onStart) }
    } catch {
      await finish()
      throw error
    }
    await finish()
  }

  private func listen(_ onStart: @escaping @Sendable (String) -> Void) async throws {
    let host = options.listen ?? Self.ownHost
    var port = options.port
    let last = port == 0 ? 0 : min(65_535, port + Self.attempts - 1)
    while true {
      do {
        return try await serve(port: port, onStart)
      } catch let error as IOError {
        guard error.errnoCode == EADDRINUSE, port < last else {
          let ports = port == options.port ? "\(port)" : "\(options.port) to \(port)"
          throw ListeningError(place: "\(host):\(ports)", reason: String(cString: strerror(error.errnoCode)))
        }
        port += 1
      } catch let error as SocketAddressError.UnknownHost {
        throw ListeningError(place: host, reason: error.errorDescription)
      }
    }
  }

  /// Cancels everything, and prevents new runs.
  package func stop() {
    lab.stop()
    workshops.stop()
  }

  private func finish() async {
    stop()
    await workshops.finish()
  }

  private func serve(port: Int, _ onStart: @escaping @Sendable (String) -> Void) async throws {
    let router = Router()
    router.add(middleware: guardian)
    if options.recordsTrace {
      let trace = LabTrace { [lab, workshops] in lab.isRunning || workshops.isRunning }
      router.add(middleware: trace)
      trace.addRoutes(to: router)
    }
    addPages(to: router)
    addControls(to: router)
    workshops.addRoutes(to: router)
    // Errors are thrown; a log of requests would only be in the way.
    let logger = Logger(label: "lab") { _ in SwiftLogNoOpLogHandler() }
    let host = options.listen ?? Self.ownHost
    let connections = Connections()
    let responder = router.buildResponder()
    // Not an `Application`, because that runs a service next to the server that might deadlock when its task is
    // cancelled: tasks that have their own executor are cancelled under a lock that a change of executor also acquires.
    let server = Server(
      childChannelSetup: connections.serving { request, writer, channel in
        let source = ApplicationRequestContextSource(channel: channel, logger: logger)
        let response = try await Self.response(to: request, by: responder, in: BasicRequestContext(source: source))
        try await writer.write(response: response.head, body: response.body)
      },
      configuration: ServerConfiguration(address: .hostname(host, port: port)),
      onServerRunning: { [guardian, workshops] channel in
        let port = channel.localAddress?.port ?? port
        guardian.setPort(port)
        workshops.requests.setOrigin(guardian.ownAddress(host: host, port: port), cookie: guardian.ownCookie)
        onStart(guardian.address(host: host, port: port))
      },
      eventLoopGroup: MultiThreadedEventLoopGroup.singleton, logger: logger)
    do {
      try await server.run()
    } catch {
      await connections.close()
      throw error
    }
    await connections.close()
  }

  private static func response(
    to request: Request, by responder: some HTTPResponder<BasicRequestContext>, in context: BasicRequestContext
  ) async throws -> Response {
    do {
      return try await responder.respond(to: request, context: context)
    } catch let error as HTTPParserError {
      // The connection responds to it, and is closed.
      throw error
    } catch {
      return Response(status: .internalServerError)
    }
  }

  // MARK: Pages

  private func addPages(to router: Router<BasicRequestContext>) {
    for page in Page.all {
      let response: @Sendable () -> Response = {
        Response(
          status: .ok, headers: [.contentType: page.type],
          body: ResponseBody(byteBuffer: ByteBuffer(bytes: page.bytes)))
      }
      router.get(RouterPath(page.path)) { _, _ in response() }
      router.head(RouterPath(page.path)) { _, _ in response().createHeadResponse() }
    }
    router.get("events") { [lab] request, _ in
      // The browser's own header, or, if the page opens a new stream, the position that the page specifies.
      let last = request.headers[.lastEventID] ?? request.uri.queryParameters["after"].map(String.init)
      return Response(
        status: .ok, headers: [.contentType: "text/event-stream; charset=utf-8"],
        body: ResponseBody(asyncSequence: Viewer(lab, lastEvent: last)))
    }
  }

  // MARK: Control

  private func addControls(to router: Router<BasicRequestContext>) {
    router.post("api/run") { [lab] request, context in
      lab.run(try await request.decode(as: RunRequest.self, context: context).techniques())
      return HTTPResponse.Status.accepted
    }
    router.post("api/cancel") { [lab] request, context in
      lab.cancel(task: try await request.decode(as: TaskRequest.self, context: context).task)
      return HTTPResponse.Status.accepted
    }
    router.post("api/settings") { [lab] request, context in
      let settings = try await request.decode(as: SettingsRequest.self, context: context)
      if let maximum = settings.maximum {
        guard maximum == -1 || 1...100 ~= maximum else { throw HTTPError(.unprocessableContent) }
        lab.setMaximumConcurrency(maximum)
      }
      if let isSuspended = settings.isSuspended { lab.setSuspended(isSuspended) }
      return HTTPResponse.Status.accepted
    }
    router.post("api/priority") { [lab] request, context in
      let change = try await request.decode(as: PriorityRequest.self, context: context)
      let isDone = lab.setPriority(QueuePriority(roundingTowardNormal: change.priority), of: change.task)
      return isDone ? HTTPResponse.Status.accepted : .conflict
    }
    router.post("api/dependency") { [lab] request, context in
      let change = try await request.decode(as: DependencyRequest.self, context: context)
      return lab.addDependency(of: change.task, on: change.other) ? HTTPResponse.Status.accepted : .conflict
    }
    router.post("api/touch") { [lab] request, context in
      let touch = try await request.decode(as: TouchRequest.self, context: context)
      guard 0...1 ~= touch.x, 0...1 ~= touch.y, touch.viewer.utf8.count <= 40 else {
        throw HTTPError(.unprocessableContent)
      }
      let number = lab.touches.touch(viewer: touch.viewer, x: touch.x, y: touch.y)
      return Response(
        status: .accepted, headers: [.contentType: "application/json"],
        body: ResponseBody(byteBuffer: ByteBuffer(string: "{\"number\":\(number)}")))
    }
    router.get("api/diagnosis/:task") { [lab] _, context in
      guard let task = context.parameters.get("task", as: Int.self), let text = lab.diagnosis(of: task) else {
        throw HTTPError(.notFound)
      }
      return Response(
        status: .ok, headers: [.contentType: "text/plain; charset=utf-8"],
        body: ResponseBody(byteBuffer: ByteBuffer(string: text)))
    }
  }
}
#endif
