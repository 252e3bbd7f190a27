import Foundation
import Support
import Testing

@testable import LibraryFiles

@Suite struct MountedFilesystemTests {
    private static let mountinfo = #"""
        22 28 0:21 / /proc rw,nosuid shared:14 - proc proc rw
        28 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw,errors=remount-ro
        90 28 0:50 /books /media/my\040books rw,relatime - nfs4 nas:/books rw,vers=4.2,local_lock=none,addr=10.0.0.2
        91 28 0:51 / /old rw - nfs nas:/old rw,vers=3,nolock,local_lock=all
        92 28 0:52 / /old/flocked rw master:3 - nfs nas:/f rw,vers=3,local_lock=flock
        93 28 0:53 / /old/posix rw - nfs nas:/p rw,vers=3,local_lock=posix
        94 28 0:54 / /twice rw - ext4 /dev/sdb1 rw,nolock
        95 28 0:55 / /twice rw - tmpfs tmpfs rw
        a line that is none
        """#

    @Test(arguments: [
        ("/home/a/Audiobooks", "ext4", false), ("/media/my books/L", "nfs4", false), ("/media/my books", "nfs4", false),
        ("/media/my bookshelf", "ext4", false), ("/old/L", "nfs", true), ("/old/flocked/L", "nfs", true),
        ("/old/posix/L", "nfs", false), ("/twice/L", "tmpfs", false), ("/", "ext4", false),
    ])
    func `the filesystem that a path lies on says whether its locks reach other machines`(
        path: String, kind: String, isLocal: Bool
    ) {
        let found = MountedFilesystem(of: path, mountinfo: Self.mountinfo)
        #expect(found?.kind == kind)
        #expect(found?.locksOnThisMachineOnly == isLocal)
    }

    @Test func `a list that says nothing of the path is no answer`() {
        #expect(MountedFilesystem(of: "/L", mountinfo: "") == nil)
        #expect(MountedFilesystem(of: "relative", mountinfo: Self.mountinfo) == nil)
    }

    #if os(Linux)
        @Test(.needsMounting, .limitedConcurrency)
        func `a disk is found behind so many others that the list of them has many pages`() async throws {
            try await withTemporaryPath { folder in
                var disks: [SmallDisk] = []
                defer { for disk in disks { disk.unmount() } }
                for number in 1...60 {
                    let place = "\(folder)/a disk with a name of some length, number \(number)"
                    try FileManager.default.createDirectory(atPath: place, withIntermediateDirectories: false)
                    disks.append(try SmallDisk.mount(at: place, kilobytes: 64))
                }
                let kinds = disks.map { MountedFilesystem(of: $0.path)?.kind }
                #expect(kinds == Array(repeating: "tmpfs", count: 60))
            }
        }
    #endif
}
