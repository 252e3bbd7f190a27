import BookModel
import Crypto

/// The digest that a catalog promised, computed alongside.
struct PromisedDigest {
    private enum State {
        case md5(Insecure.MD5)
        case sha1(Insecure.SHA1)
        case sha256(SHA256)
    }

    private let expected: ContentDigest
    private var state: State

    init(_ expected: ContentDigest) {
        self.expected = expected
        self.state = Self.initial(expected.algorithm)
    }

    private static func initial(_ algorithm: ContentDigest.Algorithm) -> State {
        switch algorithm {
        case .md5: .md5(Insecure.MD5())
        case .sha1: .sha1(Insecure.SHA1())
        case .sha256: .sha256(SHA256())
        }
    }

    mutating func reset() {
        state = Self.initial(expected.algorithm)
    }

    mutating func update(_ bytes: UnsafeRawBufferPointer) {
        switch state {
        case .md5(var function):
            function.update(bufferPointer: bytes)
            state = .md5(function)
        case .sha1(var function):
            function.update(bufferPointer: bytes)
            state = .sha1(function)
        case .sha256(var function):
            function.update(bufferPointer: bytes)
            state = .sha256(function)
        }
    }

    func compare() -> (fits: Bool, found: String) {
        let found =
            switch state {
            case .md5(let function): function.finalize().hexadecimal
            case .sha1(let function): function.finalize().hexadecimal
            case .sha256(let function): function.finalize().hexadecimal
            }
        return (found == expected.hexadecimal, found)
    }
}
