import Foundation

/// Which boot of the machine this is. Bytes written since the machine was booted survive a killed process in the page
/// cache; after another boot only what was synced is sure.
package enum BootIdentity {
    /// The kernel's random id of this boot (Linux), or the time of boot (macOS); nil when neither can be told, and then
    /// only synced bytes are trusted. A small read from memory, done once.
    package static let current: String? = {
        #if os(Linux)
            let bytes = FileManager.default.contents(atPath: "/proc/sys/kernel/random/boot_id") ?? Data()
            let text = String(decoding: bytes, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
            return text.isEmpty ? nil : text
        #else
            var time = timeval()
            var size = MemoryLayout<timeval>.size
            guard sysctlbyname("kern.boottime", &time, &size, nil, 0) == 0 else { return nil }
            return "\(time.tv_sec).\(time.tv_usec)"
        #endif
    }()
}
