/// The states of a request, which change in one direction only.
enum RequestState {
  /// The request has not been started.
  case ready
  /// The connection has been started.
  case executing
  /// The request has ended: loaded, failed or cancelled.
  case finished
}
