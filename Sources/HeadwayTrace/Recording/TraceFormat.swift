/// The format of ``TraceRecording/render(as:)``: a page, a picture, a graph, or a file for trace viewers.
public struct TraceFormat: Sendable {
  fileprivate let render: @Sendable (TraceRecording) -> String

  /// An HTML page, which you can search, zoom, and move in a browser; about 300 bytes per operation.
  ///
  /// The page contains all it needs: it loads nothing from the network. It shows the same rows as
  /// ``svg(width:showsDependencies:)``, the details of each operation, its dependencies, and the
  /// ``TraceRecording/criticalPath()``. You can use it with a pointer or a keyboard. A table lists the operations that
  /// a search finds.
  public static let html = TraceFormat { $0.html() }

  /// A picture of the recording as an SVG document.
  ///
  /// Each thread has a row of bars, one bar per run. If runs overlap on a thread, because they are asynchronous, it has
  /// more rows. Spans are outlined above the runs. The thin bars below the runs are operations that are ready and wait
  /// for their queue, at the thread that starts them. Marks are dotted lines. Each queue has a color.
  /// A failed operation has a cross, and a cancelled one has a dash and a dashed outline. A run that had not ended ends
  /// with a chevron. Names are in the bars where they fit, and in tooltips.
  ///
  /// The colors follow the reader's light or dark appearance. If a recording has many runs, bars that are too
  /// narrow to see are merged with their neighbors, so that the document stays below about 2 MB.
  ///
  /// - Parameters:
  ///   - width: The width of the picture in pixels. It is adjusted to be from 320 to 100,000.
  ///   - showsDependencies: Whether arrows lead from dependencies to the operations that waited for them. At most 2,000
  ///     arrows are drawn.
  /// - Returns: An SVG format with these settings.
  public static func svg(width: Int = 1200, showsDependencies: Bool = false) -> TraceFormat {
    TraceFormat { $0.svgTimeline(width: width, showsDependencies: showsDependencies) }
  }

  /// Chrome's trace event format: a JSON object that Perfetto (<https://ui.perfetto.dev>) and
  /// `chrome://tracing` open.
  ///
  /// The file has a track per thread, with a slice per run and span, and an instant per mark. Operations that overlap
  /// on a thread, because they are asynchronous, are on further tracks with the thread's name and a number. Arrows lead
  /// from the end of a dependency to the start of the dependent operation, and from an operation to the operations that
  /// it added. The time from when an operation was added until it started is an asynchronous slice named after its
  /// queue. The details of a slice contain the queue, the result, the error, the number of the attempt, and how long
  /// the operation waited.
  ///
  /// Times are in microseconds since the recording began, with three decimals. A run that had not ended ends with the
  /// recording, and its details contain `isUnfinished`. The numbers of processes and threads differ from those that the
  /// operating system uses.
  public static let chromeTrace = TraceFormat { $0.chromeTrace() }

  /// The graph of the operations in the language of Graphviz (`dot -Tsvg`).
  ///
  /// An arrow leads from each dependency to the operations that waited for it, and a dashed one from each operation to
  /// the operations that it added. The operations and arrows of the ``TraceRecording/criticalPath()`` are bold. A
  /// failed operation has a double outline, and a cancelled one has a dashed outline.
  public static let graphviz = TraceFormat { $0.graphviz() }

  /// The graph of the operations as a Mermaid flowchart, for Markdown.
  ///
  /// An arrow leads from each dependency to the operations that waited for it, and a dashed one from each operation to
  /// the operations that it added. The operations and arrows of the ``TraceRecording/criticalPath()`` are bold. A
  /// failed operation is a hexagon, and a cancelled one has a dashed outline.
  ///
  /// Mermaid draws at most 500 arrows unless its `maxEdges` is higher.
  public static let mermaid = TraceFormat { $0.mermaid() }
}

extension TraceRecording {
  /// Returns the recording in a format that a program or a person reads.
  ///
  /// - Parameter format: The format, for example `.html`.
  /// - Returns: The text of the file.
  /// - Complexity: O(*n* log *n*) in the number of operations, runs, spans, marks, and dependencies.
  public func render(as format: TraceFormat) -> String { format.render(self) }
}
