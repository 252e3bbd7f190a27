import BookModel

extension ConfigurationReader {
    /// Reads `libraries`: names with their folders, or a pattern that matches folders. Blocks on the disk.
    func readLibraries(_ entry: SettingNode.Entry) throws -> [LibraryPlace] {
        let places: [LibraryPlace]
        if case .text(let raw) = entry.value.content {
            places = .matching(try folder(entry, raw))
            guard !places.isEmpty else {
                throw refusal(
                    entry, what: "'libraries' names no library", why: "no folder matches '\(raw)'",
                    remedy: "make the folders, or mount their disk")
            }
            for place in places { record("libraries.\(place.name)", line: entry.line) }
        } else {
            places = try map(entry.value, of: "libraries").enumerated().map { number, item in
                guard isSourceName(item.key) else {
                    throw refusal(item, expected: "a library's name of letters, digits, '-', '_' and '.'")
                }
                record("libraries.\(item.key)", line: item.line)
                return LibraryPlace(name: item.key, path: try folder(item, try text(item)), number: number)
            }
        }
        guard let conflict = places.conflict else { return places }
        throw refusal(
            entry, what: conflict.what, why: conflict.why, remedy: "give each of them a name and a folder of its own")
    }

    private func folder(_ entry: SettingNode.Entry, _ raw: String) throws -> String {
        guard let path = base.absolutePath(try expanded(raw, line: entry.line)) else {
            throw refusal(entry, expected: "the path of a folder", found: raw)
        }
        return path
    }

    private func refusal(_ entry: SettingNode.Entry, what: Message, why: Message, remedy: Message) -> Failure {
        Failure(
            .configuration, disposition: .stop, what: "\(file), line \(entry.line): \(what)", why: why, remedy: remedy)
    }
}
