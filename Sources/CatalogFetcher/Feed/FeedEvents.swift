/// Hands the events of the parser on to a ``FeedBuilder``, which is a value, so that each costs one access to it.
final class FeedEvents: XMLEventHandler {
    private(set) var builder: FeedBuilder
    /// Whether the document is Atom, be it without its namespace.
    private var isAtom = false

    /// - Parameter base: where the document came from.
    init(base: String?) {
        builder = FeedBuilder(base: base)
    }

    func element(_ name: XMLName) -> UInt8 {
        if builder.root == nil, name.local.lowercased() == "feed" { isAtom = true }
        return FeedElement(name, isAtom: isAtom).rawValue
    }
    func attribute(_ name: XMLName) -> UInt8 { FeedAttribute(name).rawValue }

    func startElement(_ element: UInt8, _ attributes: XMLAttributes) { builder.startElement(element, attributes) }
    func text(_ bytes: UnsafeBufferPointer<UInt8>) { builder.text(bytes) }
    func endElement() { builder.endElement() }

    func finish(isWhole: Bool, skippedTags: Int) -> FeedDocument {
        builder.finish(isWhole: isWhole, skippedTags: skippedTags)
    }
}
