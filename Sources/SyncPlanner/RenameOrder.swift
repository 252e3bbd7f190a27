/// Puts renames into an order in which none overwrites anything, and tells which cannot be done.
///
/// A book that is renumbered is a chain: 12 wants the name that 13 has, 13 that of 14, and so on. The chain is walked
/// from its free end. Names that go round in a circle are left as they are: swapping them would need a third name, and
/// a run that is killed in between would leave files under names that mean nothing.
struct RenameOrder {
    struct Move: Equatable {
        /// Tells the moves apart; the lower one wins where two want the same path.
        var rank: Int
        var from: String
        var to: String
    }

    enum Obstacle: Equatable {
        /// Whatever stands at the path does not move away.
        case occupied
        /// The move of another rank goes there.
        case takenBy(rank: Int)
        /// It waits for itself.
        case circle
    }

    private(set) var moves: [Move] = []
    /// Rank → why the file keeps its name.
    private(set) var obstacles: [Int: Obstacle] = [:]
    /// What is taken once all is done.
    private(set) var occupied: Set<String>

    init(_ candidates: [Move], occupied: Set<String>) {
        self.occupied = occupied
        let candidates = candidates.sorted { $0.rank < $1.rank }
        // Target → the one move that may have it.
        var claims: [String: Move] = [:]
        for move in candidates {
            if let winner = claims[move.to] {
                obstacles[move.rank] = .takenBy(rank: winner.rank)
            } else {
                claims[move.to] = move
            }
        }
        let claimants = candidates.filter { obstacles[$0.rank] == nil }
        var done: Set<Int> = []
        for first in claimants where !done.contains(first.rank) {
            var next: Move? = first
            while let move = next, !self.occupied.contains(move.to) {
                moves.append(move)
                done.insert(move.rank)
                self.occupied.remove(move.from)
                self.occupied.insert(move.to)
                next = claims[move.from]
            }
        }
        let movers = Dictionary(claimants.map { ($0.from, $0) }, uniquingKeysWith: { one, _ in one })
        for move in claimants where !done.contains(move.rank) {
            obstacles[move.rank] = Self.isCircle(from: move, movers: movers) ? .circle : .occupied
        }
    }

    /// Whether the chain of those in the way leads back to `start`. (It may also lead into a circle further on; then
    /// what stands in the way is simply a file that does not move.)
    private static func isCircle(from start: Move, movers: [String: Move]) -> Bool {
        var seen: Set<Int> = [start.rank]
        var next = movers[start.to]
        while let move = next {
            if move.rank == start.rank { return true }
            guard seen.insert(move.rank).inserted else { return false }
            next = movers[move.to]
        }
        return false
    }
}
