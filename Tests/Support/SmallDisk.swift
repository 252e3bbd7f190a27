#if os(Linux)
    import Foundation

    /// A filesystem in memory that holds so much and no more.
    package struct SmallDisk: Sendable {
        package let path: String

        package static let canBeMounted: Bool = {
            let folder = FileManager.default.temporaryDirectory.appending(path: "booksync-disk-\(UUID().uuidString)")
            do {
                try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
                try SmallDisk.mount(at: folder.path, kilobytes: 64).unmount()
                try FileManager.default.removeItem(at: folder)
                return true
            } catch {
                return false
            }
        }()

        package static func mount(at path: String, kilobytes: Int) throws -> SmallDisk {
            try mount("tmpfs", at: path, "tmpfs", 0, options: "size=\(kilobytes)k")
            return SmallDisk(path: path)
        }

        package func resize(kilobytes: Int) throws {
            try Self.mount("tmpfs", at: path, "tmpfs", UInt(MS_REMOUNT), options: "size=\(kilobytes)k")
        }

        /// Lets so many more files and folders be made.
        package func allow(newFiles count: Int) throws {
            var facts = statvfs()
            guard statvfs(path, &facts) == 0 else { throw Self.failure }
            let used = Int(facts.f_files) - Int(facts.f_ffree)
            try Self.mount(
                "tmpfs", at: path, "tmpfs", UInt(MS_REMOUNT), options: "nr_inodes=\(used + count)")
        }

        package func forbidWriting() throws {
            try Self.mount("tmpfs", at: path, "tmpfs", UInt(MS_REMOUNT) | UInt(MS_RDONLY), options: "")
        }

        /// What a user may still write, in bytes.
        package func free() throws -> Int {
            var facts = statvfs()
            guard statvfs(path, &facts) == 0 else { throw Self.failure }
            return Int(facts.f_bavail) * Int(facts.f_frsize)
        }

        /// Has the same disk at another place too.
        package func mountAlso(at other: String) throws -> SmallDisk {
            try Self.mount(path, at: other, nil, UInt(MS_BIND), options: nil)
            return SmallDisk(path: other)
        }

        /// Takes the disk away from its place, at once; what has files open on it goes on.
        package func unmount() {
            umount2(path, CInt(MNT_DETACH))
        }

        private static func mount(
            _ source: String, at path: String, _ type: String?, _ flags: UInt, options: String?
        ) throws {
            guard Foundation.mount(source, path, type, flags, options) == 0 else { throw failure }
        }

        private static var failure: POSIXError { POSIXError(POSIXErrorCode(rawValue: errno) ?? .EPERM) }
    }

    /// Hands on a folder that is a disk of its own.
    package func withSmallDisk(
        kilobytes: Int, isolation: isolated (any Actor)? = #isolation,
        _ body: (_ folder: String, SmallDisk) async throws -> Void
    ) async throws {
        try await withTemporaryPath { folder in
            let disk = try SmallDisk.mount(at: folder, kilobytes: kilobytes)
            defer { disk.unmount() }
            try await body(folder, disk)
        }
    }
#endif
