import BookModel
import BookSync
import Hummingbird
import LibraryFiles
import NIOCore

/// Gives the bytes of a file away as the client takes them.
///
/// What is sent was looked at after it was read, and the file found unchanged (see ``OpenedFile/read(into:at:)``); for that
/// reason the kernel is not left to send the file by itself.
///
/// A client that takes at once what it gets is sent large parts, and the next one is read meanwhile. One that takes no more
/// than it plays is sent small ones, of which one is on its way and one waits: many may listen.
struct FileBody: Sendable {
    /// How a client takes what it is sent.
    private enum Pace {
        /// - Parameter quick: of the last parts, how many were taken at once.
        case small(quick: Int)
        case large
        /// It slowed down; what is on its way is still large.
        case slowing

        var isOnFastLane: Bool {
            switch self {
            case .small: false
            case .large, .slowing: true
            }
        }

        /// - Parameter duration: until there was room for one more part.
        mutating func record(_ duration: Duration, _ lane: Slots) {
            switch self {
            case .small(let quick):
                let now = duration < .milliseconds(20) ? quick + 1 : 0
                self = now >= 4 && lane.take() ? .large : .small(quick: now)
            case .large: if duration > .milliseconds(200) { self = .slowing }
            case .slowing:
                lane.release()
                self = .small(quick: 0)
            }
        }
    }

    /// Bytes.
    private static let smallPart = 32 << 10
    private static let largePart = 512 << 10

    let file: OpenedFile
    let range: Range<Int64>
    /// How many answers at a time may be made of large parts.
    let lane: Slots

    var response: ResponseBody {
        ResponseBody(contentLength: range.count) { writer in
            var pace = Pace.small(quick: 0)
            defer { if pace.isOnFastLane { lane.release() } }
            var offset = range.lowerBound
            var ahead: ByteBuffer?
            while offset < range.upperBound {
                let part: ByteBuffer
                if let ahead { part = ahead } else { part = try await read(Self.smallPart, at: offset) }
                offset += Int64(part.readableBytes)
                let (end, begin) = (offset, ContinuousClock.now)
                if case .large = pace, end < range.upperBound {
                    async let next = read(Self.largePart, at: end)
                    try await writer.write(contentsOf: Self.slices(of: part))
                    pace.record(ContinuousClock.now - begin, lane)
                    ahead = try await next
                } else {
                    try await writer.write(contentsOf: Self.slices(of: part))
                    pace.record(ContinuousClock.now - begin, lane)
                    ahead = nil
                }
            }
            try await writer.finish(nil)
        }
    }

    /// - Returns: so many bytes, or what is left of the range.
    private func read(_ count: Int, at offset: Int64) async throws -> ByteBuffer {
        let (file, count) = (file, Int(min(Int64(count), range.upperBound - offset)))
        return try await runBlocking {
            var buffer = ByteBuffer()
            try buffer.writeWithUnsafeMutableBytes(minimumWritableBytes: count) { room in
                try file.read(into: UnsafeMutableRawBufferPointer(rebasing: room[..<count]), at: offset)
                return count
            }
            return buffer
        }
    }

    /// The same bytes in small parts: that a client stalls is told by how long it takes for one of them.
    private static func slices(of part: ByteBuffer) -> [ByteBuffer] {
        var (rest, slices) = (part, [ByteBuffer]())
        while let slice = rest.readSlice(length: min(smallPart, rest.readableBytes)), slice.readableBytes > 0 {
            slices.append(slice)
        }
        return slices
    }
}
