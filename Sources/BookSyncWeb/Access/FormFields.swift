/// The fields of a form (application/x-www-form-urlencoded, URL Standard §5.1).
package struct FormFields: Sendable {
    /// In the order of the form.
    package let fields: [(name: String, value: String)]

    /// Fields of a form, at most.
    private static let maxCount = 1000

    package init() { fields = [] }

    /// - Returns: nil for what is no such form: broken escapes, bytes that are no UTF-8, too many fields.
    package init?(_ body: [UInt8]) {
        var fields: [(name: String, value: String)] = []
        let parts = body.split(separator: UInt8(ascii: "&"))
        guard parts.count <= Self.maxCount else { return nil }
        for field in parts {
            let name = field.prefix { $0 != UInt8(ascii: "=") }
            guard let key = Self.decoded(name), let value = Self.decoded(field[name.endIndex...].dropFirst()) else {
                return nil
            }
            fields.append((key, value))
        }
        self.fields = fields
    }

    /// The one value of a field; nil where there is none, or several.
    package subscript(_ name: String) -> String? {
        let all = fields.filter { $0.name == name }
        return all.count == 1 ? all[0].value : nil
    }

    private static func decoded(_ bytes: ArraySlice<UInt8>) -> String? {
        var decoded: [UInt8] = []
        decoded.reserveCapacity(bytes.count)
        var index = bytes.startIndex
        while index < bytes.endIndex {
            switch bytes[index] {
            case UInt8(ascii: "+"): decoded.append(0x20)
            case UInt8(ascii: "%"):
                guard index + 2 < bytes.endIndex,
                    let high = Character(UnicodeScalar(bytes[index + 1])).hexDigitValue,
                    let low = Character(UnicodeScalar(bytes[index + 2])).hexDigitValue
                else { return nil }
                decoded.append(UInt8(high << 4 | low))
                index += 2
            case let byte: decoded.append(byte)
            }
            index += 1
        }
        return String(validating: decoded, as: UTF8.self)
    }
}
