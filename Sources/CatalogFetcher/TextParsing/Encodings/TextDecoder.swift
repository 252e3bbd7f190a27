/// Turns the bytes of a document into UTF-8 as they arrive, whatever they are in and whatever is declared.
///
/// As long as all bytes are ASCII nothing needs to be known. From the first other one on, a window of some kilobytes is
/// waited for before it is decided (``EncodingDecision``).
package struct TextDecoder {
    private enum State {
        /// Before the first 512 bytes, which a declaration would be in.
        case beginning
        case ascii
        case deciding
        case utf8
        case converting(EncodingConverter)
    }

    static let window = 8 << 10
    private static let head = 512
    /// Bytes that are looked at together: one that is wrong far behind in a document does not change its encoding.
    private static let step = 64 << 10

    private var state = State.beginning
    private var buffered: [UInt8] = []
    private var declared: [Encoding] = []
    private let charset: String?
    private var repair = UTF8Repair()

    /// - Parameter charset: what came with the answer (`Content-Type`); nil when nothing did.
    package init(charset: String?) {
        self.charset = charset
    }

    /// - Parameter pass: is handed valid UTF-8; a character may be cut between two calls.
    package mutating func consume(_ bytes: UnsafeBufferPointer<UInt8>, _ pass: (UnsafeBufferPointer<UInt8>) -> Void) {
        for start in stride(from: 0, to: bytes.count, by: Self.step) {
            decode(UnsafeBufferPointer(rebasing: bytes[start..<min(start + Self.step, bytes.count)]), pass)
        }
    }

    private mutating func decode(_ bytes: UnsafeBufferPointer<UInt8>, _ pass: (UnsafeBufferPointer<UInt8>) -> Void) {
        switch state {
        case .utf8: repair.consume(bytes, pass)
        case .converting(let converter): converter.consume(bytes, pass)
        case .ascii:
            let end = UTF8Repair.endOfASCII(bytes, from: 0)
            if end > 0 { pass(UnsafeBufferPointer(rebasing: bytes[..<end])) }
            guard end < bytes.count else { return }
            buffered = Array(bytes[end...])
            state = .deciding
            if buffered.count >= Self.window { decide(pass) }
        case .deciding:
            buffered += bytes
            if buffered.count >= Self.window { decide(pass) }
        case .beginning:
            buffered += bytes
            if buffered.count >= Self.head { begin(pass) }
        }
    }

    package mutating func finish(_ pass: (UnsafeBufferPointer<UInt8>) -> Void) {
        if case .beginning = state { begin(pass) }
        if case .deciding = state { decide(pass) }
        switch state {
        case .utf8: repair.finish(pass)
        case .converting(let converter): converter.finish(pass)
        case .beginning, .ascii, .deciding: break
        }
    }

    private mutating func begin(_ pass: (UnsafeBufferPointer<UInt8>) -> Void) {
        let first = buffered
        buffered = []
        var mark = 0
        if let marked = Encoding.marked(first) {
            mark = marked.mark
            start(marked.encoding)
        } else {
            // What the server says outranks the document (RFC 7303 §3), where it fits at all.
            declared = [charset, Encoding.declared(in: first)].compactMap { $0.flatMap(Encoding.named) }
            state = .ascii
        }
        first.withUnsafeBufferPointer { decode(UnsafeBufferPointer(rebasing: $0[mark...]), pass) }
    }

    private mutating func decide(_ pass: (UnsafeBufferPointer<UInt8>) -> Void) {
        let window = buffered
        buffered = []
        start(window.withUnsafeBufferPointer { EncodingDecision.decide($0, declared: declared) })
        window.withUnsafeBufferPointer { decode($0, pass) }
    }

    private mutating func start(_ encoding: Encoding) {
        state = .utf8
        if case .other(let name) = encoding, let converter = EncodingConverter(name) { state = .converting(converter) }
    }
}
