/// The numbers that a handler has for a document's names, and what their prefixes stand for where they are written.
struct XMLNames {
    private struct Scope {
        /// Elements that are told of, counted from the root.
        var depth: Int
        var number: UInt64
        var bindings: Int
    }

    private struct Entry {
        var key: UInt64 = 0
        var number: UInt8 = 0
    }

    /// Prefixes of elements that are open, the default namespace's being empty; more are not looked at.
    private static let maxBindings = 256
    private static let size = 1024

    private var bindings: [(prefix: [UInt8], namespace: [UInt8])] = []
    /// The elements that declare prefixes.
    private var scopes = [Scope(depth: 0, number: 0, bindings: 0)]
    private var lastScope: UInt64 = 0
    private var depth = 0
    /// Numbers by name and scope; a document with more names than that is asked for some of them again.
    private var known = [Entry](repeating: Entry(), count: size)

    /// Takes over the prefixes that a tag declares; it counts itself to what they are for.
    mutating func enter(_ tag: XMLTag) {
        depth += 1
        let before = bindings.count
        for attribute in tag.attributes where bindings.count < Self.maxBindings {
            let name = tag.bytes[attribute.name]
            guard name.starts(with: "xmlns".utf8) else { continue }
            let prefix = name.dropFirst(5)
            guard prefix.isEmpty || prefix.first == UInt8(ascii: ":") else { continue }
            bindings.append((Array(prefix.dropFirst()), Array(tag.bytes[attribute.value])))
        }
        guard bindings.count > before else { return }
        lastScope += 1
        scopes.append(Scope(depth: depth, number: lastScope, bindings: before))
    }

    mutating func leave() {
        if let scope = scopes.last, scope.depth == depth, depth > 0 {
            bindings.removeSubrange(scope.bindings...)
            scopes.removeLast()
        }
        depth -= 1
    }

    /// - Parameter resolve: is asked for a name that is not known yet; never for a declaration of a prefix, which has 0.
    mutating func number(
        of name: ArraySlice<UInt8>, isElement: Bool, resolve: (XMLName) -> UInt8
    ) -> UInt8 {
        // Zero stands for no entry.
        var key =
            Self.hash(name) ^ (scopes[scopes.count - 1].number &* 2 &+ (isElement ? 1 : 0)) &* 0x9E37_79B9_7F4A_7C15
        if key == 0 { key = 1 }
        // Two that share a bucket do not drive each other out: the one that was asked for last comes first.
        let slot = Int(truncatingIfNeeded: (key ^ key >> 32) & UInt64(Self.size - 2))
        if known[slot].key == key { return known[slot].number }
        if known[slot + 1].key == key {
            known.swapAt(slot, slot + 1)
        } else {
            known[slot + 1] = known[slot]
            let whole = self.name(name, isElement: isElement)
            let declares = !isElement && (whole.prefix ?? whole.local) == "xmlns"
            known[slot] = Entry(key: key, number: declares ? 0 : resolve(whole))
        }
        return known[slot].number
    }

    private func name(_ name: ArraySlice<UInt8>, isElement: Bool) -> XMLName {
        let colon = name.dropFirst().dropLast().firstIndex(of: UInt8(ascii: ":"))
        let prefix = colon.map { name[..<$0] } ?? []
        // Only elements are in the default namespace (Namespaces in XML §6.2).
        let namespace = colon == nil && !isElement ? nil : bindings.last { $0.prefix.elementsEqual(prefix) }?.namespace
        return XMLName(
            local: String(decoding: colon.map { name[($0 + 1)...] } ?? name, as: UTF8.self),
            prefix: colon == nil ? nil : String(decoding: prefix, as: UTF8.self),
            namespace: namespace.flatMap { $0.isEmpty ? nil : String(decoding: $0, as: UTF8.self) })
    }

    /// FNV-1a.
    static func hash(_ bytes: some Sequence<UInt8>) -> UInt64 {
        var hash: UInt64 = 0xCBF2_9CE4_8422_2325
        for byte in bytes { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01B3 }
        return hash
    }
}
