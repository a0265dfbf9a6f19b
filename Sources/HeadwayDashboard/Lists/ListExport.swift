#if Dashboard
import HTTPTypes
import HeadwayJobs
import Hummingbird
import NIOCore

/// The jobs of a list as a file, which is read and sent page by page.
///
/// If the store does not answer, the connection is closed before the file is complete, so the browser reports it.
struct ListExport: AsyncSequence, Sendable {
  typealias Element = ByteBuffer

  /// The format of a file; the raw value is the path of the page.
  enum Format: String, CaseIterable, Sendable {
    case csv = "jobs.csv"
    case json = "jobs.json"

    var name: String { self == .csv ? "CSV" : "JSON" }
    var type: String { self == .csv ? "text/csv; charset=utf-8" : "application/json" }
    fileprivate var start: String { self == .csv ? ExportedJob.csvHeader : "[" }
    fileprivate var separator: String { self == .csv ? "" : "," }
    fileprivate var end: String { self == .csv ? "" : "\n]\n" }

    fileprivate func row(_ job: ExportedJob) -> String { self == .csv ? job.csv : "\n" + job.json }
  }

  private let format: Format
  private let filter: JobFilter
  private let search: ListSearch

  /// The number of jobs that are read together.
  private static let pageSize = 200

  /// Returns the response with the jobs of a list.
  ///
  /// - Parameters:
  ///   - format: The format of the file.
  ///   - fields: The fields of the list's URL.
  ///   - search: Finds the jobs.
  /// - Throws: A ``Refusal`` if a field is not valid.
  /// - Returns: The response, whose body is read while it is sent.
  static func response(_ format: Format, _ fields: Fields, _ search: ListSearch) throws -> Response {
    let now = search.jobs.store.now
    var list = try ListFilter(fields)
    // The file ends, even if jobs are added while it is sent.
    list.until = list.until ?? now
    let export = ListExport(format: format, filter: list.filter(at: now), search: search)
    return Response(
      status: .ok,
      headers: [
        .contentType: format.type, .contentDisposition: "attachment; filename=\"\(format.rawValue)\"",
      ],
      body: ResponseBody(asyncSequence: export))
  }

  func makeAsyncIterator() -> AsyncIterator { AsyncIterator(export: self) }

  struct AsyncIterator: AsyncIteratorProtocol {
    private let export: ListExport
    /// Where the next page of jobs begins.
    private var end: JobID?
    private var hasRows = false
    private var isStarted = false
    private var isComplete = false

    fileprivate init(export: ListExport) { self.export = export }

    /// Returns the next part of the file, with at most one page of jobs.
    mutating func next() async throws -> ByteBuffer? {
      guard !isComplete else { return nil }
      let page = try await export.search.page(export.filter, before: end, limit: ListExport.pageSize)
      let format = export.format
      var text = isStarted ? "" : format.start
      for job in page.jobs {
        text += (hasRows ? format.separator : "") + format.row(ExportedJob(job, hiding: export.search.redactedKeys))
        hasRows = true
      }
      (end, isStarted, isComplete) = (page.next, true, page.next == nil)
      return ByteBuffer(string: text + (isComplete ? format.end : ""))
    }
  }
}
#endif
