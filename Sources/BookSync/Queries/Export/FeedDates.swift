import Foundation

/// The dates of a feed's items.
///
/// Most podcast clients show a feed by its dates alone, whatever numbers its items have. Catalogs give many episodes the
/// moment at which they were uploaded together, or none, and a run fetches several at once: so that what clients show
/// is in the order of the book, no two of its dates are the same.
enum FeedDates {
    struct Moment {
        /// As the catalog says; nil when it does not.
        var published: Date?
        var fetched: Date
    }

    /// - Parameter episodes: in the order of the book.
    /// - Returns: seconds since 1970, for each of them. What the catalog says is moved by the few seconds only that tell
    ///   apart what it says to be of the same one. An episode without a date has that of its file; one fetched later than
    ///   those that follow it is put before them, and the dates of what was listed earlier stay when more is listed.
    static func seconds(of episodes: [Moment]) -> [Int64] {
        var dates: [Int64] = []
        var counts: [Int64: Int64] = [:]
        for episode in episodes {
            let date = seconds(episode.published ?? episode.fetched)
            guard episode.published != nil else {
                dates.append(date)
                continue
            }
            dates.append(min(latest, date + counts[date, default: 0]))
            counts[date, default: 0] += 1
        }
        var next = latest + 1
        for index in episodes.indices.reversed() where episodes[index].published == nil {
            next = max(earliest, min(dates[index], next - 1))
            dates[index] = next
        }
        return dates
    }

    /// The years 1 to 9999, which four digits can tell.
    private static let (earliest, latest): (Int64, Int64) = (-62_135_596_800, 253_402_300_799)

    private static func seconds(_ date: Date) -> Int64 {
        Int64(min(max(date.timeIntervalSince1970, Double(earliest)), Double(latest)).rounded(.down))
    }
}
