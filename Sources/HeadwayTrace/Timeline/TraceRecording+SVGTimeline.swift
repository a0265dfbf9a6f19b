extension TraceRecording {
  /// Renders the format ``TraceFormat/svg(width:showsDependencies:)``.
  func svgTimeline(width: Int, showsDependencies: Bool) -> String {
    SVGTimeline(self, width: width, showsDependencies: showsDependencies).document
  }
}
