import Foundation
import FoundationXML
import Testing

/// An SVG document, parsed by Foundation.
final class ParsedSVG: NSObject, XMLParserDelegate {
  struct Element {
    let name: String
    let attributes: [String: String]
    var title = ""
    var text = ""

    var classes: Set<Substring> { Set((attributes["class"] ?? "").split(separator: " ")) }
    var x: Double { Double(attributes["x"] ?? "") ?? .nan }
    var y: Double { Double(attributes["y"] ?? "") ?? .nan }
    var width: Double { Double(attributes["width"] ?? "") ?? .nan }
    var height: Double { Double(attributes["height"] ?? "") ?? .nan }
  }

  private(set) var elements: [Element] = []
  private var open: [Int] = []

  init(_ text: String) throws {
    super.init()
    let parser = XMLParser(data: Data(text.utf8))
    parser.delegate = self
    let isValid = parser.parse()
    try #require(isValid, "\(String(describing: parser.parserError)) in line \(parser.lineNumber)")
  }

  func parser(
    _ parser: XMLParser, didStartElement name: String, namespaceURI: String?, qualifiedName: String?,
    attributes: [String: String]
  ) {
    open.append(elements.count)
    elements.append(Element(name: name, attributes: attributes))
  }

  func parser(_ parser: XMLParser, foundCharacters string: String) {
    guard let last = open.last else { return }
    if elements[last].name == "title", open.count > 1 {
      elements[open[open.count - 2]].title += string
    } else {
      elements[last].text += string
    }
  }

  func parser(_ parser: XMLParser, didEndElement name: String, namespaceURI: String?, qualifiedName: String?) {
    open.removeLast()
  }

  /// The bars of the plot: rectangles with a tooltip.
  func bars(_ kind: Substring) -> [Element] {
    elements.filter { $0.name == "rect" && !$0.title.isEmpty && $0.classes.contains(kind) }
  }

  func count(_ kind: Substring) -> Int { elements.lazy.filter { $0.classes.contains(kind) }.count }

  var texts: [String] { elements.filter { $0.name == "text" }.map(\.text) }
}
