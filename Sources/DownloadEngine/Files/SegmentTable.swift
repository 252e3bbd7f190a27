/// Which pieces of a large file are here, being fetched, or free. Pieces lie on a fixed grid, so that a later run finds
/// them again. A pure value: it opens no file and no socket.
///
/// The *front* is the transfer itself, whose partial file grows at its end; it takes over the pieces that helpers
/// brought as it comes to them.
struct SegmentTable {
    /// What the front does next.
    enum FrontStep: Equatable {
        /// Take over what is there of the piece.
        case takeOver(piece: Int)
        /// Fetch from where the front stands up to this byte, exclusive, straight into the partial file.
        case fetch(end: Int64)
        /// Somebody fetches what comes next: bring another piece meanwhile.
        case help(piece: Int)
        /// All that is missing is being fetched: wait for this piece.
        case wait(piece: Int)
    }

    private enum State {
        case free
        case helped
        /// In the front's own hands, or behind it.
        case front
    }

    /// Bytes of the whole.
    let total: Int64
    /// Of each piece but the last.
    let length: Int64
    private var states: [State]
    /// Bytes from each piece's beginning on that are there, as far as the front has not come to them.
    private(set) var onDisk: [Int: Int64] = [:]
    private var lowestFree = 0

    /// - Parameters:
    ///   - held: what earlier runs left.
    ///   - front: bytes that the front has.
    init(total: Int64, length: Int64, held: [Range<Int64>] = [], front: Int64 = 0) {
        self.total = total
        self.length = length
        for held in held where held.lowerBound < total {
            var start = (held.lowerBound + length - 1) / length * length
            while start < min(held.upperBound, total) {
                let end = min(held.upperBound, start + length, total)
                if end > front { onDisk[Int(start / length)] = end - start }
                start += length
            }
        }
        states = Array(repeating: .free, count: Int((total + length - 1) / length))
    }

    func range(of piece: Int) -> Range<Int64> {
        let start = Int64(piece) * length
        return start..<min(total, start + length)
    }

    /// Bytes of all pieces that are there ahead of the front.
    var bytesOnDisk: Int64 { onDisk.values.reduce(0, +) }

    /// All that is there, with so many bytes at the front.
    func held(front: Int64) -> [Range<Int64>] {
        var ranges = front > 0 ? [0..<front] : []
        for (piece, bytes) in onDisk.sorted(by: { $0.key < $1.key }) {
            let start = range(of: piece).lowerBound
            if let last = ranges.last, start <= last.upperBound {
                ranges[ranges.count - 1] = last.lowerBound..<max(last.upperBound, start + bytes)
            } else {
                ranges.append(start..<start + bytes)
            }
        }
        return ranges
    }

    private func isWhole(_ piece: Int) -> Bool {
        onDisk[piece] == Int64(range(of: piece).count)
    }

    /// Whether a piece behind the front's own waits for somebody to fetch it.
    var hasFreePiece: Bool { firstFree != nil }

    private var firstFree: Int? {
        states.indices.dropFirst(lowestFree).first { states[$0] == .free && !isWhole($0) }
    }

    /// - Parameters:
    ///   - offset: bytes in the front's partial file; less than the total.
    ///   - reach: pieces that the front may ask for in one request.
    ///   - mayHelp: whether it may bring other pieces while it waits for one.
    mutating func nextStep(ofFrontAt offset: Int64, reach: Int, mayHelp: Bool = true) -> FrontStep {
        let piece = Int(offset / length)
        for passed in lowestFree..<piece where states[passed] == .free { states[passed] = .front }
        lowestFree = max(lowestFree, piece)
        if states[piece] == .helped {
            guard mayHelp, let other = firstFree else { return .wait(piece: piece) }
            states[other] = .helped
            return .help(piece: other)
        }
        states[piece] = .front
        if let bytes = onDisk[piece] {
            if range(of: piece).lowerBound + bytes > offset { return .takeOver(piece: piece) }
            onDisk[piece] = nil
        }
        var last = piece
        while last + 1 < states.count, last + 1 < piece + reach, states[last + 1] == .free, onDisk[last + 1] == nil {
            last += 1
            states[last] = .front
        }
        return .fetch(end: range(of: last).upperBound)
    }

    /// The next piece for a helper; nil when none is free.
    mutating func claim() -> Int? {
        guard let piece = firstFree else { return nil }
        states[piece] = .helped
        return piece
    }

    /// A helper brought so many bytes more of its piece.
    mutating func grow(_ piece: Int, by bytes: Int64) {
        if bytes > 0 { onDisk[piece, default: 0] += bytes }
    }

    /// A helper came to its end.
    mutating func release(_ piece: Int) { states[piece] = .free }

    /// The front has taken the piece's bytes over.
    mutating func takenOver(_ piece: Int) {
        onDisk[piece] = nil
    }
}
