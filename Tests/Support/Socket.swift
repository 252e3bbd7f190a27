import Foundation

/// A blocking TCP socket, held by the one thread that uses it; others may only shut it down.
package struct Socket: Sendable {
    let descriptor: CInt

    /// Takes a free loopback port and does not listen there: whoever connects to it is refused.
    static func bound() throws -> (Socket, port: Int) {
        let socket = Socket(descriptor: socket(AF_INET, streamKind, 0))
        guard socket.descriptor >= 0 else { throw SocketError("socket") }
        var address = loopback(port: 0)
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let answer = withUnsafeMutableBytes(of: &address) { bytes -> CInt in
            guard let name = bytes.assumingMemoryBound(to: sockaddr.self).baseAddress else { return -1 }
            guard bind(socket.descriptor, name, length) == 0 else { return -1 }
            return getsockname(socket.descriptor, name, &length)
        }
        guard answer == 0 else {
            let error = SocketError("bind or getsockname")
            socket.close()
            throw error
        }
        // A child that a test starts must not inherit it: the port would outlive the server.
        _ = fcntl(socket.descriptor, F_SETFD, FD_CLOEXEC)
        return (socket, Int(UInt16(bigEndian: address.sin_port)))
    }

    /// Listens on a free loopback port.
    package static func listening() throws -> (Socket, port: Int) {
        let (socket, port) = try bound()
        guard listen(socket.descriptor, 512) == 0 else {
            let error = SocketError("listen")
            socket.close()
            throw error
        }
        return (socket, port)
    }

    /// Connects to a loopback port.
    /// - Parameters:
    ///   - receiveBuffer: bytes that the kernel is to hold of what was not yet received; nil for its own choice.
    ///   - client: the last number of the client's own address, 127.0.0.N; 0 for whichever the system takes. Linux has all of
    ///     them.
    package static func connected(port: Int, receiveBuffer: Int? = nil, from client: UInt8 = 0) throws -> Socket {
        let socket = Socket(descriptor: socket(AF_INET, streamKind, 0))
        guard socket.descriptor >= 0 else { throw SocketError("socket") }
        if let receiveBuffer { socket.set(SOL_SOCKET, SO_RCVBUF, CInt(receiveBuffer)) }
        let length = socklen_t(MemoryLayout<sockaddr_in>.size)
        if client > 0 {
            var own = loopback(port: 0)
            own.sin_addr.s_addr = (UInt32(0x7F00_0000) | UInt32(client)).bigEndian
            let answer = withUnsafeBytes(of: &own) { bytes -> CInt in
                guard let name = bytes.assumingMemoryBound(to: sockaddr.self).baseAddress else { return -1 }
                return bind(socket.descriptor, name, length)
            }
            guard answer == 0 else {
                let error = SocketError("bind")
                socket.close()
                throw error
            }
        }
        var address = loopback(port: port)
        let answer = withUnsafeBytes(of: &address) { bytes -> CInt in
            guard let name = bytes.assumingMemoryBound(to: sockaddr.self).baseAddress else { return -1 }
            return connect(socket.descriptor, name, length)
        }
        guard answer == 0 else {
            let error = SocketError("connect")
            socket.close()
            throw error
        }
        return socket
    }

    static var streamKind: CInt {
        #if canImport(Glibc)
            CInt(SOCK_STREAM.rawValue)
        #else
            SOCK_STREAM
        #endif
    }

    private static func loopback(port: Int) -> sockaddr_in {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = UInt16(port).bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        return address
    }

    /// Waits for the next client; nil when the socket was shut down.
    package func accepted() -> Socket? {
        while true {
            let descriptor = accept(self.descriptor, nil, nil)
            if descriptor < 0 {
                if errno == EINTR || errno == ECONNABORTED { continue }
                return nil
            }
            _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
            let client = Socket(descriptor: descriptor)
            client.set(CInt(IPPROTO_TCP), TCP_NODELAY, CInt(1))
            #if canImport(Darwin)
                client.set(SOL_SOCKET, SO_NOSIGPIPE, CInt(1))
            #endif
            return client
        }
    }

    /// Waits for bytes.
    /// - Returns: no more than so many; empty at a clean end, nil after a reset.
    func receiveOrReset(atMost count: Int = 65536) -> [UInt8]? {
        var received = -1
        let bytes = [UInt8](unsafeUninitializedCapacity: count) { buffer, initialized in
            repeat {
                received = recv(descriptor, buffer.baseAddress, buffer.count, 0)
            } while received < 0 && errno == EINTR
            initialized = max(0, received)
        }
        return received < 0 ? nil : bytes
    }

    /// Waits for bytes.
    /// - Returns: no more than so many; empty at the end of the connection, however it came.
    package func receive(atMost count: Int = 65536) -> [UInt8] {
        receiveOrReset(atMost: count) ?? []
    }

    /// What has come, without waiting for more.
    /// - Returns: no more than so many bytes; empty when none are there, nil at the end of the connection.
    package func receiveNow(atMost count: Int) -> [UInt8]? {
        var received = -1
        let bytes = [UInt8](unsafeUninitializedCapacity: count) { buffer, initialized in
            received = recv(descriptor, buffer.baseAddress, buffer.count, CInt(MSG_DONTWAIT))
            initialized = max(0, received)
        }
        if received < 0, [EAGAIN, EWOULDBLOCK, EINTR].contains(errno) { return [] }
        return received > 0 ? bytes : nil
    }

    /// Writes, waiting for room.
    /// - Returns: how many bytes the kernel took; fewer than given when the connection has ended.
    package func send(_ bytes: ArraySlice<UInt8>) -> Int {
        bytes.withUnsafeBytes { buffer in
            var sent = 0
            while sent < buffer.count {
                #if canImport(Darwin)
                    let flags: CInt = 0
                #else
                    let flags = CInt(MSG_NOSIGNAL)
                #endif
                let rest = UnsafeRawBufferPointer(rebasing: buffer[sent...])
                #if canImport(Darwin)
                    let count = Darwin.send(descriptor, rest.baseAddress, rest.count, flags)
                #elseif canImport(Musl)
                    let count = Musl.send(descriptor, rest.baseAddress, rest.count, flags)
                #else
                    let count = Glibc.send(descriptor, rest.baseAddress, rest.count, flags)
                #endif
                if count < 0, errno == EINTR { continue }
                guard count > 0 else { break }
                sent += count
            }
            return sent
        }
    }

    /// Waits so many milliseconds, or until the other side, or ``shutDown()``, ends the connection.
    /// - Returns: whether the connection has ended.
    package func hasEnded(within milliseconds: Int) -> Bool {
        #if canImport(Darwin)
            let ended = CInt(POLLHUP | POLLERR)
        #else
            // POLLRDHUP, which the headers hide behind _GNU_SOURCE: the client has closed its side.
            let ended = CInt(0x2000) | CInt(POLLHUP | POLLERR)
        #endif
        var watched = pollfd(fd: descriptor, events: Int16(ended), revents: 0)
        return poll(&watched, 1, CInt(clamping: milliseconds)) > 0
    }

    /// Waits until the other machine has acknowledged everything that was sent, or is gone.
    func drain() {
        while !hasEnded(within: 1) {
            var unsent: CInt = 0
            #if canImport(Darwin)
                var size = socklen_t(MemoryLayout<CInt>.size)
                let answer = getsockopt(descriptor, SOL_SOCKET, SO_NWRITE, &unsent, &size)
            #else
                let answer = ioctl(descriptor, UInt(TIOCOUTQ), &unsent)
            #endif
            if answer != 0 || unsent == 0 { return }
        }
    }

    /// Keeps what the kernel holds for a slow reader small, so that bytes counted are nearly bytes received.
    package func useSmallSendBuffer() {
        set(SOL_SOCKET, SO_SNDBUF, CInt(4096))
    }

    /// Makes ``close()`` send a reset and drop what is unsent.
    func resetOnClose() {
        set(SOL_SOCKET, SO_LINGER, linger(l_onoff: 1, l_linger: 0))
    }

    /// Wakes the thread that waits in a call on this socket; the thread then closes it.
    package func shutDown() {
        _ = shutdown(descriptor, CInt(SHUT_RDWR))
    }

    package func close() {
        #if canImport(Darwin)
            _ = Darwin.close(descriptor)
        #elseif canImport(Musl)
            _ = Musl.close(descriptor)
        #else
            _ = Glibc.close(descriptor)
        #endif
    }

    private func set<Value>(_ level: CInt, _ option: CInt, _ value: Value) {
        var value = value
        _ = withUnsafeBytes(of: &value) {
            setsockopt(descriptor, level, option, $0.baseAddress, socklen_t($0.count))
        }
    }
}

/// A socket call that failed while the server was set up.
struct SocketError: Error, CustomStringConvertible {
    let description: String

    init(_ call: String) {
        self.description = "\(call): \(String(cString: strerror(errno)))"
    }
}
