#if Dashboard
extension PageRenderer {
  /// Returns the part of an ordered list that a page shows.
  ///
  /// - Parameters:
  ///   - list: All elements, in the order of the keys.
  ///   - start: The key where the part begins; nil for the beginning. A list that fits on a page is always whole.
  ///   - limit: The maximum number of elements.
  ///   - key: Returns what the list is ordered by.
  ///   - url: Returns the address of the part that begins at a key; nil for the first part.
  /// - Returns: The part, and the values `first` and `next` of links to other parts.
  static func part<Element, Key: Comparable>(
    of list: [Element], from start: Key?, limit: Int, by key: (Element) -> Key, url: (Key?) -> String
  ) -> (shown: [Element], links: View) {
    var index = 0
    if let start, list.count > limit { index = list.firstIndex { key($0) >= start } ?? list.count }
    let rest = list.dropFirst(index)
    var links = View()
    links["first"] = index > 0 ? url(nil) : nil
    links["next"] = rest.dropFirst(limit).first.map { url(key($0)) }
    return (Array(rest.prefix(limit)), links)
  }

  /// Returns the first names of a list, and how many others there are; nil for none.
  static func firstNames(_ names: [View], limit: Int) -> (names: [View], more: String?) {
    (Array(names.prefix(limit)), names.count > limit ? "and \(names.count - limit) more" : nil)
  }
}
#endif
