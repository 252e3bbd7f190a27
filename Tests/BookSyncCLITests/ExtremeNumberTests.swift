import Foundation
import Support
import Testing

extension ProductTests {
    /// Every number that comes from outside, at the extremes of what its form can say: a sentence and an exit code, never a signal.
    @Suite struct ExtremeNumbers {
        /// A catalog of one kind: how its books are named, where their documents are, and a document with two episodes, in which
        /// `BOOK` is the book's number.
        private struct Form: Sendable {
            let kind, reference, path, document: String
        }

        private static let identifier = "bc0719db-2124-4ba2-9860-1b729cb0"
        private static let forms: [Form] = [
            Form(
                kind: "book-resource", reference: "cat:BOOK", path: "/list/BOOK",
                document: """
                    {"status":0,"sections":2,"list":[
                    {"id":71,"section":1,"name":"a","path":"/audio/BOOK-1.mp3","size":3001,"length":600,"lastModify":1700000000000,
                    "onlineTime":1700000000000,"state":1,"payType":0},
                    {"id":"72","section":2,"name":"b","path":"/audio/BOOK-2.mp3","size":"3002","length":600.5,
                    "lastModify":1700000000001,"onlineTime":1700000000001,"state":1,"payType":0}]}
                    """),
            Form(
                kind: "feed", reference: "http://HOST/feed/BOOK.xml", path: "/feed/BOOK.xml",
                document: """
                    <rss version="2.0" xmlns:itunes="http://www.itunes.com/dtds/podcast-1.0.dtd" xmlns:psc="http://podlove.org/simple-chapters"
                    xmlns:media="http://search.yahoo.com/mrss/"><channel>
                    <title>Feed BOOK</title><ttl>60</ttl><pubDate>Tue, 03 Mar 2020 10:00:00 GMT</pubDate>
                    <item><title>a</title><guid>g1</guid><pubDate>Tue, 03 Mar 2020 10:00:00 GMT</pubDate>
                    <enclosure url="/audio/BOOK-1.mp3" length="3001" type="audio/mpeg"/><itunes:duration>00:10:00</itunes:duration>
                    <itunes:episode>1</itunes:episode><itunes:season>1</itunes:season>
                    <psc:chapters><psc:chapter start="00:00:05" title="c"/></psc:chapters></item>
                    <item><title>b</title><guid>g2</guid><pubDate>Wed, 04 Mar 2020 10:00:00 GMT</pubDate>
                    <media:content url="/audio/BOOK-2.mp3" fileSize="3002" duration="600" type="audio/mpeg"/>
                    <enclosure url="/audio/BOOK-2.mp3" length="3002" type="audio/mpeg"/>
                    <itunes:episode>2</itunes:episode><itunes:season>1</itunes:season></item></channel></rss>
                    """),
            Form(
                kind: "internet-archive", reference: "ia:itemBOOK", path: "/metadata/itemBOOK",
                document: """
                    {"created":1700000000,"files_count":2,"item_size":6003,"metadata":{"identifier":"itemBOOK","title":"Item BOOK"},"files":[
                    {"name":"1.mp3","source":"original","size":"3001","format":"VBR MP3","length":"02:28","track":"1/2","mtime":"1700000000",
                    "title":"a"},
                    {"name":"2.mp3","source":"original","size":"3002","format":"VBR MP3","length":"148.5","track":"2/2","mtime":"1700000001",
                    "title":"b"}]}
                    """),
            Form(
                kind: "librivox", reference: "lv:BOOK", path: "/api/feed/audiobooks/BOOK",
                document: """
                    {"books":[{"id":"BOOK","title":"Vox BOOK","num_sections":"2","totaltimesecs":296,"totaltime":"0:04:56",
                    "copyright_year":"1920","url_iarchive":"http://www.archive.org/details/plain","sections":[
                    {"id":"701","section_number":"1","title":"a","listen_url":null,"playtime":"148"},
                    {"id":"702","section_number":"2","title":"b","listen_url":null,"playtime":"148"}]}]}
                    """),
            Form(
                kind: "directory", reference: "http://HOST/json/BOOK/", path: "/json/BOOK/",
                document: """
                    [{"name":"1.mp3","type":"file","mtime":"Tue, 03 Mar 2020 10:00:00 GMT","size":3001},
                    {"name":"2.mp3","type":"file","mtime":"Tue, 03 Mar 2020 10:00:00 GMT","size":3002}]
                    """),
            Form(
                kind: "directory", reference: "http://HOST/html/BOOK/", path: "/html/BOOK/",
                document: """
                    <html><head><title>Index of /html/BOOK/</title></head><body><pre><a href="../">../</a>
                    <a href="1.mp3">1.mp3</a>          14-Mar-2011 07:06     3001
                    <a href="2.mp3">2.mp3</a>          14-Mar-2011 07:06     3002
                    </pre></body></html>
                    """),
            Form(
                kind: "opds", reference: "http://HOST/opds/BOOK/m.json", path: "/opds/BOOK/m.json",
                document: """
                    {"metadata":{"@type":"http://schema.org/Audiobook","title":"Manifest BOOK","duration":600,"numberOfItems":2,
                    "modified":"2020-03-03T10:00:00Z"},"links":[{"rel":"self","href":"m.json","type":"application/audiobook+json"}],
                    "readingOrder":[
                    {"href":"/audio/BOOK-1.mp3","type":"audio/mpeg","bitrate":128,"duration":300.5,"title":"a","size":3001},
                    {"href":"/audio/BOOK-2.mp3","type":"audio/mpeg","bitrate":128,"duration":"PT2M28S","title":"b","size":3002}]}
                    """),
            Form(
                kind: "opds", reference: "http://HOST/opds-1/BOOK", path: "/opds-1/BOOK",
                document: """
                    <entry xmlns="http://www.w3.org/2005/Atom" xmlns:schema="http://schema.org/"
                    schema:additionalType="http://bib.schema.org/Audiobook"><title>Entry BOOK</title>
                    <updated>2020-03-03T10:00:00Z</updated><published>2020-03-03T10:00:00Z</published>
                    <link rel="http://opds-spec.org/acquisition/open-access" href="/audio/BOOK-1.mp3" length="3001" type="audio/mpeg"/>
                    </entry>
                    """),
            Form(
                kind: "audiobookshelf", reference: "abs:\(identifier)BOOK", path: "/api/items/\(identifier)BOOK",
                document: """
                    {"id":"\(identifier)BOOK","libraryId":"lib","mediaType":"book","addedAt":1700000000000,"size":6003,
                    "media":{"metadata":{"title":"Item BOOK"},"numTracks":2,"duration":4320.5,"size":6003,"tracks":[
                    {"index":1,"ino":"701","startOffset":0,"duration":2000.5,"mimeType":"audio/mpeg",
                    "metadata":{"filename":"a.mp3","size":3001,"mtimeMs":1602044390000}},
                    {"index":2,"ino":"702","startOffset":2000.5,"duration":2320,"mimeType":"audio/mpeg",
                    "metadata":{"filename":"b.mp3","size":3002,"mtimeMs":1602044390000}}]}}
                    """),
        ]

        /// - Parameter number: of four digits.
        private static func text(_ text: String, ofBook number: Int) -> String {
            text.replacing("BOOK", with: "\(number)")
        }

        /// Audio whose answers claim extreme lengths, ranges, times and ages, another one for each address.
        private static func audio(_ request: ServerRequest) -> Reply {
            let number = request.path.utf8.reduce(0) { $0 * 31 % 9973 + Int($1) }
            let value = Extreme.all[number % Extreme.all.count]
            var reply = ServedFile(sampleMP3(bytes: 3001, seed: UInt64(number)), etag: "\"\(number)\"").answer(
                to: request)
            switch number / 31 % 4 {
            case 0: break
            case 1:
                for name in ["Last-Modified", "Age", "Expires"] { reply.setHeader(name, value) }
                reply.setHeader("Cache-Control", "max-age=\(value)")
            case 2:
                reply.setHeader("Date", value)
                if reply.status == 206 { reply.setHeader("Content-Range", "bytes \(value)-\(value)/\(value)") }
            default:
                reply.setHeader("Content-Length", value)
                reply.ending = .close
            }
            return reply
        }

        private static let configuration = """
            sources:
              cat: { type: book-resource, url: "http://HOST/list", allow-private-addresses: true }
              ia: { type: internet-archive, url: "http://HOST", allow-private-addresses: true }
              lv: { type: librivox, url: "http://HOST/", archive-url: "http://HOST/", allow-private-addresses: true }
              abs: { type: audiobookshelf, url: "http://HOST", bearer: T, allow-private-addresses: true }
              opds: { type: opds, url: "http://HOST/opds-1", allow-private-addresses: true }
              files: { type: directory, allow-private-addresses: true }
              feeds: { type: feed, allow-private-addresses: true }
            downloads: { retries: 0, jobs: 16, jobs-per-host: 16, export: [metadata, m3u8, opf, rss] }
            """

        /// Serves the documents by their paths, and audio of every other name.
        private static func script(_ documents: [String: String]) -> ServerScript {
            ServerScript { request in
                var path = request.path
                if path == "/list" { path += "/\(request.query["bookId"] ?? "")" }
                if path == "/api/feed/audiobooks" { path += "/\(request.query["id"] ?? "")" }
                if let document = documents[path] {
                    return (request.query["pageNum"] ?? "1") == "1"
                        ? .text(document) : .text(#"{"status":0,"list":[]}"#)
                }
                return path.hasSuffix(".mp3") || path.hasSuffix("/download") ? audio(request) : .notFound
            }
        }

        /// The fields without which the document is another one, or none: those that alone change how many episodes it has.
        private func telling(_ form: Form, in bench: Workbench) async throws -> Set<String> {
            let fields = ExtremeFields(form.document)
            #expect(fields.names.count >= 2, "\(form.path)")
            let cases = fields.names.flatMap { name in Extreme.all.map { (name, $0) } }
            var files: [String] = []
            for (number, (name, value)) in ([("", "")] + cases).enumerated() {
                let file = "\(number)"
                try Data(Self.text(fields.setting([name: value]), ofBook: 1000).utf8)
                    .write(to: bench.folder.appending(path: file))
                files.append(file)
            }
            let result = try await bench.runBare(["catalog", "--json", "--type", form.kind] + files)
            result.expectEnd("catalog \(form.path)")
            let counts = try result.events().map { $0.objects("episodes").count }
            #expect(counts.count == files.count)
            return Set(zip(cases, counts.dropFirst()).filter { $0.1 != counts[0] }.map(\.0.0))
        }

        @Test(.firstInLine) func `no number of a catalog ends a process, wherever it goes from there`() async throws {
            try await withWorkbench { bench in
                var (documents, references) = ([String: String](), [String]())
                for (number, form) in Self.forms.enumerated() {
                    let kept = try await telling(form, in: bench)
                    let turned = ExtremeFields(form.document).turned(but: kept)
                    for (turn, text) in turned.enumerated() {
                        let book = 1000 + number * 100 + turn
                        documents[Self.text(form.path, ofBook: book)] = Self.text(text, ofBook: book)
                        references.append(Self.text(form.reference, ofBook: book))
                    }
                }
                documents["/metadata/plain"] = Self.forms[2].document.replacing("itemBOOK", with: "plain")
                try await withServer(Self.script(documents)) { server in
                    let host = "127.0.0.1:\(server.port)"
                    let books = references.map { $0.replacing("HOST", with: host) }
                    let subscriptions = books.map { "  - { book: \"\($0)\", max-bytes: 9223372036854775807 }\n" }
                    try bench.configure(
                        Self.configuration.replacing("HOST", with: host) + "\nsubscriptions:\n"
                            + subscriptions.joined())
                    // One of each form, in another turn each.
                    let some = stride(from: 0, to: books.count, by: Extreme.all.count + 1).map { books[$0] }
                    for arguments in [
                        ["plan", "--json"], ["mirror"], ["mirror", "--max-bytes", "9223372036854775807", "--json"],
                        ["plan", "--offline"], ["list"], ["list", "--sort", "bytes", "--json"] + books, ["queue"],
                        ["runs"], ["verify"], ["search", "a"], ["subscriptions"], ["export", "csv", "--output", "-"],
                        ["fetch", "--force"] + some, ["remove", "--yes"] + some, ["trash", "list"], ["next-steps"],
                        ["doctor"],
                    ] + some.flatMap({ [["show", $0], ["show", "--json", "\($0)#1"], ["explain", "\($0)#1"]] }) {
                        let result = try await bench.runBare(
                            arguments + ["--library", "L"], environment: bench.configured)
                        result.expectEnd("\(arguments.prefix(3))")
                    }
                    #expect(try bench.files().count { $0.key.hasSuffix(".mp3") } > books.count / 2)
                    try await bench.serve(environment: bench.configured) { shelf in
                        try await visit(shelf, atMost: Tier.choose(full: 50, long: 5000))
                    }
                }
            }
        }

        /// Reads the pages, feeds and documents that the pages of the shelf name, from the first one on.
        private func visit(_ shelf: ServedShelf, atMost count: Int) async throws {
            var (waiting, known) = (["/", "/api/v1/books", "/feeds/all.opml", "/api/v1/runs"], Set<String>())
            while let path = waiting.first, known.count < count {
                waiting.removeFirst()
                guard known.insert(path).inserted else { continue }
                let answer = try await shelf.send(path)
                #expect(answer.status < 500, "\(path)")
                guard answer.fields["content-type"]?.hasPrefix("text/html") == true else { continue }
                waiting += answer.text.matches(of: /(?:href|src)="(\/[^"#]*)/).map {
                    String($0.1).replacing("&amp;", with: "&")
                }
            }
            #expect(known.count > 20)
            try await shelf.expectWell("/")
        }
    }
}

extension ProductRunner.Result {
    /// It ended by itself, and not by a defect.
    func expectEnd(_ what: String, _ location: SourceLocation = #_sourceLocation) {
        #expect(signal == nil && exitCode != 70, "\(what): \(errors.suffix(300))", sourceLocation: location)
    }
}
