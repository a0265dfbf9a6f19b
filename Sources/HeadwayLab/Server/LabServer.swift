#if Lab
import Foundation
import HTTPTypes
import Headway
import HeadwayWeb
import Hummingbird
import NIOCore
import Synchronization

/// Serves the lab's pages and its events to browsers.
package final class LabServer: Sendable {
  /// The address that the server listens on, and what it shows.
  package struct Options: Sendable {
    /// The port to use.
    ///
    /// If another program uses it, the server uses the next free port.
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
  ///   - lab: The lab that the page controls.
  package init(_ options: Options, lab: Lab) {
    self.options = options
    self.lab = lab
    workshops = Workshops(journal: lab.journal, feed: options.feed, work: lab.work)
    guardian = Guardian(token: options.listen == nil ? nil : Secret.make())
  }

  /// Serves until its task is cancelled.
  ///
  /// When this method returns, everything that was running has ended, and the created files have been removed.
  ///
  /// - Parameter onStart: Called with the address of the page when it can be opened.
  /// - Throws: `WebServer.ListeningError`.
  package func run(onStart: @escaping @Sendable (String) -> Void) async throws {
    do {
      try await withTaskExecutorPreference(queue) { try await serve(onStart) }
    } catch {
      await finish()
      throw error
    }
    await finish()
  }

  /// Cancels everything and prevents new runs.
  package func stop() {
    lab.stop()
    workshops.stop()
  }

  private func finish() async {
    stop()
    await workshops.finish()
  }

  private func serve(_ onStart: @escaping @Sendable (String) -> Void) async throws {
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
    let host = options.listen ?? Self.ownHost
    try await WebServer(host: host, port: options.port).run(router.buildResponder()) { [guardian, workshops] port in
      guardian.setPort(port)
      workshops.requests.setOrigin(guardian.ownAddress(host: host, port: port), cookie: guardian.ownCookie)
      onStart(guardian.address(host: host, port: port))
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
        status: .ok, headers: .eventStream, body: ResponseBody(asyncSequence: Viewer(lab, lastEvent: last)))
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
