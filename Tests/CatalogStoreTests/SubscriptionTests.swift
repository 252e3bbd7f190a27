import BookModel
import CatalogStore
import Foundation
import Testing

@Suite struct SubscriptionTests {
    @Test func `subscriptions come back as they were made, in their order`() async throws {
        try await withStore { store async throws in
            let full = Subscription(
                book: veterinary, title: "回到古代当兽医",
                filter: EpisodeFilter(
                    only: SectionRanges([1...20, 35...35]), latest: 20, match: "^第", exclude: "预告",
                    since: try PublicationStart(parsing: "30d")),
                order: .listed, limits: RunLimits(episodes: 3, bytes: 1 << 40),
                subscribedAt: time(milliseconds: 1_700_000_000_123))
            let bare = Subscription(book: BookIdentity(source: "feeds", id: "https://h/feed"))
            let none = Subscription(
                book: BookIdentity(source: "a", id: "1"), filter: EpisodeFilter(only: SectionRanges([])))
            for subscription in [full, bare, none] { #expect(try await store.subscribe(subscription)) }
            #expect(try await store.subscriptions() == [full, bare, none])
        }
    }

    @Test func `a second subscription changes the wishes and keeps the time`() async throws {
        try await withStore { store async throws in
            var subscription = Subscription(book: veterinary, title: "T", subscribedAt: time(milliseconds: 1))
            #expect(try await store.subscribe(subscription))
            subscription.title = nil
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
}
