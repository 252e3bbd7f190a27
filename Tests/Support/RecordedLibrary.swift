import Foundation

/// A library as an old booksync left it when it was killed in the middle of a run; see `Fixtures/store/README.md`.
package struct RecordedLibrary: Sendable {
    /// One of every schema.
    package static let all = [
        RecordedLibrary(schema: 1, digest: "5f98b9a7e51cf62b9e1def213ad226ff368db3c15e27fb85399a97ee68b26cdc"),
        RecordedLibrary(schema: 2, digest: "5f3febfae3e86399ceca81c3351e219bc949ee7ee2d532942d05d925e0ee082c"),
        RecordedLibrary(schema: 3, digest: "ba8e7aa201839c471f6dcc2682f2f505a35d2e7b6a11adfc73a9f7f6576976f8"),
        RecordedLibrary(schema: 4, digest: "7d0f4d59c1184bb71eb2bb480be1e77ba3439ccac11f584e2fc2f01bcb222d75"),
        RecordedLibrary(schema: 5, digest: "953eb0091c996cea000e5a097f5ecfd9c0b6cd76fd727f7a65aacc8183d34dc1"),
        RecordedLibrary(schema: 6, digest: "fdfe7f1e984364e1251aa1b006e2912d3e054db3d4e455a50c865198ec4ece09"),
        RecordedLibrary(schema: 7, digest: "1d18493fa3e1897adf7c472871a8399848de61d6ac5bd67b0725ee6514a3ba6b"),
        RecordedLibrary(schema: 8, digest: "32e1b555f58c1460e61a1e8dee6b86a8a43ad17b946c52441b40cfd1ab60ad4f"),
        RecordedLibrary(schema: 9, digest: "4bce6209cfbc8e5e22c3c1761bdc8355223c141fd88814d445f1e2bc0f741d1b"),
        RecordedLibrary(schema: 10, digest: "110ceec841ecc89b53b1e1b0f1afef8ee9d6b761d49bdfe094a3654e081aae25"),
        RecordedLibrary(schema: 11, digest: "a0201f08af2cf3927bf8a4cdcf78117cdb17880980f093a65bfe651cd3b64f2d"),
        RecordedLibrary(schema: 12, digest: "a14b186ccc9c16f331f2c203b3b6dae048d793539d5d00f449e2712dfd5b4692"),
    ]

    /// Feeds of several kinds, by a program of the fifth schema; beside the library lie the feeds.
    package static let feeds = RecordedLibrary(
        schema: 5, digest: "2c9d977e84955e349581b0ecb4e6a0b7346e2b6e49db963ccb9655bf35cb09d4", name: "v5-feeds")

    /// The number of its store's schema.
    package let schema: Int
    /// SHA-256 of the archive, which is never edited.
    package let digest: String

    package let name: String

    private init(schema: Int, digest: String, name: String? = nil) {
        self.schema = schema
        self.digest = digest
        self.name = name ?? "v\(schema)"
    }

    package var archive: URL { Corpus.fixture("store/\(name).tar.gz") }

    /// Unpacks the library as `L` in the folder.
    /// - Returns: the path of its store.
    package func unpack(into folder: URL) async throws -> String {
        let tar = ["/usr/bin/tar", "/bin/tar"].first { FileManager.default.isExecutableFile(atPath: $0) }
        guard let tar else { throw NotRun(why: "there is no tar") }
        let unpacked = try await withProduct(
            ["-xzf", archive.path, "-C", folder.path], in: folder, executable: URL(filePath: tar)
        ) { try await $0.result() }
        guard unpacked.exitCode == 0 else { throw NotRun(why: unpacked.errors) }
        return folder.appending(path: "L/.booksync/store.sqlite").path
    }
}
