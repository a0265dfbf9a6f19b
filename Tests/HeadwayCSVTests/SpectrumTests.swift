import Foundation
import HeadwayCSV
import HeadwayTestSupport
import Testing

/// The collection csv-spectrum, if it is available.
///
/// It is next to a checkout (`shared/data`) or in the folder that `HEADWAY_SHARED_DATA` specifies. It is not part of
/// the repository; QuotingTests contains cases of the same kinds.
private let spectrum: URL? = {
  let name = "csv-spectrum"
  if let path = ProcessInfo.processInfo.environment["HEADWAY_SHARED_DATA"] {
    return URL(fileURLWithPath: path).appendingPathComponent(name)
  }
  // The real path: the tests might be reached through a symbolic link.
  var folder = URL(fileURLWithPath: #filePath).resolvingSymlinksInPath().deletingLastPathComponent()
  while folder.path != "/" {
    folder.deleteLastPathComponent()
    let candidate = folder.appendingPathComponent("shared/data/\(name)")
    if FileManager.default.fileExists(atPath: candidate.path) { return candidate }
  }
  return nil
}()

private let spectrumCases: [String] = {
  guard let folder = spectrum?.appendingPathComponent("csvs").path,
    let files = try? FileManager.default.contentsOfDirectory(atPath: folder)
  else { return [] }
  return files.filter { $0.hasSuffix(".csv") }.map { String($0.dropLast(4)) }.sorted()
}()

@Suite(.hangLimit, .enabled(if: spectrum != nil, "csv-spectrum is not at hand"))
struct SpectrumTests {
  @Test("I3: each case of csv-spectrum matches its JSON, with chunks of all sizes", arguments: spectrumCases)
  func matches(name: String) throws {
    let folder = try #require(spectrum)
    let input = [UInt8](try Data(contentsOf: folder.appendingPathComponent("csvs/\(name).csv")))
    let json = try Data(contentsOf: folder.appendingPathComponent("json/\(name).json"))
    let value = try JSONSerialization.jsonObject(with: json)
    // One case contains its only row without the array around it.
    let rows = try #require(value as? [[String: String]] ?? (value as? [String: String]).map { [$0] })

    let records = Feeding(sizes: [input.count + 1]).records(of: input)
    let header = try #require(records.first?.strings)
    var parsed = records.dropFirst().map { Dictionary(uniqueKeysWithValues: zip(header, $0.strings)) }
    if name == "location_coordinates" {
      // An error of the collection: its JSON has a different telephone number than its CSV.
      #expect(parsed.first?["Contact Phone Number"] == "2095257564")
      parsed[0]["Contact Phone Number"] = "1234567890"
    }
    #expect(parsed == rows)
    #expect(records.allSatisfy { $0.strings.count == header.count })
    expectSameInAllPieces(input, as: records)
  }

  @Test("I3: csv-spectrum is complete")
  func complete() {
    #expect(spectrumCases.count == 12)
  }
}
