#if SQLite
public import ArgumentParser
public import HeadwayImport

extension Durability: ExpressibleByArgument {}
extension ImportOptions.RaggedRows: ExpressibleByArgument {}
extension ImportOptions.Types: ExpressibleByArgument {}
#endif
