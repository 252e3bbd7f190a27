import Support

/// Makes inputs out of recorded ones: cut off, with bits turned over, pieces of others, repetitions, and words of the
/// format in places where nobody expects them. The same seed makes the same inputs.
struct Mutator {
    private let corpus: [[[UInt8]]]
    private let tokens: [[UInt8]]
    private var generator: SeededGenerator

    /// Bytes; a longer input takes time without taking another way.
    private static let maxInput = 256 << 10
    private static let maxPiece = 4096
    private static let delimiters: Set<UInt8> = Set("<>\"'{}[],:&;= \n".utf8)

    /// - Parameter corpus: groups of inputs, none of them empty; each group is taken as often as any other.
    init(corpus: [[[UInt8]]], tokens: [[UInt8]], seed: UInt64) {
        self.corpus = corpus
        self.tokens = tokens
        generator = SeededGenerator(seed: seed)
    }

    mutating func next() -> [UInt8] {
        var input = anyInput()
        // One time in two it is one mutation, one time in four two of them, and so on.
        repeat {
            mutate(&input)
            if input.count > Self.maxInput { input.removeLast(input.count - Self.maxInput) }
        } while Bool.random(using: &generator)
        return input
    }

    private mutating func mutate(_ input: inout [UInt8]) {
        switch below(14) {
        case 0: input.removeLast(input.count - below(input.count + 1))
        case 1: turnBits(&input)
        case 2: setBytes(&input)
        case 3: input.removeSubrange(range(in: input))
        case 4, 5: repeatPiece(&input)
        case 6: input.replaceSubrange(range(in: input), with: piece(of: anyInput()))
        case 7: splice(&input)
        case 8: input.replaceSubrange(range(in: input), with: any(of: tokens))
        case 9: replaceNumber(&input)
        case 10: movePiece(&input)
        case 11, 12: replaceQuoted(&input)
        default: insertToken(&input)
        }
    }

    private mutating func below(_ bound: Int) -> Int { Int.random(in: 0..<bound, using: &generator) }

    private mutating func any(of list: [[UInt8]]) -> [UInt8] { list[below(list.count)] }

    private mutating func anyInput() -> [UInt8] { any(of: corpus[below(corpus.count)]) }

    // MARK: Places

    /// Any place, more often one beside a delimiter.
    private mutating func place(in input: [UInt8]) -> Int {
        let place = below(input.count + 1)
        guard below(3) > 0 else { return place }
        let next = input[place...].prefix(Self.maxPiece).firstIndex(where: Self.delimiters.contains)
        return next.map { $0 + below(2) } ?? place
    }

    /// Any piece, more often a short one.
    private mutating func range(in input: [UInt8]) -> Range<Int> {
        let start = place(in: input)
        let room = min(input.count - start, Self.maxPiece)
        let end = start + below(below(2) == 0 ? min(room, 32) + 1 : room + 1)
        guard below(3) > 0, let next = input[end...].prefix(64).firstIndex(where: Self.delimiters.contains) else {
            return start..<end
        }
        return start..<next
    }

    private mutating func piece(of input: [UInt8]) -> [UInt8] { Array(input[range(in: input)]) }

    // MARK: Mutations

    private mutating func turnBits(_ input: inout [UInt8]) {
        guard !input.isEmpty else { return }
        for _ in 0...below(8) { input[below(input.count)] ^= 1 << UInt8(below(8)) }
    }

    private mutating func setBytes(_ input: inout [UInt8]) {
        guard !input.isEmpty else { return }
        let odd: [UInt8] = [0, 0x09, 0x1B, 0x7F, 0x80, 0xBF, 0xC0, 0xED, 0xEF, 0xF4, 0xFE, 0xFF]
        for _ in 0...below(4) {
            input[below(input.count)] = below(2) == 0 ? odd[below(odd.count)] : UInt8(below(256))
        }
    }

    private mutating func repeatPiece(_ input: inout [UInt8]) {
        let range = range(in: input)
        let piece = input[range]
        let times = [1, 2, 10, 300][below(4)]
        guard piece.count * times <= Self.maxInput else { return }
        input.insert(contentsOf: Array(repeatElement(piece, count: times).joined()), at: range.upperBound)
    }

    private mutating func splice(_ input: inout [UInt8]) {
        let other = anyInput()
        input.replaceSubrange(place(in: input)..., with: other[place(in: other)...])
    }

    private mutating func movePiece(_ input: inout [UInt8]) {
        let range = range(in: input)
        let piece = Array(input[range])
        input.removeSubrange(range)
        input.insert(contentsOf: piece, at: place(in: input))
    }

    private mutating func insertToken(_ input: inout [UInt8]) {
        for _ in 0...below(3) { input.insert(contentsOf: any(of: tokens), at: place(in: input)) }
    }

    /// Changes what stands in quotes, or between tags, and leaves what is around it whole.
    private mutating func replaceQuoted(_ input: inout [UInt8]) {
        let isQuote: (UInt8) -> Bool = { $0 == UInt8(ascii: "\"") || $0 == UInt8(ascii: ">") }
        guard let quote = input[below(input.count + 1)...].firstIndex(where: isQuote) else { return }
        let start = quote + 1
        let ending = input[quote] == UInt8(ascii: ">") ? UInt8(ascii: "<") : input[quote]
        guard let end = input[start...].prefix(Self.maxPiece).firstIndex(of: ending) else { return }
        let word = any(of: tokens).filter { $0 != UInt8(ascii: "\"") && $0 != UInt8(ascii: "<") }
        if below(2) == 0 {
            input.replaceSubrange(start..<end, with: word)
        } else {
            input.insert(contentsOf: word, at: below(2) == 0 ? start : end)
        }
    }

    private static let numbers = [
        "0", "-1", "1", "4294967296", "9223372036854775807", "9223372036854775808", "-9223372036854775808",
        "18446744073709551616", "1e308", "1e999", "-0.0", "NaN", "Infinity", "00012", "1.5e-400",
        "99999999999999999999",
        "253402300800000", "0x10", "+7", "٣", "1:2:3:4", "99:99:99", "",
    ].map { Array($0.utf8) }

    private mutating func replaceNumber(_ input: inout [UInt8]) {
        let isDigit: (UInt8) -> Bool = { $0 >= 0x30 && $0 <= 0x39 }
        let from = below(input.count + 1)
        guard let start = input[from...].firstIndex(where: isDigit) else { return }
        let end = input[start...].firstIndex { !isDigit($0) } ?? input.endIndex
        input.replaceSubrange(start..<end, with: any(of: Self.numbers))
    }
}
