import BookModel
import Foundation
import GRDB

/// The schema of `Schema.sql`, and how a database is recognised to have it.
enum StoreSchema {
    static let sql = EmbeddedFile.text("Schema.sql")

    /// SQLite's application id (file format, §1.3.16) of a store: `bks`, and the number of the schema.
    static let applicationID: Int64 = 0x626B_7305

    /// The schema that a database has.
    enum Age {
        /// None yet: its first transaction was not committed.
        case unmade
        case current
        case newer
        /// That of a booksync before its first release, or of another program.
        case unknown
    }

    static func age(of database: Database) throws -> Age {
        let id = try Int64.fetchOne(database, sql: "PRAGMA application_id") ?? 0
        if id == applicationID { return .current }
        if id >> 8 == applicationID >> 8 { return id > applicationID ? .newer : .unknown }
        return try Bool.fetchOne(database, sql: "SELECT EXISTS (SELECT 1 FROM sqlite_master)") == true
            ? .unknown : .unmade
    }

    /// Makes the schema if the database has none.
    static func make(in database: Database) throws {
        guard try age(of: database) == .unmade else { return }
        try database.execute(sql: sql)
        try database.execute(sql: "PRAGMA application_id = \(applicationID)")
    }

    /// Refuses a database of another schema, and one that was given triggers or views, or whose own were removed or changed:
    /// by them, anybody who can write the file could have booksync delete, move or show files.
    ///
    /// - Returns: whether it has its tables.
    /// - Throws: ``Failure`` of kind `configuration`.
    @discardableResult
    static func requireOwn(in database: Database, path: String, mayBeUnmade: Bool = false) throws -> Bool {
        switch try age(of: database) {
        case .unmade where mayBeUnmade: return false
        case .unmade:
            throw refusal(
                "\(path) has no tables yet", remedy: "let a command that writes, such as fetch or mirror, make them",
                .storeUnmade)
        case .newer:
            throw refusal(
                "\(path) was made by a newer booksync, whose schema this one does not know",
                remedy: "update booksync, or use another library")
        case .unknown:
            throw refusal(
                "\(path) was made by a booksync before its first release, or by another program",
                remedy: "move it to another folder and run booksync fetch or mirror: audio that is here is recognised")
        case .current: break
        }
        guard let fault = try faultOfTriggers(in: database) else { return true }
        throw foreign(what: "the store cannot be used", path: path, fault: fault)
    }

    private static func refusal(_ why: Message, remedy: Message, _ reason: Failure.Reason? = nil) -> Failure {
        Failure(
            .configuration, disposition: .stop, what: "the store cannot be opened", why: why, remedy: remedy,
            reason: reason)
    }

    /// The schema's text from each trigger on, by their names.
    private static let triggers = Dictionary(
        uniqueKeysWithValues: sql.components(separatedBy: "CREATE TRIGGER ").dropFirst()
            .map { (String($0.prefix { $0 != " " }), "CREATE TRIGGER " + $0) })

    /// SQLite keeps the text of each definition as it was written.
    private static func faultOfTriggers(in database: Database) throws -> Message? {
        var own = triggers
        let rows = try Row.fetchAll(
            database, sql: "SELECT type, name, sql FROM sqlite_master WHERE type IN ('trigger', 'view')")
        for row in rows {
            let (type, name): (String, String) = try (row.decode(atIndex: 0), row.decode(atIndex: 1))
            guard let text = own.removeValue(forKey: name) else { return "its \(type) \(name) was added" }
            // Behind it the schema goes on.
            guard try text.hasPrefix("\(row.decode(String.self, atIndex: 2));") else {
                return "its \(type) \(name) was changed"
            }
        }
        return own.keys.first.map { "its trigger \($0) is missing" }
    }
}
