import Foundation

/// As much of JSON Schema (2020-12) as our descriptions use, for holding documents against them.
package struct JSONSchema: Sendable {
    private let document: Data
    private let others: [String: Data]

    /// - Parameters:
    ///   - document: a schema, or an OpenAPI 3.1 document whose components its schemas refer to.
    ///   - others: further schemas, by the names that references give them.
    package init(document: Data, others: [String: Data] = [:]) {
        self.document = document
        self.others = others
    }

    /// What is wrong with a value, each with its place; empty when it is as the schema has it.
    /// - Parameter pointer: of the schema in the document, as in `#/components/schemas/Book`.
    package func faults(of text: String, at pointer: String = "#") throws -> [String] {
        let value = try JSONSerialization.jsonObject(with: Data(text.utf8), options: .fragmentsAllowed)
        let documents = try others.merging(["": document]) { $1 }.mapValues {
            try JSONSerialization.jsonObject(with: $0)
        }
        return Reading(documents: documents).faults(of: value, by: ["$ref": pointer], in: "", "")
    }
}

/// All documents, by their names; that which was asked has none.
private struct Reading {
    let documents: [String: Any]

    private static let keywords: Set = [
        "$ref", "type", "enum", "const", "oneOf", "anyOf", "properties", "required", "additionalProperties", "items",
        "minItems", "maxItems", "minimum", "maximum", "minLength", "pattern", "format",
    ]
    /// What says nothing about a value.
    private static let remarks: Set = ["$schema", "$defs", "title", "description", "examples"]

    /// - Parameter name: of the document in which the schema is.
    func faults(of value: Any, by schema: [String: Any], in name: String, _ place: String) -> [String] {
        let unknown = Set(schema.keys).subtracting(Self.keywords).subtracting(Self.remarks)
        var faults = unknown.map { "\(place): nobody looks at \($0)" }
        func below(_ value: Any, by schema: [String: Any], _ inner: String = "") -> [String] {
            self.faults(of: value, by: schema, in: name, place + inner)
        }
        if let reference = schema["$ref"] as? String {
            let parts = reference.split(separator: "#", omittingEmptySubsequences: false).map(String.init)
            let target = parts[0].isEmpty ? name : parts[0]
            guard let found = resolve(parts.count > 1 ? parts[1] : "", in: documents[target]) else {
                return ["\(place): there is no \(reference)"]
            }
            faults += self.faults(of: value, by: found, in: target, place)
        }
        let types = schema["type"] as? [String] ?? (schema["type"] as? String).map { [$0] } ?? []
        if !types.isEmpty, !types.contains(where: { Self.isOf($0, value) }) {
            faults.append("\(place): it is no \(types.joined(separator: " or "))")
        }
        if let choices = schema["enum"] as? [Any], !choices.contains(where: { Self.areEqual($0, value) }) {
            faults.append("\(place): \(value) is none of \(choices)")
        }
        if let only = schema["const"], !Self.areEqual(only, value) { faults.append("\(place): it is not \(only)") }
        for (keyword, isRight) in [("oneOf", { $0 == 1 }), ("anyOf", { $0 > 0 })] as [(String, (Int) -> Bool)] {
            guard let ways = schema[keyword] as? [[String: Any]] else { continue }
            let found = ways.map { below(value, by: $0) }
            guard !isRight(found.count(where: \.isEmpty)) else { continue }
            // The way that was meant is most likely the one with the fewest faults.
            let nearest = found.filter { !$0.isEmpty }.min { $0.count < $1.count } ?? []
            faults.append("\(place): \(found.count(where: \.isEmpty)) of the schemas hold; \(nearest)")
        }
        if let members = value as? [String: Any] {
            let known = schema["properties"] as? [String: [String: Any]] ?? [:]
            for key in schema["required"] as? [String] ?? [] where members[key] == nil {
                faults.append("\(place): there is no \(key)")
            }
            for (key, member) in members {
                if let schema = known[key] ?? schema["additionalProperties"] as? [String: Any] {
                    faults += below(member, by: schema, "/\(key)")
                } else if schema["additionalProperties"] as? Bool == false {
                    faults.append("\(place): \(key) is not described")
                }
            }
        }
        if let items = value as? [Any] {
            if let schema = schema["items"] as? [String: Any] {
                for (number, item) in items.enumerated() { faults += below(item, by: schema, "/\(number)") }
            }
            if items.count < schema["minItems"] as? Int ?? 0 { faults.append("\(place): it has too few") }
            if items.count > schema["maxItems"] as? Int ?? .max { faults.append("\(place): it has too many") }
        }
        if let text = value as? String { faults += Self.faults(ofText: text, by: schema, place) }
        return faults + Self.faults(ofNumber: value, by: schema, place)
    }

    private static func faults(ofText text: String, by schema: [String: Any], _ place: String) -> [String] {
        var faults: [String] = []
        if text.unicodeScalars.count < schema["minLength"] as? Int ?? 0 { faults.append("\(place): it is too short") }
        var patterns = [schema["pattern"] as? String].compactMap(\.self)
        if let format = schema["format"] as? String {
            // RFC 3339 §5.6.
            let time = #"^\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(\.\d+)?([Zz]|[+-]\d\d:\d\d)$"#
            if format == "date-time" { patterns.append(time) } else { faults.append("\(place): format \(format)?") }
        }
        for pattern in patterns {
            let isMet = (try? Regex(pattern)).map { text.contains($0) } ?? false
            if !isMet { faults.append("\(place): '\(text)' does not match \(pattern)") }
        }
        return faults
    }

    private static func faults(ofNumber value: Any, by schema: [String: Any], _ place: String) -> [String] {
        guard isOf("number", value), let number = (value as? NSNumber)?.doubleValue else { return [] }
        let (min, max) = (schema["minimum"] as? NSNumber, schema["maximum"] as? NSNumber)
        let isWithin = number >= min?.doubleValue ?? -.infinity && number <= max?.doubleValue ?? .infinity
        return isWithin ? [] : ["\(place): \(number) is too small or too great"]
    }

    private func resolve(_ pointer: String, in root: Any?) -> [String: Any]? {
        pointer.split(separator: "/").reduce(root) { value, part in
            let name = String(part).replacing("~1", with: "/").replacing("~0", with: "~")
            return (value as? [String: Any])?[name]
        } as? [String: Any]
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
        isBoolean(one) == isBoolean(other) && (one as? NSObject).map { $0.isEqual(other) } ?? false
    }
}
