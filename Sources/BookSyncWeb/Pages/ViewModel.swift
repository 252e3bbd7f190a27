import Foundation

/// What templates show in several places: plain values, rendered under the names of its properties. What one page alone shows is a
/// tuple with labels, or a dictionary.
protocol ViewModel: Sendable {}

/// The values of a model by name, read once: the templates look each of them up many times. What is nil stays a value that is
/// nothing, so that a name never means the property of an outer model.
func templateFields(of model: Any) -> [String: Any] {
    if let fields = model as? [String: Any] { return fields.mapValues(templateValue) }
    return Mirror(reflecting: model).children.reduce(into: [:]) { fields, child in
        if let name = child.label { fields[name] = templateValue(child.value) }
    }
}

private func templateValue(_ value: Any) -> Any {
    if let text = value as? String { return text }
    // Not `is`, which holds for an optional as well, and leaves it one.
    if let model = value as? any ViewModel { return templateFields(of: model) }
    let mirror = Mirror(reflecting: value)
    return switch mirror.displayStyle {
    case .tuple, .dictionary: templateFields(of: value)
    case .collection: mirror.children.map { templateValue($0.value) }
    case .optional: mirror.children.first.map { templateValue($0.value) } ?? NSNull()
    default: value
    }
}
