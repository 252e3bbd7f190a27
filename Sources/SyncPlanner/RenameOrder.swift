/// Puts renames into an order in which none overwrites anything, and tells which cannot be done.
///
/// A book that is renumbered is a chain: 12 wants the name that 13 has, 13 that of 14, and so on. The chain is walked
/// from its free end. Where names go round in a circle (two that swapped are the smallest) there is no free end: the
/// first of the circle steps aside under a name of its own until its new one is free, and the others are a chain.
package struct RenameOrder {
    package struct Move: Equatable {
        /// Tells the moves apart; the lower one wins where two want the same path.
        package var rank: Int
        package var from: String
        package var to: String

        package init(rank: Int, from: String, to: String) {
            (self.rank, self.from, self.to) = (rank, from, to)
        }
    }

    package enum Obstacle: Equatable {
        /// Whatever stands at the path does not move away.
        case occupied
        /// The move of another rank goes there.
        case takenBy(rank: Int)
    }

    /// In the order in which they are to be begun. What a move overtakes on its way, it waits for under another name.
    package private(set) var moves: [Move] = []
    /// The ranks of those that swap their names with others.
    private(set) var swapping: Set<Int> = []
    /// Rank → why the file keeps its name.
    package private(set) var obstacles: [Int: Obstacle] = [:]
    /// What is taken once all is done.
    private(set) var occupied: Set<String>

    /// - Parameter occupied: every path that is taken.
    package init(_ candidates: [Move], occupied: Set<String>) {
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
        for first in claimants where !done.contains(first.rank) {
            // Backwards, as the chain is walked: who wants the name of the one before. No two want one name, so this
            // either ends or comes back to the first.
            var chain = [first]
            var next = claims[first.from]
            while let move = next, move.rank != first.rank, !done.contains(move.rank) {
                chain.append(move)
                done.insert(move.rank)
                next = claims[move.from]
            }
            done.insert(first.rank)
            if next?.rank == first.rank, chain.count > 1 {
                moves += chain
                swapping.formUnion(chain.map(\.rank))
            } else {
                for move in chain { obstacles[move.rank] = .occupied }
            }
        }
    }
}
