import BookModel
import Foundation

/// What stands in the library's `.booksync/holder`: who holds the library, or held it last.
///
/// The kernel's lock (``LibraryLock``) tells processes of one machine apart. On a disk that several machines have mounted it may not
/// reach the others; there this file tells a run that another took the library over from it.
struct LibraryHolder: Hashable, Sendable {
    /// Of each holder greater than of those before.
    var epoch: UInt64
    /// Random: two runs that take the library at the same moment have the same epoch.
    var token: String
    /// Counts up every ``LibraryLease/beatInterval`` while the holder lives.
    var beat: UInt64 = 0
    var isReleased = false
    /// The boot of the machine and the process namespace, within which ``LockOwner/process`` means something.
    var domain: String
    /// When the process began, in the kernel's ticks since the boot; a number that is used again has another one.
    var processStart: String
    var owner: LockOwner

    /// This process as the one that follows `predecessor`.
    static func successor(of predecessor: LibraryHolder?, command: String) -> LibraryHolder {
        LibraryHolder(
            epoch: (predecessor?.epoch ?? 0) &+ 1, token: String(UInt64.random(in: 0 ... .max), radix: 36),
            domain: currentDomain, processStart: startTime(ofProcess: "self") ?? "?",
            owner: .thisProcess(command: command))
    }

    /// The first line, which alone changes; it always has the same length, so that it can be written where it is.
    var stateLine: String {
        let digits = String(beat)
        return (isReleased ? "free " : "held ") + String(repeating: "0", count: 20 - digits.count) + digits + "\n"
    }

    var text: String {
        """
        \(stateLine)epoch \(epoch)
        token \(token)
        boot \(domain)
        start \(processStart)
        \(owner.lines)
        """
    }
}

extension LibraryHolder {
    /// - Returns: nil when the bytes are not a holder's file.
    init?(bytes: Data) {
        let text = String(decoding: bytes.prefix(4096), as: UTF8.self)
        let values = LockOwner.values(of: text)
        guard let owner = LockOwner(lines: text), let epoch = values["epoch"].flatMap({ UInt64($0) }),
            let token = values["token"], let beat = (values["held"] ?? values["free"]).flatMap({ UInt64($0) })
        else { return nil }
        self.init(
            epoch: epoch, token: token, beat: beat, isReleased: values["held"] == nil, domain: values["boot"] ?? "?",
            processStart: values["start"] ?? "?", owner: owner)
    }

    func isSameHolder(as other: LibraryHolder) -> Bool { epoch == other.epoch && token == other.token }

    /// Whether it was a process of this machine that is gone. False of others, which nobody here can look for. Blocks on the
    /// kernel.
    var isKnownToBeGone: Bool {
        domain == Self.currentDomain && domain != "?" && Self.startTime(ofProcess: owner.process) != processStart
    }

    private static let currentDomain: String = {
        guard let boot = BootIdentity.current else { return "?" }
        // Containers of one machine have the same boot and other processes.
        let namespace = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/ns/pid")
        return namespace.map { "\(boot) \($0)" } ?? "?"
    }()

    /// proc_pid_stat(5), field 22; the name, which is the second, may hold spaces.
    private static func startTime(ofProcess process: String) -> String? {
        guard let bytes = FileManager.default.contents(atPath: "/proc/\(process)/stat"),
            let behindName = String(decoding: bytes, as: UTF8.self).split(separator: ")").last
        else { return nil }
        let fields = behindName.split(separator: " ")
        return fields.count > 19 ? String(fields[19]) : nil
    }
}

/// Decides whether a library may be taken, from what its ``LibraryHolder`` file says again and again. Pure: moments are of the
/// watcher's own monotonic clock, and no clocks of two machines are compared.
struct HolderWatch {
    enum Decision: Equatable {
        /// - Parameter fromSilentHolder: whether the last holder may live, and wake some day.
        case take(fromSilentHolder: Bool)
        /// Look again.
        case wait
        /// Its holder lives.
        case held
    }

    /// Of a holder that is to be believed dead: six beats.
    static let silence = Duration.seconds(60)

    /// Whether other machines may have the disk, too; else the kernel's lock has told enough.
    let isSharedDisk: Bool
    private var seen: (holder: LibraryHolder, since: Duration)?

    init(isSharedDisk: Bool) {
        self.isSharedDisk = isSharedDisk
    }

    /// To be asked by one who has the kernel's lock.
    /// - Parameter isGone: whether the holder was a process of this machine that is no more.
    mutating func decide(_ holder: LibraryHolder?, isGone: Bool, at moment: Duration) -> Decision {
        guard let holder, !holder.isReleased, isSharedDisk, !isGone else { return .take(fromSilentHolder: false) }
        guard let seen else {
            seen = (holder, moment)
            return .wait
        }
        guard seen.holder == holder else { return .held }
        return moment - seen.since >= Self.silence ? .take(fromSilentHolder: true) : .wait
    }
}
