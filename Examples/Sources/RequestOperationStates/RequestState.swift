/// The states of a request, one way.
enum RequestState {
  /// It has not been started.
  case ready
  /// The connection has been started.
  case executing
  /// It is over: loaded, failed or cancelled.
  case finished
}
