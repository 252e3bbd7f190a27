import BookModel

/// The metadata of an archive item.
struct ArchiveItem {
    private(set) var identifier: String?
    private(set) var description = BookDescription()
    private(set) var files: [ArchiveFile] = []
    /// Elements of the list that are no files.
    private(set) var unreadable = 0
    /// How many elements the list has, and how many it is declared to have.
    private(set) var listed = 0
    private(set) var declared: Int?
    private(set) var isDark = false

    /// - Throws: ``Failure`` of kind `unknownBook` for an item that does not exist or is not shown, of kind
    ///   `unreadableCatalog` for what is no item.
    init(_ document: JSONValue, for subject: ErrorContext) throws {
        guard document.kind == .object else { throw subject.unreadable(why: "the answer is no archive item") }
        var list: JSONValue?
        var metadata: JSONValue?
        var complaint: String?
        var isEmpty = true
        for (key, value) in document.members {
            isEmpty = false
            switch key {
            case "files": list = value
            case "metadata": metadata = value
            case "files_count": declared = value.integer.flatMap { $0 < 0 ? nil : Int(exactly: $0) }
            case "is_dark": isDark = value.source == "true" || value.text == "true"
            case "error": complaint = value.text
            default: break
            }
        }
        if let metadata { read(metadata) }
        if isEmpty { throw subject.unknownBook(why: "the archive has no such item") }
        if isDark {
            throw subject.unknownBook(why: "the archive has taken the item out of view (it is dark)")
        }
        if let complaint, list == nil {
            throw subject.unknownBook(why: "it answers \"\(CatalogText.quotation(complaint, length: 200))\"")
        }
        guard let list, list.kind == .array else {
            throw subject.unreadable(why: "the answer has no list of files")
        }
        for element in list.elements {
            listed += 1
            guard listed <= Self.maxFiles else { continue }
            if let file = ArchiveFile(element) { files.append(file) } else { unreadable += 1 }
        }
    }

    private static let maxFiles = 500_000

    private mutating func read(_ metadata: JSONValue) {
        for (key, value) in metadata.members {
            switch key {
            case "identifier": identifier = value.text.flatMap { ArchiveAddress.isItem($0) ? $0 : nil }
            case "title": description.title = value.names().first
            case "language": description.language = value.names().first.flatMap(CatalogText.language)
            case "creator": description.author = value.joinedNames
            case "taper", "reader", "narrator": description.narrator = value.joinedNames
            case "description":
                let paragraphs = ArchiveFile.texts(value).map { HTMLText.plain($0) }
                description.summary = paragraphs.isEmpty ? nil : paragraphs.joined(separator: "\n")
            default: break
            }
        }
    }

    /// The item as a book.
    ///
    /// - Throws: ``Failure`` of kind `unknownBook` when there is no audio in it, or none in a configured format.
    func contents(
        as identity: BookIdentity, item: String, settings: InternetArchiveSettings, subject: ErrorContext
    ) throws -> CatalogContents {
        let recordings = ArchiveRecordings.of(files)
        guard !recordings.isEmpty else { throw subject.unknownBook(why: "the item holds no audio files") }
        var proof = ListingProof(declared: nil, collected: 0, isComplete: true)
        let chosen = choose(from: recordings, settings: settings, warnings: &proof.warnings)
        guard !chosen.isEmpty else {
            throw subject.unknownBook(
                why: "the item has no file in a configured format; it has \(Self.formats(of: recordings))")
        }
        let episodes = episodes(chosen, book: identity, item: item, settings: settings)
        proof.collected = episodes.count
        let hidden = episodes.count { $0.isLocked }
        if hidden > 0 {
            proof.warnings.append(
                hidden == 1
                    ? "1 of its files is private: the archive does not offer it"
                    : "\(hidden) of its files are private: the archive does not offer them")
        }
        if listed > Self.maxFiles {
            proof.isComplete = false
            proof.warnings.append(
                "the item lists \(listed) files, and only \(Self.maxFiles) were read: the listing counts as "
                    + "incomplete")
        }
        if let declared, declared != listed {
            proof.miscounts = proof.isComplete && unreadable == 0
            proof.isComplete = proof.isComplete && listed >= declared
            proof.warnings.append(
                "the archive declares \(Message(declared, "file")) and lists \(listed)"
                    + (proof.isComplete ? "" : ": the listing counts as incomplete"))
        }
        if unreadable > 0 {
            proof.isComplete = false
            proof.warnings.append(
                unreadable == 1
                    ? "1 of the listed files has no usable name: left out"
                    : "\(unreadable) of the listed files have no usable name: left out")
        }
        var description = description
        description.cover = cover.map { settings.downloadAddress(of: item, file: $0) }
        return CatalogContents(
            identity: identity, episodes: episodes,
            listing: CatalogListing(
                proof: proof, description: description,
                inferredTitle: TitleInference.title(from: episodes.map(\.name))))
    }

    /// One file of each recording. A file of the whole book and files of its parts would bring everything twice: of the
    /// two only the kind is taken that has the better format.
    private func choose(
        from recordings: [ArchiveRecording], settings: InternetArchiveSettings, warnings: inout [Message]
    ) -> [(recording: ArchiveRecording, file: ArchiveFile)] {
        var chosen: [(recording: ArchiveRecording, file: ArchiveFile)] = []
        var leftOut: [ArchiveRecording] = []
        for recording in recordings {
            if let file = recording.choice(by: settings) {
                chosen.append((recording, file))
            } else {
                leftOut.append(recording)
            }
        }
        let rank = { (file: ArchiveFile) in settings.rank(of: file) ?? .max }
        let whole = chosen.filter(\.file.isWholeBook)
        let parts = chosen.filter { !$0.file.isWholeBook }
        if let bestWhole = whole.map({ rank($0.file) }).min(), let bestPart = parts.map({ rank($0.file) }).min() {
            chosen = bestWhole < bestPart ? whole : parts
        }
        leftOut.removeAll { recording in recording.files.allSatisfy(\.isWholeBook) }
        if !leftOut.isEmpty, !chosen.isEmpty, !chosen.allSatisfy(\.file.isWholeBook) {
            let formats = Self.formats(of: leftOut)
            warnings.append(
                leftOut.count == 1
                    ? "1 recording has none of the configured formats and is left out; it has \(formats)"
                    : "\(leftOut.count) recordings have none of the configured formats and are left out; they have \(formats)"
            )
        }
        return chosen
    }

    private func episodes(
        _ chosen: [(recording: ArchiveRecording, file: ArchiveFile)], book: BookIdentity, item: String,
        settings: InternetArchiveSettings
    ) -> [Episode] {
        let tracks = chosen.compactMap(\.recording.track)
        // Track numbers count only when each recording has one of its own; they begin anew with every folder.
        let areTracked = tracks.count == chosen.count && Set(tracks).count == tracks.count
        let ordered = areTracked ? chosen.sorted { ($0.recording.track ?? 0) < ($1.recording.track ?? 0) } : chosen
        let names = Dictionary(ordered.map { ($0.recording.name, 1) }, uniquingKeysWith: +)
        var used: Set<String> = []
        return ordered.enumerated().compactMap { index, choice in
            let file = choice.file
            // The shared name outlives another format and another original; where two share it, the file tells them
            // apart.
            let isOnlyOne = names[choice.recording.name] == 1
            let candidates = [isOnlyOne ? choice.recording.name : choice.recording.original, file.name]
            guard let key = candidates.first(where: { used.insert($0).inserted }) else { return nil }
            let title = file.title ?? choice.recording.files.lazy.compactMap(\.title).first
            return Episode(
                identity: EpisodeIdentity(book: book, key: key),
                section: areTracked ? choice.recording.track ?? index + 1 : index + 1,
                numbering: areTracked ? .stated : .place,
                name: title ?? CatalogText.name(ArchiveRecordings.segments(choice.recording.name).last ?? ""),
                address: file.isPrivate ? nil : settings.downloadAddress(of: item, file: file.name),
                size: file.size, duration: file.length, modifiedAt: file.modifiedAt, mediaType: file.role.mediaType,
                number: choice.recording.track, digest: file.digest)
        }
    }

    /// How many seconds the original of each recording plays, by the recording's name.
    var originalLengths: [String: Double] {
        let lengths = ArchiveRecordings.of(files).compactMap { recording in
            recording.files.first { $0.name == recording.original }?.length.map { (recording.name, $0) }
        }
        return Dictionary(lengths) { first, _ in first }
    }

    /// The picture that the item shows: an original one, and no spectrogram of a track.
    private var cover: String? {
        let pictures = files.filter { $0.role == .picture && !$0.isPrivate }
        let choice =
            pictures.first { $0.format == "Item Image" } ?? pictures.first { !$0.isDerivative }
            ?? pictures.first { $0.format == "JPEG Thumb" }
        return choice?.name
    }

    private static func formats(of recordings: [ArchiveRecording]) -> String {
        let formats = Set(recordings.flatMap(\.files).map(\.format)).sorted()
        return CatalogText.quotation(formats.prefix(12).joined(separator: ", "), length: 200)
    }
}
