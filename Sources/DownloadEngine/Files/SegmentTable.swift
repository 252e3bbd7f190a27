/// Which pieces of a large file are here, being fetched, or free. Pieces lie on a fixed grid, so that a later run finds
/// them again. A pure value: it opens no file and no socket.
///
/// The *front* is the transfer itself, whose partial file grows at its end; it takes over the pieces that helpers
/// brought as it comes to them.
struct SegmentTable {
    /// What the front does next.
    enum FrontStep: Equatable {
        /// Append what the piece's file holds, and drop that file.
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
    /// Bytes that the files of pieces hold.
    private(set) var onDisk: [Int: Int64]
    private var lowestFree = 0

    /// - Parameter held: bytes that earlier runs left in the files of pieces, none of which is empty or too long.
    init(total: Int64, length: Int64, onDisk: [Int: Int64] = [:]) {
        self.total = total
        self.length = length
        self.onDisk = onDisk
        states = Array(repeating: .free, count: Int((total + length - 1) / length))
    }

    func range(of piece: Int) -> Range<Int64> {
        let start = Int64(piece) * length
        return start..<min(total, start + length)
    }

    /// Bytes in the files of all pieces.
    var bytesOnDisk: Int64 { onDisk.values.reduce(0, +) }

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

    /// A helper came to its end with so many bytes in the piece's file.
    mutating func release(_ piece: Int, onDisk bytes: Int64) {
        states[piece] = .free
        onDisk[piece] = bytes > 0 ? bytes : nil
    }

    /// The front has taken the piece's bytes over.
    mutating func takenOver(_ piece: Int) {
        onDisk[piece] = nil
    }
}
