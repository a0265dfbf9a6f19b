/// Receives the events of a connection, on the connection's queue.
protocol LocalConnectionDelegate: AnyObject, Sendable {
  func connection(_ connection: LocalConnection, didRedirectTo address: String)
  func connection(_ connection: LocalConnection, didReceiveResponse status: Int)
  func connection(_ connection: LocalConnection, didReceive data: [UInt8])
  func connectionDidFinishLoading(_ connection: LocalConnection)
  func connection(_ connection: LocalConnection, didFailWith error: any Error)
}
