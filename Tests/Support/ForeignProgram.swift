import Foundation

/// A program that others wrote, where it is installed.
package enum ForeignProgram {
    /// All that go by the name, those that PATH has first before others.
    package static func paths(_ name: String) -> [URL] {
        let path = ProcessInfo.processInfo.environment["PATH"] ?? ""
        let folders: [String] = path.split(separator: ":").map(String.init) + ["/usr/bin", "/usr/sbin"]
        return folders.map { URL(filePath: "\($0)/\(name)") }
            .filter { FileManager.default.isExecutableFile(atPath: $0.path) }
    }

    package static func path(_ name: String) -> URL? { paths(name).first }

    /// Python finds what the tester installed by the tester's own home.
    package static let home = ProcessInfo.processInfo.environment.filter { ["HOME", "PYENV_ROOT"].contains($0.key) }

    /// A Python that has the module; nil where none has.
    package static func python(having module: String) async -> URL? {
        for python in paths("python3") {
            let result = try? await withProduct(
                ["-c", "import \(module)"], environment: home, in: URL(filePath: "/"), executable: python
            ) { try await $0.result() }
            if result?.exitCode == 0 { return python }
        }
        return nil
    }
}

#if os(Linux)
    /// Those whose arguments name the folder.
    package func processes(naming folder: String) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: "/proc").filter { name in
            guard Int(name) != nil else { return false }
            // A process that ends meanwhile has none.
            let arguments = FileManager.default.contents(atPath: "/proc/\(name)/cmdline") ?? Data()
            return String(decoding: arguments, as: UTF8.self).contains(folder)
        }
    }
#endif
