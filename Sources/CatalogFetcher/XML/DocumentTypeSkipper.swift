/// Finds the end of a DTD (`<!DOCTYPE … [ … ]>`), which is not read: no entity that it declares is ever expanded.
struct DocumentTypeSkipper {
    private enum State: Equatable {
        case declaration
        case quoted(UInt8)
        case comment(dashes: Int)
    }

    private var state = State.declaration
    /// Declarations that are open, DOCTYPE itself among them.
    private var open = 1
    private var isInSubset = false
    /// Whether there are declarations of the document's own.
    private(set) var hasSubset = false
    /// The last four bytes.
    private var recent: UInt32 = 0

    /// - Parameter position: is moved to behind what belongs to the DTD.
    /// - Returns: whether it ended.
    mutating func consume(_ bytes: UnsafeBufferPointer<UInt8>, _ position: inout Int) -> Bool {
        while position < bytes.count {
            let byte = bytes[position]
            position += 1
            switch state {
            case .quoted(let quote):
                if byte == quote { state = .declaration }
            case .comment(let dashes):
                if byte == UInt8(ascii: ">"), dashes >= 2 {
                    open -= 1
                    state = .declaration
                } else {
                    state = .comment(dashes: byte == UInt8(ascii: "-") ? dashes + 1 : 0)
                }
            case .declaration:
                recent = recent << 8 | UInt32(byte)
                if ends(with: byte) { return true }
            }
        }
        return false
    }

    private mutating func ends(with byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "'"): if !isInSubset || open > 1 { state = .quoted(byte) }
        case UInt8(ascii: "["):
            isInSubset = true
            hasSubset = true
        case UInt8(ascii: "]"): if open == 1 { isInSubset = false }
        case UInt8(ascii: "<"): open += 1
        case UInt8(ascii: "-"): if recent == 0x3C21_2D2D { state = .comment(dashes: 0) }
        case UInt8(ascii: ">"):
            open -= 1
            return open <= 0
        default: break
        }
        return false
    }
}
