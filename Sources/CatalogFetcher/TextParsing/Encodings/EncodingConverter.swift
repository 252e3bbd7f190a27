import CLibXML2
import Foundation

/// Converts one encoding to UTF-8 through the C library's `iconv`, in pieces; what cannot be read becomes U+FFFD.
final class EncodingConverter {
    private let descriptor: iconv_t
    private var buffered: [UInt8] = []
    /// Bytes of the encoding's smallest unit: what is left out after an error.
    private let unit: Int
    /// Sequences that could not be read.
    private(set) var errors = 0

    /// - Parameter name: as ``Encoding/iconvName(of:)`` gives it.
    /// - Returns: nil when this machine does not know the encoding.
    init?(_ name: String) {
        let failed = iconv_t(bitPattern: -1)
        guard let descriptor = iconv_open("UTF-8", name), descriptor != failed else { return nil }
        self.descriptor = descriptor
        unit = name.hasPrefix("UTF-16") ? 2 : name.hasPrefix("UTF-32") ? 4 : 1
    }

    deinit { iconv_close(descriptor) }

    func consume(_ bytes: UnsafeBufferPointer<UInt8>, _ pass: (UnsafeBufferPointer<UInt8>) -> Void) {
        if buffered.isEmpty {
            convert(bytes, pass)
        } else {
            let joined = buffered + bytes
            buffered.removeAll()
            joined.withUnsafeBufferPointer { convert($0, pass) }
        }
    }

    func finish(_ pass: (UnsafeBufferPointer<UInt8>) -> Void) {
        if !buffered.isEmpty {
            errors += 1
            UTF8Repair.replacement.withUnsafeBufferPointer(pass)
        }
        buffered.removeAll()
    }

    private func convert(_ bytes: UnsafeBufferPointer<UInt8>, _ pass: (UnsafeBufferPointer<UInt8>) -> Void) {
        guard bytes.count > 0 else { return }
        bytes.withMemoryRebound(to: CChar.self) { source in
            // `iconv` takes a mutable pointer and does not write to it.
            var input = UnsafeMutablePointer(mutating: source.baseAddress)
            var left = source.count
            withUnsafeTemporaryAllocation(of: CChar.self, capacity: 32 << 10) { target in
                while left > 0 {
                    var output = target.baseAddress
                    var room = target.count
                    let outcome = iconv(descriptor, &input, &left, &output, &room)
                    let trouble = outcome == Int(bitPattern: UInt.max) ? errno : 0
                    let made = target.count - room
                    if made > 0 {
                        target.withMemoryRebound(to: UInt8.self) {
                            pass(UnsafeBufferPointer(rebasing: $0[..<made]))
                        }
                    }
                    switch trouble {
                    case E2BIG: continue
                    case EINVAL:
                        // The end of a character is missing; no encoding has one of more than eight bytes.
                        buffered = bytes.suffix(left)
                        if left > 16 { finish(pass) }
                        return
                    case 0: return
                    default:
                        errors += 1
                        UTF8Repair.replacement.withUnsafeBufferPointer(pass)
                        let skipped = min(unit, left)
                        input = input?.advanced(by: skipped)
                        left -= skipped
                    }
                }
            }
        }
    }
}

/// Converts a text to another encoding; what that lacks becomes something like it, or a question mark.
/// - Parameter name: as `iconv` knows it.
/// - Returns: nil when this machine does not know the encoding.
package func encode(_ text: String, in name: String) -> [UInt8]? {
    let failed = iconv_t(bitPattern: -1)
    guard let descriptor = iconv_open(name + "//TRANSLIT", "UTF-8"), descriptor != failed else { return nil }
    defer { iconv_close(descriptor) }
    var source = text.utf8.map { CChar(bitPattern: $0) }
    // No encoding takes more than four bytes for one of UTF-8.
    var target = [CChar](repeating: 0, count: 4 * source.count + 16)
    let made = source.withUnsafeMutableBufferPointer { source in
        target.withUnsafeMutableBufferPointer { target in
            var (input, left) = (source.baseAddress, source.count)
            var (output, room) = (target.baseAddress, target.count)
            while left > 0, iconv(descriptor, &input, &left, &output, &room) == Int(bitPattern: UInt.max) {
                guard left > 0, room > 0 else { break }
                // The rest of a character is skipped with it.
                repeat {
                    (input, left) = (input?.advanced(by: 1), left - 1)
                } while left > 0 && input.map { $0.pointee & -64 == -128 } == true
                output?.pointee = CChar(bitPattern: UInt8(ascii: "?"))
                (output, room) = (output?.advanced(by: 1), room - 1)
            }
            return target.count - room
        }
    }
    return target.prefix(made).map { UInt8(bitPattern: $0) }
}
