import BookModel
import CatalogStore
import Foundation
import Support
import Testing

@Suite(.limitedConcurrency) struct SubscriptionTests {
    @Test func `subscriptions come back as they were made, in their order`() async throws {
        try await withStore { store async throws in
            let full = Subscription(
                book: veterinary, title: "回到古代当兽医",
                filter: EpisodeFilter(
                    only: SectionRanges([1...20, 35...35]), latest: 20, match: "^第", exclude: "预告",
                    since: try PublicationStart(parsing: "30d")),
                order: .listed, limits: RunLimits(episodes: 3, bytes: 1 << 40), naming: "{title}/{section}",
                keep: try KeepRule(parsing: "last 20, 30d", maxBytes: 1 << 33),
                subscribedAt: time(milliseconds: 1_700_000_000_123))
            let bare = Subscription(book: BookIdentity(source: "feeds", id: "https://h/feed"))
            let none = Subscription(
                book: BookIdentity(source: "a", id: "1"), filter: EpisodeFilter(only: SectionRanges([])))
            for subscription in [full, bare, none] { #expect(try await store.subscribe(subscription)) }
            #expect(try await store.subscriptions() == [full, bare, none])
            #expect(try await store.namingTemplate(of: veterinary) == "{title}/{section}")
            #expect(try await store.namingTemplate(of: bare.book) == nil)
            #expect(try await store.namingTemplate(of: BookIdentity(source: "a", id: "2")) == nil)
        }
    }

    @Test func `parts of the subscriptions are read alone, without some books`() async throws {
        try await withStore { store async throws in
            let books = (1...9).map { BookIdentity(source: "feeds", id: "https://h/\($0)\"'") }
            for book in books { _ = try await store.subscribe(Subscription(book: book)) }
            let without = [books[0], books[4], BookIdentity(source: "feeds", id: "not among them")]
            let part = try await store.subscriptions(without: without, from: 2, count: 3)
            #expect(part.map(\.book) == [books[3], books[5], books[6]])
            #expect(try await store.subscriptionCount(without: without) == 7)
            let last = try await store.subscriptions(without: [], from: 8, count: 3)
            #expect(last.map(\.book) == [books[8]])
            #expect(try await store.subscriptionCount(without: []) == 9)
        }
    }

    @Test func `a second subscription changes the wishes and keeps the time`() async throws {
        try await withStore { store async throws in
            var subscription = Subscription(book: veterinary, title: "T", subscribedAt: time(milliseconds: 1))
            #expect(try await store.subscribe(subscription))
            subscription.title = nil
            subscription.naming = "{name}"
            subscription.filter.latest = 5
            subscription.subscribedAt = time(milliseconds: 2)
            #expect(try await !store.subscribe(subscription))
            subscription.subscribedAt = time(milliseconds: 1)
            #expect(try await store.subscriptions() == [subscription])
        }
    }

    @Test func `unsubscribing tells whether there was a subscription`() async throws {
        try await withStore { store async throws in
            _ = try await store.subscribe(Subscription(book: veterinary))
            #expect(try await store.unsubscribe(veterinary))
            #expect(try await !store.unsubscribe(veterinary))
            #expect(try await store.subscriptions().isEmpty)
        }
    }

    @Test func `tags are kept in their order, and go with the subscription`() async throws {
        try await withStore { store async throws in
            let tags = [["睡前", "长篇"], ["Sci/Fi, etc."], ["睡前"]].compactMap(SubscriptionTag.init(path:))
            var subscription = Subscription(book: veterinary, tags: [tags[0], tags[1]])
            #expect(try await store.subscribe(subscription))
            subscription.tags = [tags[1], tags[2]]
            #expect(try await !store.subscribe(subscription))
            #expect(try await store.subscriptions().map(\.tags) == [tags])
            #expect(try await store.unsubscribe(veterinary))
            subscription.tags = []
            #expect(try await store.subscribe(subscription))
            #expect(try await store.subscriptions().map(\.tags) == [[]])
        }
    }

    @Test func `what is followed already stays as it is, but for new tags`() async throws {
        try await withStore { store async throws in
            let tags = [["a"], ["b"]].compactMap(SubscriptionTag.init(path:))
            let first = Subscription(
                book: veterinary, title: "T", filter: EpisodeFilter(latest: 3), subscribedAt: time(milliseconds: 1),
                tags: [tags[0]])
            #expect(try await store.follow([first]) == [true])
            let other = Subscription(book: BookIdentity(source: "feeds", id: "https://h/feed"))
            let again = Subscription(book: veterinary, title: "U", subscribedAt: time(milliseconds: 2), tags: tags)
            #expect(try await store.follow([again, other, other]) == [false, true, false])
            var expected = first
            expected.tags = tags
            #expect(try await store.subscriptions() == [expected, other])
        }
    }
}
