#if SQLite
public import ArgumentParser
public import HeadwayImport

extension Durability: ExpressibleByArgument {}
extension ImportOptions.RaggedRowPolicy: ExpressibleByArgument {}
extension ImportOptions.ColumnTypePolicy: ExpressibleByArgument {}
#endif
