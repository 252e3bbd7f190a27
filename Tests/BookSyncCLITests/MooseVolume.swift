import Foundation
import Support
import Testing

/// A volume of MooseFS on this machine.
enum MooseVolume {
    /// Mounting needs root, or what else has `/dev/fuse`.
    static var isPossible: Bool {
        ["mfsmaster", "mfschunkserver", "mfsmount", "umount"].allSatisfy { ForeignProgram.path($0) != nil }
            && access("/dev/fuse", R_OK | W_OK) == 0 && geteuid() == 0
            && FileManager.default.isReadableFile(atPath: emptyMetadata) && machineAddress != nil
    }

    fileprivate static let emptyMetadata = "/var/lib/mfs/metadata.mfs.empty"

    /// A chunk server does not speak to its master over the loopback interface.
    fileprivate static var machineAddress: String? {
        var first: UnsafeMutablePointer<ifaddrs>?
        guard getifaddrs(&first) == 0 else { return nil }
        defer { freeifaddrs(first) }
        for entry in sequence(first: first, next: { $0?.pointee.ifa_next }) {
            guard let address = entry?.pointee.ifa_addr, Int32(address.pointee.sa_family) == AF_INET else { continue }
            var text = [CChar](repeating: 0, count: 64)
            guard
                getnameinfo(address, socklen_t(MemoryLayout<sockaddr_in>.size), &text, 64, nil, 0, NI_NUMERICHOST) == 0
            else { continue }
            let name = String(decoding: text.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
            if !name.hasPrefix("127.") { return name }
        }
        return nil
    }
}

/// Runs the body with two mounts of one volume, whose locks reach one mount only.
func withMooseVolume<Answer>(
    in folder: URL, isolation: isolated (any Actor)? = #isolation, _ body: (String, String) async throws -> Answer
) async throws -> Answer {
    let root = folder.appending(path: "moose").path
    let address = try #require(MooseVolume.machineAddress)
    let port = Int.random(in: 20_000..<30_000)
    let files = FileManager.default
    for name in ["meta", "chunks", "disk", "one", "other"] {
        try files.createDirectory(atPath: "\(root)/\(name)", withIntermediateDirectories: true)
    }
    try files.copyItem(atPath: MooseVolume.emptyMetadata, toPath: root + "/meta/metadata.mfs")
    func write(_ name: String, _ text: String) throws {
        try Data(text.utf8).write(to: URL(filePath: "\(root)/\(name)"))
    }
    try write("exports.cfg", "* / rw,alldirs,maproot=0\n")
    try write("topology.cfg", "")
    try write("disks.cfg", root + "/disk\n")
    let user = "WORKING_USER = root\nWORKING_GROUP = root\n"
    try write(
        "master.cfg",
        user + """
            DATA_PATH = \(root)/meta
            EXPORTS_FILENAME = \(root)/exports.cfg
            TOPOLOGY_FILENAME = \(root)/topology.cfg
            MATOML_LISTEN_PORT = \(port)
            MATOCS_LISTEN_PORT = \(port + 1)
            MATOCL_LISTEN_PORT = \(port + 2)

            """)
    try write(
        "chunks.cfg",
        user + """
            DATA_PATH = \(root)/chunks
            HDD_CONF_FILENAME = \(root)/disks.cfg
            HDD_LEAVE_SPACE_DEFAULT = 100MiB
            MASTER_HOST = \(address)
            MASTER_PORT = \(port + 1)
            CSSERV_LISTEN_PORT = \(port + 3)

            """)
    func run(_ name: String, _ arguments: String...) async throws -> Int32? {
        try await withProduct(arguments, in: folder, executable: ForeignProgram.path(name)) { try await $0.result() }
            .exitCode
    }
    let outcome = await Result { () async throws -> Answer in
        #expect(try await run("mfsmaster", "-c", root + "/master.cfg", "start") == 0)
        #expect(try await run("mfschunkserver", "-c", root + "/chunks.cfg", "start") == 0)
        for mount in ["one", "other"] {
            let options = "mfsnobsdlocks,mfsnoposixlocks"
            let mounted = try await run(
                "mfsmount", "\(root)/\(mount)", "-H", "127.0.0.1", "-P", "\(port + 2)", "-o", options)
            #expect(mounted == 0)
        }
        try await waitUntil("the volume takes files") {
            let probe = URL(filePath: root + "/one/probe")
            guard (try? Data("x".utf8).write(to: probe)) != nil else { return false }
            try files.removeItem(at: probe)
            return true
        }
        return try await body(root + "/one", root + "/other")
    }
    for mount in ["one", "other"] { _ = try await run("umount", "-l", "\(root)/\(mount)") }
    _ = try await run("mfschunkserver", "-c", root + "/chunks.cfg", "stop")
    _ = try await run("mfsmaster", "-c", root + "/master.cfg", "stop")
    return try outcome.get()
}

extension Result where Failure == any Error {
    fileprivate init(isolation: isolated (any Actor)? = #isolation, _ body: () async throws -> Success) async {
        do { self = .success(try await body()) } catch { self = .failure(error) }
    }
}
