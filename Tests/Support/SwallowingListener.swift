import Foundation

/// An address on loopback that swallows packets: a listener whose queue is full, so that the kernel drops every further
/// attempt to connect, without a word. Linux only; elsewhere such attempts are refused.
package final class SwallowingListener: Sendable {
    package let port: Int
    private let sockets: [Socket]

    /// Whether this machine makes listeners such as this one.
    package static var isPossible: Bool {
        #if os(Linux)
            true
        #else
            false
        #endif
    }

    /// - Parameter port: nil for a free one.
    package init(isIPv6: Bool = false, port: Int? = nil) throws {
        let listener = try Self.newSocket(isIPv6)
        var sockets = [listener]
        do {
            try Self.withAddress(isIPv6, port: port ?? 0) { address, length in
                guard bind(listener.descriptor, address, length) == 0, listen(listener.descriptor, 0) == 0 else {
                    throw SocketError("bind or listen")
                }
            }
            self.port = try port ?? Self.port(of: listener)
            // One fills the queue; the others make sure.
            for _ in 0..<3 {
                let client = try Self.newSocket(isIPv6)
                sockets.append(client)
                _ = fcntl(client.descriptor, F_SETFL, O_NONBLOCK)
                Self.withAddress(isIPv6, port: self.port) { address, length in
                    _ = connect(client.descriptor, address, length)
                }
            }
        } catch {
            for socket in sockets { socket.close() }
            throw error
        }
        self.sockets = sockets
    }

    deinit {
        for socket in sockets { socket.close() }
    }

    /// Whether a name stands for both loopback addresses, so that connecting to it is a choice.
    package static func isBothLoopbacks(_ name: String) -> Bool {
        var list: UnsafeMutablePointer<addrinfo>?
        guard getaddrinfo(name, nil, nil, &list) == 0 else { return false }
        defer { freeaddrinfo(list) }
        var families: Set<CInt> = []
        var next = list
        while let entry = next {
            families.insert(entry.pointee.ai_family)
            next = entry.pointee.ai_next
        }
        return families.isSuperset(of: [AF_INET, AF_INET6])
    }

    /// Whether such a listener can be had on the IPv6 loopback address.
    package static var isPossibleOnIPv6: Bool {
        guard isPossible else { return false }
        do {
            _ = try SwallowingListener(isIPv6: true)
            return true
        } catch {
            return false
        }
    }

    private static func newSocket(_ isIPv6: Bool) throws -> Socket {
        let made = Socket(descriptor: socket(isIPv6 ? AF_INET6 : AF_INET, Socket.streamKind, 0))
        guard made.descriptor >= 0 else { throw SocketError("socket") }
        _ = fcntl(made.descriptor, F_SETFD, FD_CLOEXEC)
        return made
    }

    private static func port(of socket: Socket) throws -> Int {
        var storage = sockaddr_in6()
        var length = socklen_t(MemoryLayout<sockaddr_in6>.size)
        let answer = withUnsafeMutablePointer(to: &storage) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(socket.descriptor, $0, &length) }
        }
        guard answer == 0 else { throw SocketError("getsockname") }
        // At the same place in both families.
        return Int(UInt16(bigEndian: storage.sin6_port))
    }

    private static func withAddress<Failure: Error>(
        _ isIPv6: Bool, port: Int, _ body: (UnsafePointer<sockaddr>, socklen_t) throws(Failure) -> Void
    ) throws(Failure) {
        var six = sockaddr_in6()
        six.sin6_family = sa_family_t(AF_INET6)
        six.sin6_port = UInt16(port).bigEndian
        six.sin6_addr = in6addr_loopback
        var four = sockaddr_in()
        four.sin_family = sa_family_t(AF_INET)
        four.sin_port = UInt16(port).bigEndian
        four.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        if isIPv6 {
            try call(&six, body)
        } else {
            try call(&four, body)
        }
    }

    private static func call<Address, Failure: Error>(
        _ address: inout Address, _ body: (UnsafePointer<sockaddr>, socklen_t) throws(Failure) -> Void
    ) throws(Failure) {
        let length = socklen_t(MemoryLayout<Address>.size)
        try withUnsafePointer(to: &address) { (pointer) throws(Failure) in
            try pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { (generic) throws(Failure) in
                try body(generic, length)
            }
        }
    }
}
