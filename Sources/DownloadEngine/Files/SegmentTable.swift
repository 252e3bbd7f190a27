/// Which pieces of a large file are here, being fetched, or free. Pieces lie on a fixed grid, so that a later run finds
/// them again. A pure value: it opens no file and no socket.
///
/// The *front* is the transfer itself, whose partial file grows at its end; it takes over the pieces that helpers
/// brought as it comes to them.
struct SegmentTable {
    /// What the front does next.
    enum FrontStep: Equatable {
        /// Take over what is there of the piece, up to this byte, exclusive.
        case takeOver(piece: Int, end: Int64)
        /// Fetch from where the front stands up to this byte, exclusive, straight into the partial file.
        case fetch(end: Int64)
        /// Somebody fetches what comes next: bring other pieces meanwhile or, where all that is missing is being fetched, wait for
        /// this piece.
        case wait(piece: Int, bringing: Range<Int>?)
    }

    /// Bytes of the whole.
    let total: Int64
    /// Of each piece but the last.
    let length: Int64
    private let count: Int
    /// Those that helpers fetch, as far as they are not whole.
    private var helped: Set<Int> = []
    /// The first one that is neither in the front's own hands nor behind it.
    private var firstAhead = 0
    /// Bytes from each piece's beginning on that are there, as far as the front has not come to them.
    private(set) var onDisk: [Int: Int64] = [:]

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
        count = Int((total + length - 1) / length)
    }

    func range(of piece: Int) -> Range<Int64> {
        let start = Int64(piece) * length
        return start..<min(total, start + length)
    }

    func range(of pieces: Range<Int>) -> Range<Int64> {
        range(of: pieces.lowerBound).lowerBound..<range(of: pieces.upperBound - 1).upperBound
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

    /// Whether a piece behind the front's own waits for somebody to fetch it.
    var hasFreePiece: Bool { !free.isEmpty }

    private var free: some Collection<Int> {
        (firstAhead..<count).lazy.filter { !helped.contains($0) && onDisk[$0] != Int64(range(of: $0).count) }
    }

    /// Pieces for one request: an eighth of those that are not being fetched, so that the last requests are short.
    func share(atMost most: Int) -> Int { max(1, min(most, free.count / 8)) }

    /// - Parameters:
    ///   - offset: bytes in the front's partial file; less than the total.
    ///   - reach: pieces that the front may ask for in one request.
    ///   - mayHelp: whether it may bring other pieces while it waits for one.
    mutating func nextStep(ofFrontAt offset: Int64, reach: Int, mayHelp: Bool = true) -> FrontStep {
        let piece = Int(offset / length)
        if helped.contains(piece) {
            firstAhead = max(firstAhead, piece)
            let others = mayHelp ? claim(atMost: reach) : nil
            return .wait(piece: others?.lowerBound ?? piece, bringing: others)
        }
        firstAhead = max(firstAhead, piece + 1)
        if let bytes = onDisk[piece] {
            let end = range(of: piece).lowerBound + bytes
            if end > offset { return .takeOver(piece: piece, end: end) }
            onDisk[piece] = nil
        }
        let pieces = untouched(from: piece, atMost: reach)
        firstAhead = max(firstAhead, pieces.upperBound)
        return .fetch(end: range(of: pieces).upperBound)
    }

    /// The piece with those behind it of which nothing is here or on its way.
    private func untouched(from piece: Int, atMost most: Int) -> Range<Int> {
        let others = (piece + 1..<count).prefix(most - 1).prefix { !helped.contains($0) && onDisk[$0] == nil }
        return piece..<others.endIndex
    }

    /// The next pieces for a helper; nil when none is free.
    mutating func claim(atMost most: Int) -> Range<Int>? {
        guard let piece = free.first else { return nil }
        let pieces = untouched(from: piece, atMost: most)
        helped.formUnion(pieces)
        return pieces
    }

    /// A helper brought these bytes, behind what is here of its pieces.
    mutating func grow(by bytes: Range<Int64>) {
        var start = bytes.lowerBound
        while start < bytes.upperBound {
            let piece = Int(start / length)
            let range = range(of: piece)
            start = min(bytes.upperBound, range.upperBound)
            onDisk[piece] = start - range.lowerBound
            if start == range.upperBound { helped.remove(piece) }
        }
    }

    /// A helper came to its end.
    mutating func release(_ pieces: Range<Int>) { helped.subtract(pieces) }

    /// The front has taken the piece's bytes over.
    mutating func takenOver(_ piece: Int) {
        onDisk[piece] = nil
    }
}
