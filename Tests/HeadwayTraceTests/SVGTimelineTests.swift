import HeadwayTrace
import Testing

@Suite("SVG timeline", .hangLimit) struct SVGTimelineTests {
  private func parse(
    _ recording: TraceRecording, width: Int = 1200, showsDependencies: Bool = false
  ) throws -> ParsedSVG {
    let text = recording.render(as: .svg(width: width, showsDependencies: showsDependencies))
    #expect(text.utf8.count < 2_000_000)
    let picture = try ParsedSVG(text)
    let root = try #require(picture.elements.first)
    for bar in picture.elements where bar.name == "rect" && !bar.title.isEmpty {
      #expect(bar.x >= 0 && bar.width >= 0.5 && bar.x + bar.width <= root.width - 31.99)
      #expect(bar.y >= 0 && bar.y + bar.height <= root.height)
    }
    return picture
  }

  @Test("A small recording has a bar per run, wait, and span, in proportion to the time") func smallRecording() throws {
    let picture = try parse(.small)
    let runs = picture.bars("run")
    #expect(runs.count == 5)
    #expect(picture.bars("wait").count == 2)
    #expect(picture.bars("span").count == 1)
    // The runs last 30, 28, 10, 15, and 90 ms of 100 ms.
    let scale = try #require(runs.first { $0.title.hasPrefix("watch") }).width / 90
    #expect(abs(runs.reduce(0) { $0 + $1.width } - 173 * scale) < 0.1)
    let index = try #require(runs.first { $0.title.hasPrefix("index") })
    #expect(index.title == "index\n32 ms – 60 ms (28 ms)\nwork\nWaited 2 ms for its queue")
    #expect(abs(index.width - 28 * scale) < 0.05)
    #expect(picture.texts.contains("parse") && picture.texts.contains("worker 1") && picture.texts.contains("20 ms"))
    #expect(picture.texts.contains("4 operations in 100 ms · 1 failed"))
  }

  @Test("Stripes show when a thread was blocked; tooltips show for how long, and how long a queue was suspended")
  func interruptions() throws {
    let picture = try parse(.interrupted)
    let scale = try #require(picture.bars("run").first { $0.title.hasPrefix("watch") }).width / 90
    // The first thread has two rows with runs. One of the stripes is in the legend.
    let stripes = picture.elements.filter { $0.classes.contains("blocked") && $0.width != 16 }
    let widths = stripes.map { ($0.width / scale).rounded() }
    #expect(widths.sorted() == [10, 10, 10, 10])
    #expect(picture.texts.contains("thread blocked"))
    let titles = picture.elements.map(\.title)
    #expect(titles.contains { $0.hasPrefix("parse") && $0.contains("The thread was blocked for 10 ms") })
    #expect(titles.contains { $0.hasPrefix("watch") && $0.contains("The thread was blocked for 20 ms") })
    #expect(titles.contains { $0.hasSuffix("\nThe queue was suspended for 1 ms in this time.") })
    #expect(try !parse(.small).texts.contains("thread blocked"))
  }

  @Test("Runs that overlap on a thread are on different rows; other runs share a row") func rows() throws {
    let picture = try parse(.small)
    let runs = picture.bars("run")
    for (position, first) in runs.enumerated() {
      for second in runs[(position + 1)...] where first.y == second.y {
        #expect(first.x + first.width <= second.x + 0.011 || second.x + second.width <= first.x + 0.011)
      }
    }
    #expect(Set(runs.map(\.y)).count == 3)
  }

  @Test("Failed, cancelled, and unfinished operations have signs") func signs() throws {
    var recording = TraceRecording.small
    recording.operations[0].result = .cancelled
    let picture = try parse(recording)
    let isSign = { (element: ParsedSVG.Element) in element.name == "path" }
    // One in the plot and one in the legend.
    for kind: Substring in ["cross", "dash", "open"] {
      #expect(picture.elements.filter { isSign($0) && $0.classes.contains(kind) }.count == 2, "\(kind)")
    }
    #expect(picture.bars("failure").map(\.title).first?.contains("failed: The disk is full") == true)
    #expect(picture.bars("cancelled").count == 1)
    for text in ["failed", "cancelled", "unfinished", "work (2)", "io (1)", "no queue", "span", "mark"] {
      #expect(picture.texts.contains(text), "\(text)")
    }
  }

  @Test("Dependencies are arrows on demand") func dependencies() throws {
    #expect(try parse(.small).count("arrow") == 0)
    // Two in the plot and one in the legend.
    #expect(try parse(.small, showsDependencies: true).count("arrow") == 3)
  }

  @Test("A timeline of ten thousand operations is below 2 MB; narrow bars are merged, and none is lost")
  func generated() throws {
    let recording = TraceRecording.generated(operationCount: 10_000, seed: 2)
    let picture = try parse(recording, showsDependencies: true)
    let bars = picture.bars("run")
    #expect(bars.count <= 8000)
    let count = bars.reduce(0) { sum, bar in
      sum + (bar.classes.contains("many") ? Int(bar.title.prefix { $0.isNumber }) ?? 0 : 1)
    }
    #expect(count == recording.operations.reduce(0) { $0 + $1.runs.count })
    #expect(picture.count("arrow") == 2001)

    // Without merging, the bars are as wide as the runs.
    let few = TraceRecording.generated(operationCount: 150, seed: 3)
    let wide = try parse(few, width: 20_000)
    let plot = wide.bars("run")
    #expect(plot.count == few.operations.reduce(0) { $0 + $1.runs.count })
    let (first, last) = (plot.map(\.x).min() ?? 0, plot.map { $0.x + $0.width }.max() ?? 0)
    let starts = few.operations.flatMap(\.runs).map(\.startTime)
    let ends = few.operations.flatMap(\.runs).compactMap(\.endTime)
    let length: Duration = try #require(ends.max()) - #require(starts.min())
    let scale = (last - first) / (length / Duration.nanoseconds(1))
    let total: Duration = few.operations.flatMap(\.runs).reduce(.zero) { $0 + ($1.endTime ?? .zero) - $1.startTime }
    let expected = total / Duration.nanoseconds(1) * scale
    let drawn = plot.reduce(0.0) { $0 + $1.width }
    #expect(abs(drawn / expected - 1) < 0.001)
  }

  @Test("Ten thousand operations that overlap on one thread have a limited number of rows") func overlapping() throws {
    let operations = (0..<10_000).map { position in
      TraceRecording.Operation(
        name: "request",
        runs: [.init(startTime: .nanoseconds(position), endTime: .nanoseconds(position + 50_000), thread: 0)])
    }
    let picture = try parse(TraceRecording(duration: 60_000, operations: operations, threads: [.init(name: "main")]))
    #expect(try #require(picture.elements.first).height < 700)
    #expect(picture.bars("many").count == 1)
  }

  @Test("Reserved and control characters are escaped, and a newline is a space in the picture") func names() throws {
    var recording = TraceRecording.small
    recording.operations[3].name = TraceRecording.strangeName
    recording.threads[0].name = TraceRecording.strangeName
    recording.queues[0].name = TraceRecording.strangeName
    let picture = try parse(recording)
    let visible = String(TraceRecording.strangeName.map { $0 == "\u{1}" ? "\u{2401}" : $0 })
    #expect(picture.bars("run").contains { $0.title.hasPrefix(visible) })
    #expect(picture.texts.contains { $0.hasPrefix("a<b> & \"c\" 'd' 👩‍🚀") })
  }

  @Test("An empty recording is a picture, and lost events are mentioned") func empty() throws {
    let picture = try parse(TraceRecording(duration: 0, lostEventCount: 7))
    #expect(picture.texts.contains("0 operations in 0 ns · incomplete: 7 events were lost"))
    #expect(picture.bars("run").isEmpty)
  }

  @Test("Numbers and nouns agree, and the legend explains merged bars only if bars were merged") func words() throws {
    let run = TraceRecording.Operation(name: "a", runs: [.init(startTime: 0, endTime: 10, thread: 0)])
    var recording = TraceRecording(duration: 10, operations: [run], threads: [.init(name: "main")], lostEventCount: 1)
    recording.queues = (0..<15).map { .init(name: "queue \($0)") }
    let texts = try parse(recording).texts
    #expect(texts.contains("1 operation in 10 ns · incomplete: 1 event was lost"))
    #expect(texts.contains("and 1 more queue"))

    let many = "many, too narrow or overlapping"
    let wide = (0..<1500).map { position in
      let start = Duration.microseconds(position)
      return TraceRecording.Operation(name: "a", runs: [.init(startTime: start, endTime: start + 1000, thread: 0)])
    }
    recording = TraceRecording(duration: 1_500_000, operations: wide, threads: [.init(name: "main")])
    #expect(!(try parse(recording, width: 10_000).texts.contains(many)))
    #expect(try parse(recording, width: 640).texts.contains(many))
  }

  @Test("Impossible times and positions still result in a picture", arguments: 0..<100 as Range<UInt64>)
  func impossible(seed: UInt64) throws {
    _ = try parse(.random(seed: seed), width: -5, showsDependencies: true)
  }

  @Test(
    "Ticks are at multiples of 1, 2, or 5, with the unit that fits",
    arguments: [
      (980, ["0 ns", "200 ns", "400 ns", "600 ns", "800 ns"]), (45_000, ["0 µs", "10 µs", "20 µs", "30 µs", "40 µs"]),
      (4_100_000_000, ["0 s", "1 s", "2 s", "3 s", "4 s"]), (2_000_000, ["0 ms", "0.5 ms", "1 ms", "1.5 ms", "2 ms"]),
    ] as [(Int64, [String])])
  func ticks(duration: Int64, labels: [String]) throws {
    let picture = try parse(TraceRecording(duration: .nanoseconds(duration)), width: 640)
    #expect(picture.elements.filter { $0.classes.contains("tick") }.map(\.text) == labels)
  }
}
