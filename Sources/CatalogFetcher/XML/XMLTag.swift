/// A tag, looked at from `<` to `>`.
struct XMLTag {
    enum Kind {
        case start, end, empty
    }

    static let greatestNumberOfAttributes = 500

    let kind: Kind
    /// Of the name's bytes (FNV-1a).
    let hash: UInt64
    /// Whether a parser reads it as it stands.
    let isWellFormed: Bool

    /// - Parameter bytes: the whole tag, with references resolved and no `<` inside.
    init(_ bytes: UnsafeBufferPointer<UInt8>) {
        let isEnd = bytes[1] == UInt8(ascii: "/")
        var position = isEnd ? 2 : 1
        var hash: UInt64 = 0xCBF2_9CE4_8422_2325
        var isName = Self.isNameStart(bytes[position])
        var colons = 0
        let nameStart = position
        while position < bytes.count, !Self.endsName(bytes[position]) {
            let byte = bytes[position]
            if byte == UInt8(ascii: ":") { colons += 1 } else if !Self.isNameByte(byte) { isName = false }
            hash = (hash ^ UInt64(byte)) &* 0x100_0000_01B3
            position += 1
        }
        if colons > 1 || bytes[position - 1] == UInt8(ascii: ":") || position == nameStart { isName = false }
        self.hash = hash
        let isVoid = Self.isVoid(bytes, nameStart..<position)
        if isEnd {
            kind = .end
            isWellFormed = isName
            return
        }
        let isEmpty = bytes.count > 2 && bytes[bytes.count - 2] == UInt8(ascii: "/")
        kind = isEmpty || isVoid ? .empty : .start
        let end = bytes.count - (isEmpty ? 2 : 1)
        isWellFormed = isName && isEmpty == (kind == .empty) && Self.areWellFormed(bytes, from: position, to: end)
    }

    /// HTML's elements that have no end, where text was not escaped.
    private static func isVoid(_ bytes: UnsafeBufferPointer<UInt8>, _ name: Range<Int>) -> Bool {
        switch name.count {
        case 2:
            bytes[name.lowerBound] | 0x20 == 0x62 && bytes[name.lowerBound + 1] | 0x20 == 0x72
                || bytes[name.lowerBound] | 0x20 == 0x68 && bytes[name.lowerBound + 1] | 0x20 == 0x72
        case 3: zip(bytes[name], "img".utf8).allSatisfy { $0 | 0x20 == $1 }
        default: false
        }
    }

    private static func areWellFormed(_ bytes: UnsafeBufferPointer<UInt8>, from start: Int, to end: Int) -> Bool {
        var position = start
        while true {
            let blank = position
            while position < end, bytes[position] == 0x20 { position += 1 }
            if position >= end { return true }
            guard position > blank, isNameStart(bytes[position]) else { return false }
            var colons = 0
            while position < end, isNameByte(bytes[position]) || bytes[position] == UInt8(ascii: ":") {
                if bytes[position] == UInt8(ascii: ":") { colons += 1 }
                position += 1
            }
            if colons > 1 || bytes[position - 1] == UInt8(ascii: ":") { return false }
            while position < end, bytes[position] == 0x20 { position += 1 }
            guard position < end, bytes[position] == UInt8(ascii: "=") else { return false }
            position += 1
            while position < end, bytes[position] == 0x20 { position += 1 }
            guard position < end else { return false }
            let quote = bytes[position]
            guard quote == UInt8(ascii: "\"") || quote == UInt8(ascii: "'") else { return false }
            position += 1
            while position < end, bytes[position] != quote { position += 1 }
            guard position < end else { return false }
            position += 1
        }
    }

    /// Writes a tag at the end of `output` anew: names of ASCII letters, attributes with quotes, the others left out.
    static func rebuild(_ output: inout [UInt8], from start: Int) {
        let old = Array(output[start...])
        output.removeSubrange(start...)
        let tag = old.withUnsafeBufferPointer { XMLTag($0) }
        let isEmpty = old.count > 2 && old[old.count - 2] == UInt8(ascii: "/")
        let end = old.count - (isEmpty ? 2 : 1)
        var position = 1
        output.append(UInt8(ascii: "<"))
        appendName(old, &position, end, to: &output)
        while position < end {
            guard isNameStart(old[position]) else {
                position += 1
                continue
            }
            let length = output.count
            output.append(0x20)
            appendName(old, &position, end, to: &output)
            while position < end, old[position] == 0x20 { position += 1 }
            guard position < end, old[position] == UInt8(ascii: "=") else {
                output.removeSubrange(length...)
                continue
            }
            position += 1
            while position < end, old[position] == 0x20 { position += 1 }
            let value = value(old, &position, end)
            // Both quotes in one value are too much of a riddle.
            let quote = value.contains(UInt8(ascii: "\"")) ? UInt8(ascii: "'") : UInt8(ascii: "\"")
            output += [UInt8(ascii: "="), quote] + value.filter { $0 != quote } + [quote]
        }
        if tag.kind == .empty { output.append(UInt8(ascii: "/")) }
        output.append(UInt8(ascii: ">"))
    }

    private static func value(_ bytes: [UInt8], _ position: inout Int, _ end: Int) -> ArraySlice<UInt8> {
        guard position < end else { return [] }
        let quote = bytes[position]
        let isQuoted = quote == UInt8(ascii: "\"") || quote == UInt8(ascii: "'")
        let start = isQuoted ? position + 1 : position
        position = start
        while position < end, isQuoted ? bytes[position] != quote : bytes[position] != 0x20 { position += 1 }
        defer { if isQuoted, position < end { position += 1 } }
        return bytes[start..<position]
    }

    private static func appendName(_ bytes: [UInt8], _ position: inout Int, _ end: Int, to output: inout [UInt8]) {
        let start = output.count
        var hasColon = false
        while position < end, !endsName(bytes[position]), bytes[position] != UInt8(ascii: "=") {
            let byte = bytes[position]
            let isColon = byte == UInt8(ascii: ":") && !hasColon && output.count > start
            hasColon = hasColon || isColon
            let isGood = isColon || (output.count == start ? isNameStart(byte) : isNameByte(byte))
            output.append(isGood ? byte : UInt8(ascii: "_"))
            position += 1
        }
        if output.count == start || output.last == UInt8(ascii: ":") { output.append(UInt8(ascii: "_")) }
    }

    private static func endsName(_ byte: UInt8) -> Bool {
        byte == 0x20 || byte == UInt8(ascii: ">") || byte == UInt8(ascii: "/")
    }

    private static func isNameStart(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20) || byte == UInt8(ascii: "_")
    }

    private static func isNameByte(_ byte: UInt8) -> Bool {
        isNameStart(byte) || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) || byte == UInt8(ascii: "-")
            || byte == UInt8(ascii: ".")
    }
}
