/// What the operation throws when it was given nothing to do.
struct NoData: Error, CustomStringConvertible {
  var description: String { "there is no data" }
}
