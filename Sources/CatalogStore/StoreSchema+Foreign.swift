import BookModel
import Crypto
import GRDB

/// What acts by itself whenever rows are read or written: a trigger or a view.
struct SchemaActor: Hashable {
    var type: String
    var name: String
    var sql: String
}

extension StoreSchema {
    /// Refuses a database that was given triggers or views, or whose own were taken or changed: whoever can write the file
    /// could have booksync delete, move or show what they like by them.
    ///
    /// - Throws: ``Failure`` of kind `configuration`.
    static func requireOwnActors(in database: Database, path: String) throws {
        guard let fault = try faultOfActors(in: database) else { return }
        throw foreign(what: "the store cannot be used", path: path, fault: fault)
    }

    /// ``digest(of:)`` of what the newest schema has: to make that schema takes longer than most commands do.
    static let currentActors = "5b78a5b00b9ee247d243138a8d5129d7a7fc757590173a3431a55b4372fade3a"

    static func digest(of actors: Set<SchemaActor>) -> String {
        let texts = actors.map { "\($0.type) \($0.name): \($0.sql)" }.sorted()
        return SHA256.hash(data: Array(texts.joined(separator: "\n").utf8)).hexadecimal
    }

    private static func faultOfActors(in database: Database) throws -> Message? {
        let found = try actors(in: database)
        let isCurrent = try migrator.hasCompletedMigrations(database)
        if isCurrent, digest(of: found) == currentActors { return nil }
        let own = try ownActors.get()
        // An older schema has some of them, perhaps as they were then.
        let ownNames = Set(own.map(\.name))
        if let foreign = found.subtracting(own).first(where: { isCurrent || !ownNames.contains($0.name) }) {
            return ownNames.contains(foreign.name)
                ? "its \(foreign.type) \(foreign.name) was changed" : "its \(foreign.type) \(foreign.name) was added"
        }
        guard isCurrent, let missing = own.subtracting(found).first else { return nil }
        return "its \(missing.type) \(missing.name) is missing"
    }

    private static let ownActors = Result {
        let database = try DatabaseQueue()
        try migrator.migrate(database)
        return try database.read(actors)
    }

    static func actors(in database: Database) throws -> Set<SchemaActor> {
        let sql = "SELECT type, name, sql FROM sqlite_master WHERE type IN ('trigger', 'view')"
        return try Set(
            Row.fetchAll(database, sql: sql).map { row in
                SchemaActor(
                    type: try row.decode(atIndex: 0), name: try row.decode(atIndex: 1), sql: try row.decode(atIndex: 2))
            })
    }
}
