import BookModel
import Testing

@Suite struct PartsTests {
    @Test(arguments: [0, 1, 10, 11, 1000]) func `parts that are made at once are handed on in their order`(count: Int)
        async
    {
        var sums: [Int] = []
        await Array(0..<count).inParts(of: 10, make: { $0.reduce(0, +) }, use: { sums.append($0) })
        let expected = stride(from: 0, to: count, by: 10).map { ($0..<min($0 + 10, count)).reduce(0, +) }
        #expect(sums == expected)
    }
}
