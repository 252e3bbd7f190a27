import Foundation

/// A C library to be loaded before a program's own (`LD_PRELOAD`), so that the system seems another one to it.
package enum PreloadedLibrary {
    private static let compiler = ["/usr/bin/cc", "/usr/bin/gcc", "/usr/bin/clang"].first {
        FileManager.default.isExecutableFile(atPath: $0)
    }

    #if os(Linux)
        package static var isAvailable: Bool { compiler != nil }
    #else
        package static let isAvailable = false
    #endif

    /// Compiles the source of that name in `Fixtures/preloaded`.
    package static func make(_ name: String, in folder: URL) async throws -> URL {
        let source = Corpus.fixture("preloaded/\(name).c")
        let library = folder.appending(path: "preloaded.so")
        guard let compiler else { throw NotRun(why: "there is no C compiler") }
        let made = try await withProduct(
            ["-shared", "-fPIC", "-o", library.path, source.path], in: folder, executable: URL(filePath: compiler)
        ) { try await $0.result() }
        guard made.exitCode == 0 else { throw NotRun(why: made.errors) }
        return library
    }
}
