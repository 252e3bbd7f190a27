import BookModel
import Foundation

/// What a file was, told by another that shares most of its bytes, wherever they stand: a file of records, each of two
/// little-endian 64-bit numbers. Offset and count: so many bytes of the other file, from there. All ones and count: the bytes that
/// follow.
///
/// All calls block on the disk.
package enum FileDelta {
    private static let isLiteral = UInt64.max
    private static let chunk = 1 << 20
    private static let prime: UInt64 = 0x100_0000_01b3

    /// Writes how `original` is made of `file`, to a new file at `path`; on disk when the call returns.
    ///
    /// Blocks of `file` are found again by a rolling hash over `original`, as rsync does, and lengthened as far as both are the
    /// same.
    package static func write(of original: String, from file: String, to path: String) throws {
        let (old, new) = (try opened(original, O_RDONLY | O_CLOEXEC), try opened(file, O_RDONLY | O_CLOEXEC))
        defer { for file in [old, new] { close(file) } }
        unlink(path)
        let output = try opened(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC)
        defer { close(output) }
        let block = max(512, try systemCall("a file cannot be read") { lseek(new, 0, SEEK_END) } >> 18)
        let places = try blocks(of: new, block)
        let highest = (1..<block).reduce(UInt64(1)) { power, _ in power &* prime }
        // Bytes of `original` from `start`, of which those before `next` are told already, or are literals.
        var (start, next, window) = (0, 0, [UInt8]())
        var (hash, literals) = (UInt64(0), [UInt8]())
        while true {
            if next + block > window.count {
                (start, next) = (start + next, 0)
                window = try bytes(of: old, at: start, count: chunk)
                guard window.count >= block else { break }
                hash = window.prefix(block).reduce(0) { $0 &* prime &+ UInt64($1) }
            }
            if let place = places[hash] {
                let shared = try commonLength(old, start + next, new, place)
                if shared >= block {
                    try writeLiterals(&literals, to: output)
                    try write(UInt64(place), UInt64(shared), to: output)
                    (start, next, window) = (start + next + shared, 0, [])
                    continue
                }
            }
            let first = window[next]
            literals.append(first)
            if literals.count == chunk { try writeLiterals(&literals, to: output) }
            // At the end of the window it begins anew.
            if next + block < window.count {
                hash = (hash &- UInt64(first) &* highest) &* prime &+ UInt64(window[next + block])
            }
            next += 1
        }
        literals += window
        try writeLiterals(&literals, to: output)
        try systemCall("\(path) cannot be synced") { fsync(output) }
    }

    /// Makes of `file` what the delta at `path` tells, as a new file.
    package static func restore(_ path: String, from file: String, to original: String) throws {
        unlink(original)
        let output = try opened(original, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC)
        defer { close(output) }
        try read(path, from: file) { try writeBytes($0, to: output) }
        try systemCall("\(original) cannot be synced") { fsync(output) }
    }

    /// Reads what the delta at `path` makes of `file`.
    package static func read(_ path: String, from file: String, onBytes: ([UInt8]) throws -> Void) throws {
        let (delta, source) = (try opened(path, O_RDONLY | O_CLOEXEC), try opened(file, O_RDONLY | O_CLOEXEC))
        defer { for file in [delta, source] { close(file) } }
        var position = 0
        while true {
            let record = try bytes(of: delta, at: position, count: 16)
            position += record.count
            guard record.count == 16 else { break }
            let numbers = record.withUnsafeBytes { buffer in
                [0, 8].map { UInt64(littleEndian: buffer.loadUnaligned(fromByteOffset: $0, as: UInt64.self)) }
            }
            let isLiteral = numbers[0] == Self.isLiteral
            var from = isLiteral ? position : Int(clamping: numbers[0])
            var rest = Int(clamping: numbers[1])
            if isLiteral { position = Int(clamping: UInt64(position) &+ numbers[1]) }
            while rest > 0 {
                let part = try bytes(of: isLiteral ? delta : source, at: from, count: min(rest, chunk))
                // What it comes to does not have the original's digest.
                guard !part.isEmpty else { break }
                try onBytes(part)
                (from, rest) = (from + part.count, rest - part.count)
            }
        }
    }

    /// Hash of a block → where the first such block begins.
    private static func blocks(of file: CInt, _ block: Int) throws -> [UInt64: Int] {
        var (places, position) = ([UInt64: Int](), 0)
        while true {
            let part = try bytes(of: file, at: position, count: chunk / block * block)
            for start in stride(from: 0, through: part.count - block, by: block) {
                let hash = part[start..<start + block].reduce(UInt64(0)) { $0 &* prime &+ UInt64($1) }
                if places[hash] == nil { places[hash] = position + start }
            }
            position += part.count
            guard part.count >= block else { return places }
        }
    }

    private static func commonLength(_ one: CInt, _ first: Int, _ other: CInt, _ second: Int) throws -> Int {
        var count = 0
        while true {
            let (left, right) = (
                try bytes(of: one, at: first + count, count: chunk),
                try bytes(of: other, at: second + count, count: chunk)
            )
            // All at once, as it mostly is.
            let same = left == right ? left.count : zip(left, right).prefix { $0 == $1 }.count
            count += same
            if same < chunk { return count }
        }
    }

    /// Fewer than `count` only at the end of the file.
    private static func bytes(of file: CInt, at offset: Int, count: Int) throws -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: count)
        do {
            let done = try bytes.withUnsafeMutableBytes { try readAll($0, from: file, at: Int64(offset)) }
            return done == count ? bytes : Array(bytes[..<done])
        } catch let error as SystemError {
            throw Failure.file("a file cannot be read", errno: error.code)
        }
    }

    private static func writeLiterals(_ literals: inout [UInt8], to output: CInt) throws {
        guard !literals.isEmpty else { return }
        try write(isLiteral, UInt64(literals.count), to: output)
        try writeBytes(literals, to: output)
        literals = []
    }

    private static func write(_ first: UInt64, _ second: UInt64, to output: CInt) throws {
        try writeBytes([first, second].flatMap { withUnsafeBytes(of: $0.littleEndian, Array.init) }, to: output)
    }

    private static func writeBytes(_ bytes: [UInt8], to output: CInt) throws {
        try bytes.withUnsafeBytes { try writeAll($0, to: output, "a file cannot be written") }
    }
}
