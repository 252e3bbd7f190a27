import Testing

@testable import SyncPlanner

/// Which renames are done, in which order, and what is taken afterwards.
@Suite struct RenameOrderTests {
    private func order(_ moves: [(String, String)], besides: Set<String> = []) -> RenameOrder {
        let moves = moves.enumerated().map { RenameOrder.Move(rank: $0.offset, from: $0.element.0, to: $0.element.1) }
        return RenameOrder(moves, occupied: besides.union(moves.map(\.from)))
    }

    @Test func `a chain with a free end is walked from there, and nothing is in its way`() {
        let chain = order([("a", "b"), ("b", "c"), ("c", "d")])
        #expect(chain.moves.map(\.rank) == [2, 1, 0])
        #expect(chain.obstacles.isEmpty && chain.swapping.isEmpty)
        #expect(chain.occupied == ["b", "c", "d"])
    }

    @Test func `a circle is done whole, and so is a chain beside it`() {
        let circle = order([("a", "b"), ("b", "c"), ("c", "a"), ("x", "y")])
        #expect(circle.moves.map(\.rank) == [3, 0, 2, 1])
        #expect(circle.obstacles.isEmpty && circle.swapping == [0, 1, 2])
        #expect(circle.occupied == ["a", "b", "c", "y"])
    }

    @Test(arguments: [[("a", "b"), ("b", "c")], [("b", "c"), ("a", "b")]])
    func `a chain that ends at a foreign file stays as it is`(moves: [(String, String)]) {
        let blocked = order(moves, besides: ["c"])
        #expect(blocked.moves.isEmpty && blocked.swapping.isEmpty)
        #expect(blocked.obstacles == [0: .occupied, 1: .occupied])
        #expect(blocked.occupied == ["a", "b", "c"])
    }

    @Test func `of two that want one name the lower rank gets it`() {
        let both = order([("a", "c"), ("b", "c")])
        #expect(both.moves.map(\.rank) == [0])
        #expect(both.obstacles == [1: .takenBy(rank: 0)])
        #expect(both.occupied == ["b", "c"])
    }
}
