extension TraceRecording {
  /// Renders the format ``TraceFormat/html``.
  func html() -> String {
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
