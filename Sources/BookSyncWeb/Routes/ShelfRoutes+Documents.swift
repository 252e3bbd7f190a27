import BookModel
import BookSync
import Foundation
import Hummingbird
import LibraryFiles

extension ShelfRoutes {
    /// Feeds, audio and covers; and all of it below the key of the apps, for those that have no password.
    func addDocuments(to root: Group) {
        for (path, asked) in [(RouterPath(""), Route.document), ("apps/{appsKey}", .appsDocument)] {
            let documents = group(root.group(path), for: asked)
            documents.reads("feeds/all.opml") { request, context in
                let outline = try await shelf(of: context).outline(at: context.caller.addresses)
                return await .document(outline, type: "text/x-opml; charset=utf-8", for: request)
            }
            documents.reads("feeds/{source}/{book}.xml") { request, context in
                let feed = try await shelf(of: context).feed(
                    of: context["book"], of: context["source"], at: context.caller.addresses)
                guard let feed else { return nil }
                return await .document(feed, type: "application/rss+xml; charset=utf-8", for: request)
            }
            documents.reads("media/{source}/{book}/{file}") { request, context in
                let name = context["file"]
                // The extension is for players; what is asked for is the episode.
                guard let dot = name.lastIndex(of: "."), name.index(after: dot) != name.endIndex else { return nil }
                let episode = String(name[..<dot])
                return try await shelf(of: context).file(of: episode, in: context["book"], of: context["source"])
                    .map { answer($0, to: request) }
            }
            documents.reads("joined/{source}/{book}/{file}") { request, context in
                guard let index = Int(context["file"].prefix { $0 != "." }) else { return nil }
                return try await shelf(of: context).joinedFile(index, of: context["book"], of: context["source"])
                    .map { answer($0, to: request) }
            }
            documents.reads("chapters/{source}/{book}/{episode}.json") { request, context in
                let chapters = try await shelf(of: context).chapters(
                    of: context["episode"], in: context["book"], of: context["source"])
                guard let chapters else { return nil }
                let document = ChapterDocument.document(of: chapters).text(isIndented: false)
                return await .document(Array(document.utf8), type: ChapterDocument.mediaType, for: request)
            }
            documents.reads("covers/{source}/{book}") { try await cover(for: $0, $1) }
            documents.reads("covers/{source}/{book}/small") { try await cover(for: $0, $1, isSmall: true) }
        }
        let catalog = group(root.group("catalog/{source}"), for: .document)
        catalog.reads("ClientGetBookResource.action") { request, context in
            let catalog = ServedCatalog(try await shelf(of: context), at: context.caller.addresses)
            return await .document(try await catalog.listing(request.parameters, of: context["source"]), for: request)
        }
        catalog.reads("ClientGetBookDetail.action") { request, context in
            let catalog = ServedCatalog(try await shelf(of: context), at: context.caller.addresses)
            return await .document(try await catalog.detail(request.parameters, of: context["source"]), for: request)
        }
        group(root, for: .libraryDocument).reads("previews/{name}") { request, context in
            try await sample(named: context["name"], for: request)
        }
        group(root, for: .libraryDocument).reads("subscriptions.opml") { request, _ in
            let outline = try await SubscriptionOutline(of: site.shelf.configuration)
            return await .document(try outline.bytes(), type: "text/x-opml; charset=utf-8", for: request)
        }
    }

    /// A piece of the audio of a book that was looked at. Players ask for ranges, and for the next one where they get less.
    private func sample(named name: String, for request: Request) async throws -> Response? {
        // That nobody has others be asked by more than a page of ours.
        guard request.method == .get, let desk = site.shelf.desk, let field = request.headers[.range] else {
            return nil
        }
        guard case .bytes(let range) = ByteRange.asked(by: field, length: .max),
            let audio = try await desk.previews.audio(of: name, range)
        else { return Response(status: .rangeNotSatisfiable) }
        let last = audio.offset + Int64(audio.bytes.count) - 1
        return Response(
            status: .partialContent,
            headers: [
                .contentType: audio.mediaType, .acceptRanges: "bytes", .cacheControl: "no-store",
                .contentLength: "\(audio.bytes.count)",
                .contentRange: "bytes \(audio.offset)-\(last)/\(audio.total)",
            ], body: ResponseBody(byteBuffer: ByteBuffer(bytes: audio.bytes)))
    }

    private func cover(
        for request: Request, _ context: ShelfContext, isSmall: Bool = false
    ) async throws -> Response? {
        let cover = try await shelf(of: context).cover(
            of: context["book"], of: context["source"], isSmall: isSmall)
        switch cover {
        case .picture(let bytes, let type): return await .document(bytes, type: type, for: request)
        case .missing(let book):
            let drawn = PlaceholderCover.picture(of: book.title, book.identity)
            return await .document(drawn, type: "image/svg+xml", for: request)
        case nil: return nil
        }
    }

    /// The file, or what is asked of it.
    private func answer(_ file: OpenedFile, to request: Request) -> Response {
        let media = MediaRepresentation(
            length: file.size, entityTag: file.entityTag, lastModified: file.modificationTime / 1_000_000_000,
            contentType: file.mediaType)
        let now = Int64(Date.now.timeIntervalSince1970)
        var response = mediaResponse(to: request, for: media, now: now) { range in
            FileBody(file: file, range: range, lane: fastLane).response
        }
        if let digest = file.sha256.flatMap(base64), response.status == .ok || response.status == .partialContent {
            // RFC 9530 §3: of the whole, whatever part this is.
            response.set("Repr-Digest", to: "sha-256=:\(digest):")
        }
        return response
    }

    private func base64(ofHexadecimal text: String) -> String? {
        let digits = text.utf8.compactMap { Character(UnicodeScalar($0)).hexDigitValue }
        guard digits.count == 64, text.utf8.count == 64 else { return nil }
        let bytes = stride(from: 0, to: 64, by: 2).map { UInt8(digits[$0] << 4 | digits[$0 + 1]) }
        return Data(bytes).base64EncodedString()
    }
}
