import Foundation

/// As much of JSON Schema (2020-12) as an API's description uses, for holding answers against it.
package struct JSONSchema: Sendable {
    private let document: Data

    /// - Parameter document: an OpenAPI 3.1 document, whose components its schemas refer to.
    package init(document: Data) {
        self.document = document
    }

    /// What is wrong with a value, each with its place; empty when it is as the schema has it.
    /// - Parameter pointer: of the schema in the document, as in `#/components/schemas/Book`.
    package func faults(of text: String, at pointer: String) throws -> [String] {
        let root = try JSONSerialization.jsonObject(with: document)
        let value = try JSONSerialization.jsonObject(with: Data(text.utf8), options: .fragmentsAllowed)
        return faults(of: value, by: ["$ref": pointer], root, "")
    }

    private func faults(of value: Any, by schema: [String: Any], _ root: Any, _ place: String) -> [String] {
        if let reference = schema["$ref"] as? String {
            guard let found = Self.resolve(reference, in: root) as? [String: Any] else {
                return ["\(place): there is no \(reference)"]
            }
            return faults(of: value, by: found, root, place)
        }
        var faults: [String] = []
        let types = schema["type"] as? [String] ?? (schema["type"] as? String).map { [$0] } ?? []
        if !types.isEmpty, !types.contains(where: { Self.isOf($0, value) }) {
            faults.append("\(place): it is no \(types.joined(separator: " or "))")
        }
        if let choices = schema["enum"] as? [Any], !choices.contains(where: { Self.areEqual($0, value) }) {
            faults.append("\(place): \(value) is none of \(choices)")
        }
        if let only = schema["const"], !Self.areEqual(only, value) { faults.append("\(place): it is not \(only)") }
        if let ways = schema["oneOf"] as? [[String: Any]] {
            let count = ways.count { self.faults(of: value, by: $0, root, place).isEmpty }
            if count != 1 { faults.append("\(place): \(count) of the schemas hold") }
        }
        if let members = value as? [String: Any] {
            let known = schema["properties"] as? [String: [String: Any]] ?? [:]
            for name in schema["required"] as? [String] ?? [] where members[name] == nil {
                faults.append("\(place): there is no \(name)")
            }
            for (name, member) in members {
                if let schema = known[name] {
                    faults += self.faults(of: member, by: schema, root, "\(place)/\(name)")
                } else if schema["additionalProperties"] as? Bool == false {
                    faults.append("\(place): \(name) is not described")
                }
            }
        }
        if let items = value as? [Any] {
            if let schema = schema["items"] as? [String: Any] {
                for (number, item) in items.enumerated() {
                    faults += self.faults(of: item, by: schema, root, "\(place)/\(number)")
                }
            }
            if items.count < schema["minItems"] as? Int ?? 0 { faults.append("\(place): it has too few") }
        }
        return faults
    }

    private static func resolve(_ pointer: String, in root: Any) -> Any? {
        pointer.split(separator: "/").dropFirst().reduce(root as Any?) { value, part in
            let name = String(part).replacing("~1", with: "/").replacing("~0", with: "~")
            return (value as? [String: Any])?[name]
        }
    }

    private static func isOf(_ type: String, _ value: Any) -> Bool {
        switch type {
        case "null": value is NSNull
        case "string": value is String
        case "array": value is [Any]
        case "object": value is [String: Any]
        case "boolean": isBoolean(value)
        case "number": value is NSNumber && !isBoolean(value)
        case "integer":
            (value as? NSNumber).map { !isBoolean(value) && $0.doubleValue.rounded() == $0.doubleValue } ?? false
        default: false
        }
    }

    /// A number that is 0 or 1 must not pass for a boolean, nor the other way round.
    private static func isBoolean(_ value: Any) -> Bool {
        (value as? NSNumber).map { String(cString: $0.objCType) == "c" } ?? false
    }

    private static func areEqual(_ one: Any, _ other: Any) -> Bool {
        (one as? NSObject).map { $0.isEqual(other) } ?? false
    }
}
