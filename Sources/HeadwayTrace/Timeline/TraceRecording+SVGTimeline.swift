extension TraceRecording {
  /// Returns a picture of the recording as an SVG document.
  ///
  /// Each thread has a row of bars, one bar per run. If runs overlap on a thread, because they are asynchronous, it has
  /// more rows. Spans are outlined above the runs. The thin bars below the runs are operations that are ready and wait
  /// for their queue, at the thread that starts them. Marks are dotted lines. The color of a bar is that of its queue.
  /// A failed operation has a cross, and a cancelled one has a dash and a dashed outline. A run that had not ended ends
  /// with a chevron. Names are in the bars where they fit, and in tooltips.
  ///
  /// The colors follow the reader's light or dark appearance. If a recording has very many runs, bars that are too
  /// narrow to see are merged with their neighbors, so that the document stays below about 2 MB.
  ///
  /// - Parameters:
  ///   - width: The width of the picture in pixels. It is adjusted to be from 320 to 100,000.
  ///   - showsDependencies: Whether arrows lead from dependencies to the operations that waited for them. At most 2,000
  ///     arrows are drawn.
  /// - Returns: The document.
  /// - Complexity: O(*n* log *n*) in the number of operations, runs, spans, marks, and dependencies.
  public func svgTimeline(width: Int = 1200, showsDependencies: Bool = false) -> String {
    SVGTimeline(self, width: width, showsDependencies: showsDependencies).document
  }
}
