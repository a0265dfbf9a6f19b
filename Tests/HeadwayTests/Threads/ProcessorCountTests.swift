import Testing

@testable import Headway

#if os(Linux)
@Suite("Processor count", .hangLimit) struct ProcessorCountTests {
  private func quota(_ controlGroups: String, _ files: [String: String]) -> Int? {
    ProcessorCount.quota(controlGroups: controlGroups) { files[$0] }
  }

  @Test(
    "T3: the quota of a control group of version 2 applies, rounded up to whole processors",
    arguments: [
      ("150000 100000\n", 2), ("100000 100000\n", 1), ("1000 100000\n", 1), ("400000 100000", 4),
      ("max 100000\n", nil), ("", nil), ("150000", nil), ("150000 0", nil), ("-1 100000", nil), ("a b", nil),
    ] as [(String, Int?)])
  func version2(text: String, expected: Int?) {
    #expect(quota("0::/a/b\n", ["/a/b/cpu.max": text]) == expected)
  }

  @Test("T3: the smallest quota of a control group and its parents applies") func around() {
    let files = ["/cpu.max": "700000 100000", "/a/cpu.max": "300000 100000", "/a/b/cpu.max": "500000 100000"]
    #expect(quota("0::/a/b\n", files) == 3)
    #expect(quota("0::/a\n", files) == 3)
    #expect(quota("0::/\n", files) == 7)
    #expect(quota("0::/other/deep\n", files) == 7)
    #expect(quota("0::/other\n", ["/a/cpu.max": "300000 100000"]) == nil)
  }

  @Test("T3: the quota of a control group of version 1 applies") func version1() {
    let groups = "12:memory:/x\n4:cpu,cpuacct:/a/b\n3:cpuset:/c\n0::/\n"
    let files = [
      "/cpu/a/b/cpu.cfs_quota_us": "250000\n", "/cpu/a/b/cpu.cfs_period_us": "100000\n",
      "/cpu/cpu.cfs_quota_us": "-1\n", "/cpu/cpu.cfs_period_us": "100000\n",
      "/cpu/c/cpu.cfs_quota_us": "100000\n", "/cpu/c/cpu.cfs_period_us": "100000\n",
    ]
    #expect(quota(groups, files) == 3)
    #expect(quota("4:cpu,cpuacct:/a\n", files) == nil)
    #expect(quota("4:cpuacct,cpu:/a/b\n", ["/cpu/a/b/cpu.cfs_quota_us": "250000\n"]) == nil)
  }

  @Test(
    "T3: a file that is not a list of control groups specifies nothing",
    arguments: ["", "\n\n", "0:", "nonsense", "::"])
  func nonsense(text: String) { #expect(quota(text, [:]) == nil) }

  @Test("T3: there is at least one usable processor") func usable() { #expect(ProcessorCount.usable >= 1) }
}
#endif
