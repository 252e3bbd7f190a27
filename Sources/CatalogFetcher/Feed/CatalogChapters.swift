import BookModel
import Transport

/// The chapters that a feed gives of an episode: in its item (Podlove Simple Chapters), or in a document of their own (JSON
/// Chapters 1.2 of the Podcasting 2.0 namespace).
package struct CatalogChapters: Sendable {
    /// Bytes of a document that are read at most.
    private static let maxBytes = 1 << 20

    private let inline: JSONValue?
    /// Of the document.
    package let address: ResourceAddress?

    /// - Returns: nil where the catalog gives none.
    package init?(of episode: Episode) {
        inline = episode.chapters.flatMap { list in try? JSONReader.read(Array(list.utf8)) }
        address = episode.chaptersAddress
        if inline == nil, address == nil { return nil }
    }

    /// ``Episode/chapters`` of chapters that an item has.
    static func list(of chapters: [MediaInfo.Chapter]) -> String? {
        guard !chapters.isEmpty else { return nil }
        let marks = chapters.map { chapter in
            "{\"startTime\":\(chapter.start),\"title\":\(JSONDocument.string(chapter.title ?? "").text())}"
        }
        return "[" + marks.joined(separator: ",") + "]"
    }

    /// Reads those of the item; where it has none, asks for the document, once.
    /// - Parameters:
    ///   - seconds: that the audio plays; nil where that is not known.
    ///   - transport: nil asks nobody.
    /// - Throws: ``TransportError``; `JSONFailure` for what is no JSON; ``Failure``; `CancellationError`.
    package func read(within seconds: Double?, over transport: HTTPTransport?) async throws -> [MediaInfo.Chapter] {
        let own = inline.map { Self.chapters($0, within: seconds) } ?? []
        guard own.isEmpty, let address, let transport else { return own }
        let answer = try await transport.send(HTTPRequest(.get, address))
        guard answer.status == 200 else { return [] }
        let document = try JSONReader.read(try await answer.bytes(upTo: Self.maxBytes))
        return document["chapters"].map { Self.chapters($0, within: seconds) } ?? []
    }

    /// The chapters of a list, by their start, each up to the next one. What lies outside the audio, is not for a table of
    /// contents, or begins where another one does is left out.
    static func chapters(_ list: JSONValue, within seconds: Double?) -> [MediaInfo.Chapter] {
        let last = seconds ?? CatalogDuration.maximum
        let marks = list.elements.compactMap { mark -> MediaInfo.Chapter? in
            guard mark["toc"]?.source != "false", let start = mark["startTime"]?.double, start >= 0, start < last else {
                return nil
            }
            let end = mark["endTime"]?.double ?? last
            return MediaInfo.Chapter(start: start, end: end > start ? end : last, title: mark["title"]?.names().first)
        }
        var chapters: [MediaInfo.Chapter] = []
        for mark in marks.sorted(by: { $0.start < $1.start }) where mark.start != chapters.last?.start {
            if let former = chapters.popLast() {
                let end = min(former.end, mark.start)
                chapters.append(MediaInfo.Chapter(start: former.start, end: end, title: former.title))
                if chapters.count == MediaInfo.maxChapters { return chapters }
            }
            chapters.append(mark)
        }
        guard let end = chapters.popLast() else { return [] }
        return chapters + [MediaInfo.Chapter(start: end.start, end: min(end.end, last), title: end.title)]
    }
}
