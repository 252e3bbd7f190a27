#if os(Linux)
    import BookModel
    import Foundation
    import Support
    import Testing

    @testable import BookSync

    /// Case 36 of the download cases, on a disk that really is full.
    @Suite(.enabled(if: SmallDisk.canBeMounted, "mounting a tmpfs takes the rights of root"))
    struct FullDiskTests {
        @Test(arguments: [1, 3])
        func `a full disk stops the run, and the next one goes on once there is room`(jobs: Int) async throws {
            try await withTemporaryFolder { (folder: String) in
                let disk = try SmallDisk.mount(at: folder, kilobytes: 1200)
                defer { disk.unmount() }
                let catalog = ScriptedCatalog.episodes(12, bytes: 300_000)
                try await withRunBench(catalog, jobs: jobs, library: folder) { bench in
                    let first = try await bench.run()
                    #expect(first.failures.contains { $0.kind == .inputOutput }, "\(first.failures)")
                    #expect(first.failures.contains { $0.description.contains("full") }, "\(first.failures)")
                    #expect(first.summary.fetched < 5)
                    // What cannot be written ends the run: no further episode is asked for.
                    #expect(bench.audioRequests.count < 12)
                    #expect(try bench.partialNames() != [])

                    try disk.resize(kilobytes: 8000)
                    let second = try await bench.run()
                    #expect(second.failures.isEmpty, "\(second.failures)")
                    #expect(second.summary.resumed >= 1)
                    #expect(second.summary.bytesReused > 0)
                    for section in 1...12 {
                        #expect(try await bench.bytes(section) == ScriptedCatalog.bytes(section, 300_000))
                    }
                    // Received again is at most what was on its way when there was no room for it.
                    let received = first.summary.bytesReceived + second.summary.bytesReceived
                    #expect(received <= 3_600_000 + Int64(jobs) * 262_144)
                    #expect(try await bench.run().summary.kept == 12)
                }
            }
        }
    }

    /// A filesystem in memory that holds so much and no more.
    struct SmallDisk {
        let path: String

        static let canBeMounted: Bool = {
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

        static func mount(at path: String, kilobytes: Int) throws -> SmallDisk {
            guard Foundation.mount("tmpfs", path, "tmpfs", 0, "size=\(kilobytes)k") == 0 else {
                throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EPERM)
            }
            return SmallDisk(path: path)
        }

        func resize(kilobytes: Int) throws {
            guard Foundation.mount("tmpfs", path, "tmpfs", UInt(MS_REMOUNT), "size=\(kilobytes)k") == 0 else {
                throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EPERM)
            }
        }

        func unmount() {
            umount2(path, CInt(MNT_DETACH))
        }
    }
#endif
