/// The error that the operation throws when it has no data.
struct NoData: Error, CustomStringConvertible {
  var description: String { "there is no data" }
}
