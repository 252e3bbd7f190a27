import Foundation

/// What the figures were measured on.
enum Machine {
    static func facts(peers: [Peer]) -> [String] {
        var names = utsname()
        uname(&names)
        let kernel = withUnsafeBytes(of: &names.release) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
        let memory = Double(ProcessInfo.processInfo.physicalMemory) / Double(1 << 30)
        let machine =
            "\(ProcessInfo.processInfo.activeProcessorCount) cores, \(decimal(memory, 1)) GiB, kernel \(kernel)"
        guard !peers.isEmpty else { return [machine] }
        return [machine, "peers: \(peers.map { "\($0.name) \($0.version)" }.joined(separator: ", "))"]
    }

    /// How many processes wanted to run over the last minute, 5 and 15: what else is going on.
    static var load: String {
        var loads = [0.0, 0.0, 0.0]
        getloadavg(&loads, 3)
        return loads.map { decimal($0) }.joined(separator: " ")
    }
}
