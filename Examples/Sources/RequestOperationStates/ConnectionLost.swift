/// The error of a connection that ended in the middle.
struct ConnectionLost: Error, CustomStringConvertible {
  var description: String { "the connection was lost" }
}
