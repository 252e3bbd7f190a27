import BookModel

/// The chapters of an episode as podcast apps read them: JSON Chapters 1.2 of the Podcasting 2.0 namespace.
package enum ChapterDocument {
    package static let mediaType = "application/json+chapters"

    package static func document(of chapters: [MediaInfo.Chapter]) -> JSONDocument {
        [
            "version": "1.2.0",
            "chapters": .array(
                chapters.map { chapter in
                    ["startTime": .init(chapter.start), "endTime": .init(chapter.end), "title": .init(chapter.title)]
                }),
        ]
    }
}
