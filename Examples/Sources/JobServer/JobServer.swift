// A server that accepts jobs over HTTP and runs them in a queue: with logs, metrics, spans, and a graceful shutdown.
import Headway
import HeadwayDistributedTracing
import HeadwayLogging
import HeadwayMetrics
import HeadwayServiceLifecycle
import Hummingbird
import Logging
import Metrics
import NIOCore
import ServiceLifecycle
import Tracing

import struct Foundation.Data
import class Foundation.FileHandle

@main
struct JobServer {
  static func main() async throws {
    let options = Options(CommandLine.arguments)
    LoggingSystem.bootstrap { StreamLogHandler.standardError(label: $0) }
    let registry = PrometheusRegistry()
    MetricsSystem.bootstrap(registry)
    let spans = RecentSpans()
    InstrumentationSystem.bootstrap(spans.tracer)
    let logger = Logger(label: "JobServer")

    let queue = OperationQueue(name: "jobs", maxConcurrentOperationCount: options.concurrentJobCount)
    queue.addLogger(logger)
    queue.recordMetrics(every: .seconds(1))
    OperationQueue.recordThreadMetrics(every: .seconds(1))
    queue.recordSpans()

    let ledger = Ledger(path: options.report)
    let router = Router()
    router.add(middleware: TracingMiddleware())
    router.add(middleware: MetricsMiddleware())
    JobController(queue: queue, ledger: ledger, maxJobCount: options.maxJobCount).addRoutes(to: router)
    router.get("metrics") { _, _ in
      Response(
        status: .ok, headers: [.contentType: "text/plain; version=0.0.4"],
        body: ResponseBody(byteBuffer: ByteBuffer(string: registry.text())))
    }
    router.get("spans") { _, _ in spans.text() }

    let connections = Connections()
    let server = Application(
      router: router, server: connections.server(),
      configuration: ApplicationConfiguration(address: .hostname("127.0.0.1", port: options.port)),
      onServerRunning: { channel in
        // `print` would buffer the line.
        FileHandle.standardOutput.write(Data("Listening on port \(channel.localAddress?.port ?? 0)\n".utf8))
      }, logger: logger)
    // The group shuts down its services in reverse order: first the server, which answers its last requests, and then
    // the queue.
    let drained = QueueService(queue, gracePeriod: .seconds(options.gracePeriod), logger: logger)
    let group = ServiceGroup(
      services: [spans, drained, server], gracefulShutdownSignals: [.sigterm, .sigint], logger: logger)
    try await group.run()
    await connections.close()
    try ledger.writeReport()
  }
}
