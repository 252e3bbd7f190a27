import BookModel
import CatalogStore
import Support
import Testing

@testable import BookSync
@testable import LibraryFiles
@testable import Settings

/// Which names files get, and keep.
@Suite(.limitedConcurrency) struct NamedRunTests {
    /// A book whose names begin with numbers; the files at the source are called as the episodes are.
    private static func numbered(_ count: Int) -> ScriptedCatalog {
        var catalog = ScriptedCatalog.episodes(count, bytes: 3000)
        for index in catalog.elements.indices {
            let name = "Chapter \(["A", "B", "C"][index])"
            let path = "/audio/0\(index + 1)%20-%20\(name.replacing(" ", with: "%20")).mp3"
            catalog.audio[path] = catalog.audio["/audio/\(index + 1).mp3"]
            catalog.elements[index].path = path
            catalog.elements[index].name = "0\(index + 1) - \(name)"
        }
        return catalog
    }

    private func paths(_ bench: RunBench) async throws -> [String] {
        try await bench.withStore { try await $0.episodes(of: RunBench.book).compactMap(\.file?.path) }.sorted()
    }

    @Test func `a new book's own numbers are not doubled`() async throws {
        try await withRunBench(Self.numbered(2)) { bench in
            try await bench.run()
            #expect(try await paths(bench) == ["Book/001 Chapter A.mp3", "Book/002 Chapter B.mp3"])
            #expect(try await bench.run().summary.kept == 2)
        }
    }

    @Test func `a library whose numbers an earlier version doubled is not renamed, and goes on as it began`()
        async throws
    {
        try await withRunBench(Self.numbered(2)) { bench in
            var bench = bench
            // The names that the standard naming gave before it dropped numbers.
            bench.configuration.naming = try NamingTemplate(parsing: "{title}/{section} {filename}.{ext}")
            try await bench.run()
            let doubled = ["Book/001 01 - Chapter A.mp3", "Book/002 02 - Chapter B.mp3"]
            #expect(try await paths(bench) == doubled)

            bench.configuration.naming = .standard
            #expect(try await bench.plan()?.totals.rename == 0)
            let updated = try await bench.run()
            #expect(updated.summary.renamed == 0 && updated.summary.kept == 2)
            #expect(bench.audioDownloads == 2)
            bench.catalog.update { $0 = Self.numbered(3) }
            try await bench.run()
            #expect(try await paths(bench) == doubled + ["Book/003 03 - Chapter C.mp3"])

            // Asked for by another naming, they are renamed as those of a new book.
            bench.configuration.naming = try NamingTemplate(parsing: "{title}/{section}. {name}.{ext}")
            #expect(try await bench.run().summary.renamed == 3)
            #expect(try await paths(bench).last == "Book/003. Chapter C.mp3")
        }
    }

    @Test func `a series that was always empty is not filled by an update`() async throws {
        try await withRunBench(.episodes(1, bytes: 3000)) { bench in
            var bench = bench
            bench.configuration.naming = try NamingTemplate(parsing: "{series}/{title}/{section}.{ext}")
            try await bench.run(title: "Dune, Book 1")
            #expect(try await paths(bench) == ["Dune, Book 1/001.mp3"])
            bench.configuration.naming = try NamingTemplate(parsing: "{series?{series}/}{title}/{section}.{ext}")
            try await bench.run(title: "Dune, Book 1")
            #expect(try await paths(bench) == ["Dune/Dune, Book 1/001.mp3"])
        }
    }

    @Test func `every run names a book as its subscription says, as soon as that changes`() async throws {
        try await withRunBench(.episodes(2, bytes: 3000)) { bench in
            var bench = bench
            bench.configuration.sources["kting"]?.naming = try NamingTemplate(parsing: "source/{section}.{ext}")
            try await bench.run()
            #expect(try await paths(bench) == ["source/001.mp3", "source/002.mp3"])
            // Nothing to do: what is remembered of it must not outlive the naming.
            #expect(try await bench.run().summary.kept == 2)
            let subscription = Subscription(book: RunBench.book, naming: "mine/{section}.{ext}")
            try await bench.withStore { _ = try await $0.subscribe(subscription) }
            #expect(try await bench.plan()?.totals.rename == 2)
            #expect(try await bench.run().summary.renamed == 2)
            #expect(try await paths(bench) == ["mine/001.mp3", "mine/002.mp3"])
            bench.configuration.namingOverride = try NamingTemplate(parsing: "asked/{section}.{ext}")
            #expect(try await bench.plan()?.actions.map(\.path) == ["asked/001.mp3", "asked/002.mp3"])
            #expect(bench.audioDownloads == 2)
        }
    }

    @Test func `a naming of a subscription that cannot be read fails its book, and not the others`() async throws {
        try await withRunBench(.episodes(1, bytes: 3000)) { bench in
            try await bench.run()
            let subscription = Subscription(book: RunBench.book, naming: "{unheard-of}/{section}")
            try await bench.withStore { _ = try await $0.subscribe(subscription) }
            let report = try await bench.run()
            #expect(report.failures.map(\.kind) == [.configuration])
            #expect(report.failures.first?.why.description.contains("no field {unheard-of}") == true)
            #expect(try await paths(bench) == ["Book/001 第1集.mp3"])
        }
    }
}
