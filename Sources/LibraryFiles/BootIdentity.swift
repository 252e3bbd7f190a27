import Foundation

/// Which boot of the machine this is. Bytes written since the machine was booted survive a killed process in the page
/// cache; after another boot only what was synced is sure.
package enum BootIdentity {
    /// The kernel's random id of this boot (Linux), or the time of boot (macOS); nil when neither can be told, and then
    /// only synced bytes are trusted. A small read from memory, done once.
    package static let current: String? = {
        #if os(Linux)
            // By fopen, which the simulator of power cuts replaces (Tests/PowerCut/boot.c).
            guard let file = fopen("/proc/sys/kernel/random/boot_id", "r") else { return nil }
            defer { fclose(file) }
            var buffer = [UInt8](repeating: 0, count: 64)
            let count = fread(&buffer, 1, buffer.count, file)
            let text = String(decoding: buffer[..<count], as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
            return text.isEmpty ? nil : text
        #else
            var time = timeval()
            var size = MemoryLayout<timeval>.size
            guard sysctlbyname("kern.boottime", &time, &size, nil, 0) == 0 else { return nil }
            return "\(time.tv_sec).\(time.tv_usec)"
        #endif
    }()
}
