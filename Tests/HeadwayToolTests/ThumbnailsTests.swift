#if SQLite && Drawing
import Foundation
import HeadwayDrawing
import HeadwayTestSupport
import Testing

@Suite("headway thumbnails", .hangLimit)
struct ThumbnailsTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  /// Writes pictures of one color into the folder `photos`.
  private func writePictures(_ names: String..., width: Double = 120, height: Double = 80) throws {
    for name in names {
      let path = "\(folder.path)/photos/\(name)"
      try FileManager.default.createDirectory(
        atPath: (path as NSString).deletingLastPathComponent, withIntermediateDirectories: true)
      try Image(width: width, height: height) { $0.fill($0.bounds, with: .color(.red)) }.write(to: path)
    }
  }

  private func size(of name: String) throws -> [Int] {
    let information = try ImageFileInformation(contentsOf: "\(folder.path)/\(name)")
    return [information.pixelWidth, information.pixelHeight]
  }

  private func run(_ arguments: String...) async throws -> Tool.Run {
    try await Tool.run(["thumbnails", "photos", "--into", "small"] + arguments, in: folder)
  }

  @Test("R3: a folder that can't be created is reported with the reason and without control characters")
  func noFolder() async throws {
    try writePictures("a.jpg")
    try folder.write("", to: "\u{1B}[31m")
    let result = try await Tool.run("thumbnails", "photos", "--into", "\u{1B}[31m", in: folder)
    #expect(result.status == 73)
    #expect(result.errors == ["headway: \u{FFFD}[31m: The folder can't be created. (File exists)"])
  }

  @Test("R3: only outdated thumbnails are created again, in the same subfolders as the pictures")
  func upToDate() async throws {
    try writePictures("a.jpg", "b.PNG", "sub/deep/c.jpeg")
    try writePictures("tiny.png", width: 20, height: 10)
    try folder.write("no picture", to: "photos/notes.txt")
    try writePictures(".hidden.jpg")
    let first = try await run("--size", "60", "--progress", "plain")
    #expect(first.status == 0)
    #expect(first.output.count == 1 && first.output[0].hasPrefix("4 pictures: 4 made, "))
    #expect(first.errors.last == "thumbnails: 100%, 4 of 4")
    #expect(try size(of: "small/a.jpg") == [60, 40] && size(of: "small/b.PNG") == [60, 40])
    #expect(try size(of: "small/sub/deep/c.jpeg") == [60, 40] && size(of: "small/tiny.png") == [20, 10])
    #expect(!folder.has("small/notes.txt") && !folder.has("small/.hidden.jpg"))

    let second = try await run("--size", "60")
    #expect(second.output[0].hasPrefix("4 pictures: 0 made, 4 up to date, "))
    // A different picture with that name, even an older one, or another size requires a new thumbnail.
    try writePictures("a.jpg", width: 80, height: 120)
    let old = [FileAttributeKey.modificationDate: Date(timeIntervalSince1970: 1_000_000)]
    try FileManager.default.setAttributes(old, ofItemAtPath: "\(folder.path)/photos/a.jpg")
    #expect(try await run("--size", "60").output[0].hasPrefix("4 pictures: 1 made, 3 up to date, "))
    #expect(try size(of: "small/a.jpg") == [40, 60])
    #expect(try await run("--size", "30", "--jobs", "1").output[0].hasPrefix("4 pictures: 3 made, 1 up to date, "))
    #expect(try await run("--size", "30", "--force").output[0].hasPrefix("4 pictures: 4 made, "))
  }

  @Test("R3: a file that can't be read is reported with exit code 65, and the other files are processed")
  func failures() async throws {
    try writePictures("a.jpg", "b.jpg")
    try folder.write("no picture", to: "photos/broken.jpg")
    let json = try await run("--progress", "json", "--size", "60")
    #expect(json.status == 65)
    #expect(
      json.errors.count == 1 && json.errors[0].hasSuffix("photos/broken.jpg: The file is neither JPEG nor PNG."))
    let last = try #require(try json.objects().last)
    #expect(last["event"] as? String == "finished" && last["exitCode"] as? Int == 65)
    #expect(last["made"] as? Int == 2 && last["failed"] as? Int == 1 && last["total"] as? Int == 3)
    #expect(try size(of: "small/a.jpg") == [60, 40] && !folder.has("small/broken.jpg"))
    let quiet = try await run("--quiet")
    #expect(quiet.status == 65 && quiet.output.isEmpty && quiet.errors.count == 1)
  }

  @Test("R3: the contact sheet shows the thumbnails, and is split if there are more than 200")
  func sheet() async throws {
    try writePictures("a.jpg", "b.jpg", "c.jpg", "d.jpg")
    try folder.write("no picture", to: "photos/e.jpg")
    #expect(try await run("--size", "100", "--sheet", "sheet.png").status == 65)
    let sheet = try Image(contentsOf: "\(folder.path)/sheet.png")
    // Three columns and two rows of cells of 100 with a margin of 12, and 18 for names.
    #expect(sheet.pixelWidth == 348 && sheet.pixelHeight == 272)
    for (x, y) in [(62, 62), (174, 62), (286, 62), (62, 192)] {
      let color = sheet.color(x: x, y: y)
      #expect(color.red > 0.95 && color.green < 0.05)
    }
    let empty = sheet.color(x: 174, y: 192)
    #expect(empty == .white)

    for number in 0..<200 { try writePictures("more/\(number).jpg", width: 8, height: 8) }
    _ = try await run("--size", "100", "--sheet", "many.jpg", "--quiet")
    #expect(folder.has("many.jpg") && folder.has("many-2.jpg") && !folder.has("many-3.jpg"))
  }

  @Test("R3: usage errors and missing files exit with the codes of sysexits.h") func exitCodes() async throws {
    try writePictures("a.jpg")
    for (arguments, status): ([String], Int32) in [
      (["photos"], 64), (["photos", "--into", "photos"], 64), (["photos", "--into", "./photos/"], 64),
      (["photos", "--into", "small", "--size", "0"], 64), (["photos", "--into", "small", "--size", "-5"], 64),
      (["photos", "--into", "small", "--jobs", "0"], 64), (["photos", "--into", "small", "--quality", "101"], 64),
      (["photos", "--into", "small", "--sheet", "sheet"], 64), (["none", "--into", "small"], 66),
      (["photos/a.jpg", "--into", "photos"], 64), (["/dev/null", "--into", "small"], 66),
      (["photos/a.jpg", "-o", "photos/a.jpg"], 64), (["photos", "-o", "small.png"], 64),
      (["photos/a.jpg", "-o", "small"], 64), (["photos/a.jpg", "-o", "a.png", "--into", "small"], 64),
      (["photos", "--into", "photos/a.jpg/small"], 73),
      (["photos", "--into", "small", "--sheet", "none/sheet.png"], 73),
    ] {
      let run = try await Tool.run(["thumbnails"] + arguments + ["--progress", "none"], in: folder)
      #expect(run.status == status, "\(arguments): \(run.errors)")
      #expect(run.errors.count == 1)
    }
    #expect(try size(of: "photos/a.jpg") == [120, 80])
    try FileManager.default.createDirectory(atPath: "\(folder.path)/empty", withIntermediateDirectories: true)
    let empty = try await Tool.run("thumbnails", "empty", "--into", "small", "--sheet", "s.png", in: folder)
    #expect(empty.status == 0 && empty.output[0].hasPrefix("0 pictures: 0 made, "))
  }

  @Test("R3: the thumbnail of a single picture is written to a folder or to a specified file")
  func onePicture() async throws {
    try writePictures("a.jpg", "b.jpg")
    let run = try await Tool.run("thumbnails", "photos/a.jpg", "--into", "small", "--size", "60", in: folder)
    #expect(run.status == 0 && run.output[0].hasPrefix("1 picture: 1 made, "))
    #expect(try size(of: "small/a.jpg") == [60, 40] && !folder.has("small/b.jpg"))
    #expect(
      try await Tool.run("thumbnails", "photos/a.jpg", "-o", "new/mine.png", "--size", "30", in: folder).status == 0)
    #expect(try size(of: "new/mine.png") == [30, 20])
    try folder.write("no picture", to: "p.png")
    let broken = try await Tool.run("thumbnails", "p.png", "--into", "small", in: folder)
    #expect(broken.status == 65 && broken.errors.contains("headway: ./p.png: The file is neither JPEG nor PNG."))
  }

  @Test("R3: names that are not UTF-8 are kept, in folders and as arguments") func foreignNames() async throws {
    try writePictures("a.jpg", "same.jpg")
    // As a shell passes them: \u{e9} in Latin-1.
    let script = """
      cd "$0"; e=$(printf '\\351'); mkdir "d$e"; cp photos/a.jpg "d$e/caf$e.jpg"; cp photos/a.jpg "$e.jpg"
      "$1" thumbnails "d$e" --into "t$e" --size 60 --sheet "s$e.png" || exit 1
      "$1" thumbnails "$e.jpg" --into t2 --size 60 || exit 1
      printf x > "d$e/bad$e.jpg"; "$1" thumbnails "d$e" --into "t$e" --size 60 --progress json
      test -s "t$e/caf$e.jpg" && test -s "s$e.png" && test -s "t2/$e.jpg" && echo all
      """
    let run = try await Tool(
      [], in: folder, launcher: ["/bin/sh", "-c", script, folder.path]
    ).finish()
    #expect(run.output.last == "all" && run.status == 0)
    #expect(run.errors.last == "headway: d\\xE9/bad\\xE9.jpg: The file is neither JPEG nor PNG.")
  }

  @Test("R3: an unrelated file with the name of a thumbnail is replaced only with --force")
  func otherFiles() async throws {
    try writePictures("a.jpg", "b.png", "c.png")
    try FileManager.default.createDirectory(atPath: "\(folder.path)/small", withIntermediateDirectories: true)
    try folder.write("mine", to: "small/a.jpg")
    try Image(width: 7, height: 7) { _ in }.write(to: "\(folder.path)/small/b.png")
    for _ in 0..<2 {
      let run = try await run("--size", "60", "--progress", "plain")
      #expect(run.status == 65)
      let errors = run.errors.filter { $0.contains("Another file has the name") }
      #expect(errors.count == 2 && errors.allSatisfy { $0.contains("--force") })
      #expect(try folder.text(of: "small/a.jpg") == "mine")
      #expect(try size(of: "small/b.png") == [7, 7] && size(of: "small/c.png") == [60, 40])
    }
    #expect(try await run("--size", "60", "--force", "--quiet").status == 0)
    #expect(try size(of: "small/a.jpg") == [60, 40] && size(of: "small/b.png") == [60, 40])
    #expect(try await run("--size", "30", "--quiet").status == 0)
    #expect(try size(of: "small/a.jpg") == [30, 20])
  }

  @Test("R3: SIGINT leaves only complete thumbnails, and the same command creates the missing ones")
  func interrupted() async throws {
    let count = 300
    let picture = try Image(width: 1_200, height: 900) { context in
      context.fill(context.bounds, with: .linearGradient(Gradient([.red, .blue]), from: .zero, to: Point(900, 900)))
    }.jpegBytes()
    try FileManager.default.createDirectory(atPath: "\(folder.path)/photos", withIntermediateDirectories: true)
    for number in 0..<count {
      try Data(picture).write(to: URL(fileURLWithPath: "\(folder.path)/photos/\(number).jpg"))
    }
    let tool = try Tool(
      ["thumbnails", "photos", "--into", "small", "--size", "60", "--jobs", "1", "--progress", "plain"], in: folder)
    _ = await tool.errors.first { $0.hasPrefix("thumbnails: ") }
    tool.send(SIGINT)
    let run = await tool.finish()
    // It might have finished before the signal arrived.
    #expect(run.status == 130 || run.output.last?.hasPrefix("300 pictures: 300 made") == true)
    let names = try FileManager.default.contentsOfDirectory(atPath: "\(folder.path)/small")
    for name in names { #expect(try size(of: "small/\(name)") == [60, 45]) }
    #expect(try await self.run("--size", "60", "--quiet").status == 0)
    #expect(try FileManager.default.contentsOfDirectory(atPath: "\(folder.path)/small").count == count)
  }
}
#endif
