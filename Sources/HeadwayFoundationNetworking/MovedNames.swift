#if canImport(FoundationNetworking)
// Foundation contains unusable names for the types that moved to FoundationNetworking, and this module exports both
// modules. Therefore a name that is qualified by this module, or imported individually from it, needs an alias. Because
// the types are also exported by name, an unqualified name refers to a single type, whatever else a file imports.

@_exported public import class FoundationNetworking.CachedURLResponse
@_exported public import class FoundationNetworking.HTTPCookie
@_exported public import class FoundationNetworking.HTTPCookieStorage
@_exported public import class FoundationNetworking.HTTPURLResponse
@_exported public import class FoundationNetworking.URLAuthenticationChallenge
@_exported public import class FoundationNetworking.URLCache
@_exported public import class FoundationNetworking.URLCredential
@_exported public import class FoundationNetworking.URLCredentialStorage
@_exported public import class FoundationNetworking.URLProtectionSpace
@_exported public import class FoundationNetworking.URLProtocol
@_exported public import class FoundationNetworking.URLResponse
@_exported public import class FoundationNetworking.URLSession
@_exported public import class FoundationNetworking.URLSessionConfiguration
@_exported public import class FoundationNetworking.URLSessionDataTask
@_exported public import class FoundationNetworking.URLSessionDownloadTask
@_exported public import class FoundationNetworking.URLSessionStreamTask
@_exported public import class FoundationNetworking.URLSessionTask
@_exported public import class FoundationNetworking.URLSessionUploadTask

/// FoundationNetworking's class of this name.
public typealias CachedURLResponse = FoundationNetworking.CachedURLResponse

/// FoundationNetworking's class of this name.
public typealias HTTPCookie = FoundationNetworking.HTTPCookie

/// FoundationNetworking's class of this name.
public typealias HTTPCookieStorage = FoundationNetworking.HTTPCookieStorage

/// FoundationNetworking's class of this name.
public typealias HTTPURLResponse = FoundationNetworking.HTTPURLResponse

/// FoundationNetworking's class of this name.
public typealias URLAuthenticationChallenge = FoundationNetworking.URLAuthenticationChallenge

/// FoundationNetworking's class of this name.
public typealias URLCache = FoundationNetworking.URLCache

/// FoundationNetworking's class of this name.
public typealias URLCredential = FoundationNetworking.URLCredential

/// FoundationNetworking's class of this name.
public typealias URLCredentialStorage = FoundationNetworking.URLCredentialStorage

/// FoundationNetworking's class of this name.
public typealias URLProtectionSpace = FoundationNetworking.URLProtectionSpace

/// FoundationNetworking's class of this name.
public typealias URLProtocol = FoundationNetworking.URLProtocol

/// FoundationNetworking's class of this name.
public typealias URLResponse = FoundationNetworking.URLResponse

/// FoundationNetworking's class of this name.
public typealias URLSession = FoundationNetworking.URLSession

/// FoundationNetworking's class of this name.
public typealias URLSessionConfiguration = FoundationNetworking.URLSessionConfiguration

/// FoundationNetworking's class of this name.
public typealias URLSessionDataTask = FoundationNetworking.URLSessionDataTask

/// FoundationNetworking's class of this name.
public typealias URLSessionDownloadTask = FoundationNetworking.URLSessionDownloadTask

/// FoundationNetworking's class of this name.
public typealias URLSessionStreamTask = FoundationNetworking.URLSessionStreamTask

/// FoundationNetworking's class of this name.
public typealias URLSessionTask = FoundationNetworking.URLSessionTask

/// FoundationNetworking's class of this name.
public typealias URLSessionUploadTask = FoundationNetworking.URLSessionUploadTask
#endif
