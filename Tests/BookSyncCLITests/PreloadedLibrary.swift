import Foundation
import Support
import Testing

/// A C library to be loaded before a program's own (`LD_PRELOAD`), so that the system seems another one to it.
enum PreloadedLibrary {
    private static let compiler = ["/usr/bin/cc", "/usr/bin/gcc", "/usr/bin/clang"].first {
        FileManager.default.isExecutableFile(atPath: $0)
    }

    #if os(Linux)
        static var isAvailable: Bool { compiler != nil }
    #else
        static let isAvailable = false
    #endif

    /// Compiles the source.
    static func make(_ source: String, in folder: URL) async throws -> URL {
        let file = folder.appending(path: "preloaded.c")
        let library = folder.appending(path: "preloaded.so")
        try Data(source.utf8).write(to: file)
        let made = try await withProduct(
            ["-shared", "-fPIC", "-o", library.path, file.path], in: folder,
            executable: URL(filePath: try #require(compiler))
        ) { try await $0.result() }
        try #require(made.exitCode == 0, "\(made.errors)")
        return library
    }
}
