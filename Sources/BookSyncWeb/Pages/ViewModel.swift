import Foundation
import Mustache

/// What a template shows: plain values, rendered under the names of its properties.
protocol ViewModel: Sendable {}

extension ViewModel {
    /// The properties by name, read once: the templates look each of them up many times. What is nil stays a value that is
    /// nothing, so that a name never means the property of an outer model.
    var fields: [String: Any] {
        Mirror(reflecting: self).children.reduce(into: [:]) { fields, child in
            if let name = child.label { fields[name] = Self.field(child.value) }
        }
    }

    private static func field(_ value: Any) -> Any {
        switch value {
        case let text as String: text
        case let model as any ViewModel: model.fields
        case let models as [any ViewModel]: models.map(\.fields)
        case let optional as any AnyOptionalValue: optional.anyValue.map(field) ?? NSNull()
        default: value
        }
    }
}

/// An optional of whatever.
private protocol AnyOptionalValue {
    var anyValue: Any? { get }
}

extension Optional: AnyOptionalValue {
    fileprivate var anyValue: Any? { map { $0 as Any } }
}
