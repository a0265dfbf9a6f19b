extension TraceRecording {
  /// Returns the recording as an HTML page, which you can search, zoom, and move in a browser.
  ///
  /// The page contains all it needs: it loads nothing from the network. It shows the same rows as
  /// ``svgTimeline(width:showsDependencies:)``, the details of each operation, its dependencies, and the
  /// ``criticalPath()``. You can use it with a pointer or a keyboard. A table lists the operations that a search finds.
  ///
  /// - Returns: The page; about 300 bytes per operation.
  /// - Complexity: O(*n* log *n*) in the number of operations, runs, spans, marks, and dependencies.
  public func html() -> String {
    let content = PageContent(self)
    return """
      <!DOCTYPE html>
      <html lang="en">
      <head>
      <meta charset="utf-8">
      <meta name="viewport" content="width=device-width, initial-scale=1">
      <meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; \
      script-src 'unsafe-inline'">
      <title>\(content.summary.escapedForXML)</title>
      <style>
      \(PageContent.style)</style>
      </head>
      <body>
      \(PageContent.body)
      <script type="application/json" id="recording">\(content.json)</script>
      <script>
      (() => {
      "use strict";
      \(PageContent.script)
      })();
      </script>
      </body>
      </html>

      """
  }
}
