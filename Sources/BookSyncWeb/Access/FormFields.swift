import Foundation

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
        String(validating: bytes, as: UTF8.self)?.replacing("+", with: " ").removingPercentEncoding
    }
}
