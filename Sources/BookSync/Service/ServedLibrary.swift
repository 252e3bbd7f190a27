import BookModel
import LibraryFiles
import Settings
import Synchronization

/// One of the libraries that are served.
struct ServedLibrary: Sendable {
    let place: LibraryPlace
    let configuration: Configuration
    /// Does the runs that clients ask for; nil where they can change nothing.
    let desk: RunQueue?
    let store: KeptStore
    let fronts = FrontCache()

    init(_ place: LibraryPlace, of configuration: Configuration, desk: RunQueue?) {
        self.place = place
        self.configuration = configuration.choosing(place)
        self.desk = desk
        store = KeptStore(library: place.path)
    }
}

/// What was seen last of a library's shelf, for as long as its store is not written to.
final class FrontCache: Sendable {
    struct Key: Sendable, Hashable {
        var user: User
        var order: ShelfOrder
    }

    /// Users, and orders, that are remembered at once.
    private static let capacity = 16

    private let known = Mutex<[Key: (stamp: StoreFile, front: ShelfFront)]>([:])

    /// - Parameter stamp: of the store as it is now.
    func front(_ key: Key, at stamp: StoreFile) -> ShelfFront? {
        known.withLock { $0[key].flatMap { $0.stamp == stamp ? $0.front : nil } }
    }

    /// - Parameter stamp: of the store before it was read.
    func remember(_ front: ShelfFront, _ key: Key, at stamp: StoreFile) {
        known.withLock {
            if $0.count >= Self.capacity { $0 = [:] }
            $0[key] = (stamp, front)
        }
    }
}

/// Which of the libraries was last seen to have a book, by the names that the book has in addresses. It may have been moved since.
final class BookPlaces: Sendable {
    private static let capacity = 20_000

    private let known = Mutex<[String: Int]>([:])

    func library(of book: String) -> Int? { known.withLock { $0[book] } }

    func remember(_ books: some Sequence<String>, in library: Int) {
        known.withLock { known in
            for book in books {
                if known.count >= Self.capacity { known = [:] }
                known[book] = library
            }
        }
    }
}
