import HeadwayLab
import HeadwayTestKit
import HeadwayTestSupport
import LongRunningTechniques
import Testing

@Suite("The lab in a terminal", .hangLimit) struct TerminalTests {
  @Test("Z1, Z4: the lab prints the log and the table of each technique, and a comparison") func all()
    async
  {
    let printed = EventRecorder<String>()
    let lab = TerminalLab(work: {}) { printed.record($0) }
    await lab.run(Technique.allCases)
    let text = printed.events.joined()
    let lines = text.split(separator: "\n")
    for technique in Technique.allCases {
      #expect(text.contains("== \(technique.title)\n"))
      #expect(lines.count { $0.contains("] \(technique.logName) Added ") } == 50)
    }
    #expect(lines.count { $0.hasPrefix("Section 5: ") && $0.contains("Item 5-10") } == 7)
    for title in ["Main thread", "Operation queue, serial", "Custom operations", "Dispatch queue, serial"] {
      #expect(lines.contains { $0.hasPrefix("\(title) ") && $0.hasSuffix("one after another") })
    }
    #expect(text.hasSuffix("Test which one suits you.\n"))
  }

  @Test("Z3: cancelling stops the technique after the current item and starts no other technique") func cancelled()
    async
  {
    let printed = EventRecorder<String>()
    let (entered, goesOn) = (Gate(), Gate())
    let lab = TerminalLab {
      entered.open()
      goesOn.wait()
    } write: {
      printed.record($0)
    }
    async let running: Void = lab.run([.serial, .custom])
    await entered.untilOpen()
    lab.cancel()
    goesOn.open()
    await running
    #expect(printed.events.count { $0.contains(" Added ") } == 1)
    #expect(!printed.events.joined().contains("== Custom"))
  }
}
