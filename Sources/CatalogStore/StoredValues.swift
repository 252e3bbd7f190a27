import BookModel
import Foundation
import GRDB

// How values of the vocabulary stand in the database's columns.

/// Milliseconds since 1970: what is read again is equal to them, whatever the clock says. The year is one from 1 to 9999.
func stored(_ time: Date?) -> Int64? {
    time.flatMap { Int64(exactly: (Date(clamping: $0.timeIntervalSince1970).timeIntervalSince1970 * 1000).rounded()) }
}

func time(stored milliseconds: Int64?) -> Date? {
    milliseconds.map { Date(clamping: Double($0) / 1000) }
}

/// Reads a row's columns one after the other, so that a statement's list of columns and its decoding go side by side
/// without numbers. By position, because looking columns up by name took most of the time of a long shelf.
struct ColumnReader {
    private let row: Row
    private var index: Int

    init(_ row: Row, from index: Int = 0) {
        self.row = row
        self.index = index
    }

    mutating func next<Value: DatabaseValueConvertible & StatementColumnConvertible>(
        _ type: Value.Type = Value.self
    ) throws -> Value {
        defer { index += 1 }
        return try row.decode(Value.self, atIndex: index)
    }

    /// A path of the library.
    /// - Parameter inTrash: whether it may lie in the trash.
    /// - Throws: ``ForeignPath``.
    mutating func nextPath(inTrash: Bool = false) throws -> String {
        let path: String = try next()
        let trash = ".booksync/trash/"
        if inTrash, path.hasPrefix(trash) { return try trash + libraryPath(String(path.dropFirst(trash.count))) }
        return try libraryPath(path)
    }

    private func libraryPath(_ path: String) throws -> String {
        guard isLibraryPath(path) else { throw ForeignPath(path: path) }
        return path
    }

    mutating func nextTime() throws -> Date? {
        time(stored: try next(Int64?.self))
    }

    /// A value that ``jsonText(_:)`` made a text of; nil if the column is NULL.
    mutating func nextJSON<Value: Decodable>(_ type: Value.Type = Value.self) throws -> Value? {
        try next(String?.self).map { try JSONDecoder().decode(Value.self, from: Data($0.utf8)) }
    }

    /// A length as a server or catalog declared it; nil also for an absurd one.
    mutating func nextLength() throws -> Int64? {
        try next(Int64?.self).flatMap { (0...FileSize.max).contains($0) ? $0 : nil }
    }

    /// Seconds of an episode; those that no episode has become the closest that one can have.
    mutating func nextSeconds() throws -> Double { min(ListeningPosition.maximum, max(0, try next())) }

    mutating func nextValidator() throws -> ContentValidator {
        try ContentValidator(entityTag: next(), lastModified: next(), age: next())
    }

    /// What an outer join found in so many columns; nil if it left them empty.
    mutating func nextJoined<Joined>(_ count: Int, as read: (inout Self) throws -> Joined) rethrows -> Joined? {
        if !isNull { return try read(&self) }
        skip(count)
        return nil
    }

    mutating func skip(_ count: Int) { index += count }

    var isNull: Bool { row.hasNull(atIndex: index) }
}

extension StatementArguments {
    init(_ validator: ContentValidator) {
        self = [validator.entityTag, validator.lastModified, validator.age]
    }
}

/// A path in a column that leads out of the library, or to what booksync keeps for itself: no booksync wrote it.
struct ForeignPath: Error {
    let path: String
}

/// A word in a column that the vocabulary does not have; the schema's checks refuse to store such.
struct UnknownWord: Error {}

/// - Throws: ``UnknownWord``.
func word<Word: RawRepresentable<String>>(_ text: String, as type: Word.Type = Word.self) throws -> Word {
    guard let word = Word(rawValue: text) else { throw UnknownWord() }
    return word
}

/// A value as JSON, for a column that no statement looks into, or a statement's argument.
func jsonText(_ value: (some Encodable)?) throws -> String? {
    try value.map { String(decoding: try JSONEncoder().encode($0), as: UTF8.self) }
}

/// The values of a row that is to be written.
typealias ColumnValues = [(column: String, value: (any DatabaseValueConvertible)?)]

// One statement, which stays prepared.
extension Database {
    /// Executes a statement that returns no rows.
    func run(_ sql: String, _ arguments: StatementArguments = []) throws {
        try cachedStatement(sql: sql).execute(arguments: arguments)
    }

    /// Inserts a row, or changes the one of its key.
    /// - Parameters:
    ///   - key: the columns of the table's key; empty where no row can be there.
    ///   - ignoring: whether a row that contradicts one that is there is left out.
    ///   - changes: column → its value in a row that is there already; the other columns get the row's values.
    func insert(
        into table: String, _ row: ColumnValues, key: [String] = [], changes: [String: String] = [:],
        ignoring: Bool = false
    ) throws {
        let columns = row.map { "\"\($0.column)\"" }.joined(separator: ", ")
        let marks = row.map { _ in "?" }.joined(separator: ", ")
        var sql = "INSERT \(ignoring ? "OR IGNORE " : "")INTO \(table) (\(columns)) VALUES (\(marks))"
        if !key.isEmpty {
            let changes = row.map(\.column).filter { !key.contains($0) }
                .map { "\"\($0)\" = \(changes[$0] ?? "excluded.\"\($0)\"")" }
            sql += " ON CONFLICT (\(key.joined(separator: ", "))) DO UPDATE SET \(changes.joined(separator: ", "))"
        }
        try run(sql, StatementArguments(row.map(\.value)))
    }

    /// The value of each row.
    /// - Parameter decode: must not run the same statement.
    func rows<Value>(
        _ sql: String, _ arguments: StatementArguments = [], _ decode: (inout ColumnReader) throws -> Value
    ) throws -> [Value] {
        let rows = try Row.fetchCursor(cachedStatement(sql: sql), arguments: arguments)
        var values: [Value] = []
        while let row = try rows.next() {
            var columns = ColumnReader(row)
            values.append(try decode(&columns))
        }
        return values
    }

    /// The value of the first row; nil if there is none.
    func first<Value>(
        _ sql: String, _ arguments: StatementArguments = [], _ decode: (inout ColumnReader) throws -> Value
    ) throws -> Value? {
        guard let row = try Row.fetchOne(cachedStatement(sql: sql), arguments: arguments) else { return nil }
        var columns = ColumnReader(row)
        return try decode(&columns)
    }

    /// The only column of the first row; nil if it is NULL, or there is no row.
    func value<Value: DatabaseValueConvertible & StatementColumnConvertible>(
        _ sql: String, _ arguments: StatementArguments = []
    ) throws -> Value? {
        try Value.fetchOne(cachedStatement(sql: sql), arguments: arguments)
    }
}

// The same, as a transaction that has no other statement.
extension CatalogStore {
    func rows<Value: Sendable>(
        _ what: Message, _ sql: String, _ arguments: StatementArguments = [],
        _ decode: @escaping @Sendable (inout ColumnReader) throws -> Value
    ) async throws -> [Value] {
        try await read(what) { try $0.rows(sql, arguments, decode) }
    }

    func first<Value: Sendable>(
        _ what: Message, _ sql: String, _ arguments: StatementArguments = [],
        _ decode: @escaping @Sendable (inout ColumnReader) throws -> Value
    ) async throws -> Value? {
        try await read(what) { try $0.first(sql, arguments, decode) }
    }

    func value<Value: DatabaseValueConvertible & StatementColumnConvertible & Sendable>(
        _ what: Message, _ sql: String, _ arguments: StatementArguments = []
    ) async throws -> Value? {
        try await read(what) { try $0.value(sql, arguments) }
    }

    func run(
        _ what: Message, _ durability: Durability, _ sql: String, _ arguments: StatementArguments = []
    ) async throws {
        try await write(what, durability) { try $0.run(sql, arguments) }
    }
}
