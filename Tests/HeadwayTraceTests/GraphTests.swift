import HeadwayTrace
import Testing

@Suite("Graphs of dependencies", .hangLimit) struct GraphTests {
  @Test("Graphviz: a node per operation, dependencies, dashed parents, and a bold critical path") func graphviz() {
    let graph = TraceRecording.small.render(as: .graphviz)
    #expect(
      graph == """
        digraph trace {
          rankdir=LR;
          node [shape=box, fontname="sans-serif"];
          n0 [label="parse\\n30 ms"];
          n1 [label="index\\n28 ms"];
          n2 [label="commit\\nfailed after 25 ms", peripheries=2];
          n3 [label="watch\\nunfinished", penwidth=3];
          n0 -> n1;
          n1 -> n2;
          n1 -> n2 [style=dashed];
        }

        """)
    var ended = TraceRecording.small
    ended.operations.removeLast()
    ended.operations[0].result = .cancelled
    let lines = ended.render(as: .graphviz).split(separator: "\n").map(String.init)
    #expect(lines.contains("  n0 [label=\"parse\\ncancelled\", penwidth=3, style=dashed];"))
    #expect(lines.contains("  n0 -> n1 [penwidth=3];"))
    #expect(lines.contains("  n1 -> n2 [penwidth=3];"))
  }

  @Test("Mermaid: a flowchart with the same content") func mermaid() {
    var recording = TraceRecording.small
    recording.operations.removeLast()
    #expect(
      recording.render(as: .mermaid) == """
        flowchart LR
          n0["parse<br/>30 ms"]
          n1["index<br/>28 ms"]
          n2{{"commit<br/>failed after 25 ms"}}
          n0 --> n1
          n1 --> n2
          n1 -.-> n2
          classDef critical stroke-width:4px
          class n0,n1,n2 critical
          linkStyle 0,1,2 stroke-width:4px

        """)
  }

  @Test("Names are escaped") func names() {
    let recording = TraceRecording(
      duration: 1, operations: [.init(name: "a\"b\\c & <d>\ne;#f`{x}")])
    #expect(recording.render(as: .graphviz).contains(#"label="a\"b\\c &amp; <d>\ne;#f`{x}\nnot started""#))
    #expect(
      recording.render(as: .mermaid).contains(
        "[\"a#34;b#92;c #38; #60;d#62;<br/>e#59;#35;f#96;#123;x#125;<br/>not started\"]"))
  }

  @Test("Impossible recordings have graphs without lines to missing operations", arguments: 0..<50 as Range<UInt64>)
  func impossible(seed: UInt64) {
    let recording = TraceRecording.random(seed: seed)
    let valid = Set(recording.operations.indices.map { "n\($0)" })
    for line in recording.render(as: .graphviz).split(separator: "\n") where line.contains(" -> ") {
      let words = line.split { " ;".contains($0) }.map(String.init)
      #expect(valid.contains(words[0]) && valid.contains(words[2]))
    }
    #expect(TraceRecording(duration: 0).render(as: .mermaid) == "flowchart LR\n")
  }

  @Test("Ten thousand operations have a line each") func generated() {
    let recording = TraceRecording.generated(operationCount: 10_000, seed: 4)
    #expect(recording.render(as: .graphviz).split(separator: "\n").filter { $0.contains("[label=") }.count == 10_000)
    #expect(recording.render(as: .mermaid).split(separator: "\n").filter { $0.contains("-->") }.count > 5000)
  }
}
