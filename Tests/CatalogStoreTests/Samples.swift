import BookModel
import CatalogStore
import Foundation
import Support

/// Runs `body` with the path of a store that does not exist yet, in a folder that is removed afterwards.
func withStorePath<Value>(_ body: (String) async throws -> Value) async throws -> Value {
    try await withTemporaryFolder { try await body($0.appending(path: "store.sqlite").path) }
}

/// Runs `body` with a new store.
func withStore<Value>(_ body: (CatalogStore) async throws -> Value) async throws -> Value {
    try await withStorePath { path in
        let store = try await CatalogStore(path: path, access: .readWrite)
        let value = try await body(store)
        try await store.close()
        return value
    }
}

/// The failure that `body` throws; nil when it throws none.
func failure(of body: () async throws -> Void) async throws -> Failure? {
    do {
        try await body()
        return nil
    } catch let failure as Failure {
        return failure
    }
}

let veterinary = BookIdentity(source: "kting", id: "30776")

func time(milliseconds: Int64) -> Date {
    Date(timeIntervalSince1970: Double(milliseconds) / 1000)
}

extension EpisodeIdentity {
    static func sample(_ number: Int, of book: BookIdentity = veterinary) -> EpisodeIdentity {
        EpisodeIdentity(book: book, key: "id\(number)")
    }
}

extension Episode {
    /// An episode that says something about everything.
    static func sample(_ number: Int, of book: BookIdentity = veterinary) -> Episode {
        Episode(
            identity: .sample(number, of: book), section: number, name: "第\(number)集_回到古代当兽医",
            address: ResourceAddress("http://kting.info:81/asdb/fiction/\(number).mp3"),
            size: 9_900_000 + Int64(number), duration: 1234.567, publishedAt: time(milliseconds: 1_388_534_400_123),
            modifiedAt: time(milliseconds: 1_700_000_000_001 + Int64(number)), mediaType: "audio/mpeg",
            guid: "guid-\(number)", number: number, season: 2,
            digest: ContentDigest(algorithm: .md5, hexadecimal: "D41D8CD98F00B204E9800998ECF8427E"),
            chapters: "[]", chaptersAddress: ResourceAddress("http://a.example/\(number).json"))
    }

    /// An episode of which the catalog says next to nothing.
    static func bare(_ number: Int) -> Episode {
        Episode(identity: .sample(number), section: number, name: "")
    }
}

func samples(_ numbers: ClosedRange<Int>, of book: BookIdentity = veterinary) -> [Episode] {
    numbers.map { .sample($0, of: book) }
}

extension LocalFile {
    static func sample(_ number: Int, of book: BookIdentity = veterinary, path: String? = nil) -> LocalFile {
        LocalFile(
            episode: .sample(number, of: book), path: path ?? "萧十一狼/回到古代当兽医/\(number).mp3", size: 1000,
            sha256: String(repeating: "0123456789abcdef", count: 4), modificationTime: 1_700_000_000_123_456_789,
            inode: UInt64.max - UInt64(number),
            validator: ContentValidator(
                entityTag: "\"e\(number)\"", lastModified: "Mon, 01 Jan 2024 00:00:00 GMT", age: 5),
            catalogSize: 999, catalogModifiedAt: time(milliseconds: 1_699_999_999_999),
            fetchedAt: time(milliseconds: 1_700_000_100_007), verification: .length)
    }
}

extension TransferRecord {
    static func sample(_ number: Int, state: TransferState = .downloading, committed: Int64 = 500) -> TransferRecord {
        TransferRecord(
            episode: .sample(number), state: state,
            validator: ContentValidator(entityTag: "W/\"e\(number)\"", lastModified: "yesterday", age: 0), total: 1000,
            committedLength: committed, bootID: "6c1f", attempts: 3, error: "the connection was cut",
            nextTryAt: time(milliseconds: 1_700_000_200_009))
    }
}

/// A listing that was read to its end.
func complete(_ count: Int) -> ListingProof {
    ListingProof(declared: count, collected: count, isComplete: true)
}

/// The folder of the fixtures of this room.
let fixtures = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent().appending(path: "Fixtures/store")
