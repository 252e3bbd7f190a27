/// The handler's numbers for names, found by the addresses at which libxml2 keeps its one copy of each name.
struct XMLNameTable {
    typealias Text = UnsafePointer<UInt8>

    private struct Entry {
        var local: Text?
        var prefix: Text?
        var namespace: Text?
        var number: UInt8 = 0
    }

    private static let size = 1024
    private var entries = [Entry](repeating: Entry(), count: size)
    private var used = 0

    /// - Parameter resolve: is asked for names that are not known yet. A document with hundreds of names is none of ours:
    ///   beyond those, it is asked each time.
    mutating func number(
        local: Text?, prefix: Text?, namespace: Text?, resolve: (XMLName) -> UInt8
    ) -> UInt8 {
        guard let local else { return 0 }
        let mixed = UInt(bitPattern: local) &* 31 &+ UInt(bitPattern: namespace) &* 17 &+ UInt(bitPattern: prefix)
        var slot = Int(truncatingIfNeeded: (mixed ^ mixed >> 12) & UInt(Self.size - 1))
        while let known = entries[slot].local {
            if known == local, entries[slot].namespace == namespace, entries[slot].prefix == prefix {
                return entries[slot].number
            }
            slot = (slot + 1) & (Self.size - 1)
        }
        let number = resolve(
            XMLName(
                local: String(cString: local), prefix: prefix.map { String(cString: $0) },
                namespace: namespace.map { String(cString: $0) }))
        if used < Self.size * 3 / 4 {
            used += 1
            entries[slot] = Entry(local: local, prefix: prefix, namespace: namespace, number: number)
        }
        return number
    }
}
