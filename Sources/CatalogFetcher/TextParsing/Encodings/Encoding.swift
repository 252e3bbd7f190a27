/// What the bytes of a document are text in.
package enum Encoding: Equatable {
    case utf8
    /// An encoding that `iconv` converts, by the name that it knows it by.
    case other(String)

    /// The encoding that a byte order mark, or the pattern of zeros around the first `<`, gives away.
    /// - Parameter head: the first bytes, four if there are so many.
    /// - Returns: the encoding, and the length of the mark.
    static func marked(_ head: some Collection<UInt8>) -> (encoding: Encoding, mark: Int)? {
        let head = Array(head.prefix(4))
        if head.starts(with: [0xEF, 0xBB, 0xBF]) { return (.utf8, 3) }
        if head == [0xFF, 0xFE, 0, 0] { return (.other("UTF-32LE"), 4) }
        if head == [0, 0, 0xFE, 0xFF] { return (.other("UTF-32BE"), 4) }
        if head.starts(with: [0xFF, 0xFE]) { return (.other("UTF-16LE"), 2) }
        if head.starts(with: [0xFE, 0xFF]) { return (.other("UTF-16BE"), 2) }
        let zeros = head.map { $0 == 0 }
        if head.count == 4, head.contains(UInt8(ascii: "<")) {
            if zeros == [true, true, true, false] { return (.other("UTF-32BE"), 0) }
            if zeros == [false, true, true, true] { return (.other("UTF-32LE"), 0) }
            if zeros == [true, false, true, false] { return (.other("UTF-16BE"), 0) }
            if zeros == [false, true, false, true] { return (.other("UTF-16LE"), 0) }
        }
        return nil
    }

    /// The name in `<?xml … encoding="NAME"?>`; nil when there is none within the first bytes.
    static func declared(in head: some Collection<UInt8>) -> String? {
        let text = String(decoding: head.prefix(512), as: UTF8.self)
        guard let start = text.firstRange(of: "<?xml"), let end = text[start.upperBound...].firstRange(of: "?>"),
            text[..<start.lowerBound].allSatisfy({ $0.isWhitespace }),
            let name = text[start.upperBound..<end.lowerBound].firstRange(of: "encoding")
        else { return nil }
        let value = text[name.upperBound..<end.lowerBound].drop { $0.isWhitespace || $0 == "=" }
        guard let quote = value.first, quote == "\"" || quote == "'" else { return nil }
        return String(value.dropFirst().prefix { $0 != quote })
    }

    /// The `charset` of a `Content-Type` field.
    package static func charset(ofContentType field: String) -> String? {
        for part in field.split(separator: ";").dropFirst() {
            let sides = part.split(separator: "=", maxSplits: 1)
            guard sides.count == 2, sides[0].lowercased().filter({ !$0.isWhitespace }) == "charset" else { continue }
            let name = sides[1].filter { !$0.isWhitespace && $0 != "\"" && $0 != "'" }
            if !name.isEmpty { return name }
        }
        return nil
    }

    /// The encoding of a name as documents write it.
    ///
    /// Names stand for the larger set that is really used under them (WHATWG Encoding): GB2312 for GB18030, ISO-8859-1
    /// for Windows-1252.
    /// - Returns: nil for what is no name, or the name of an encoding in which markup does not look like ASCII: such a
    ///   declaration could not have been read if it were true.
    static func named(_ name: String) -> Encoding? {
        let name = name.lowercased()
        guard !name.isEmpty, name.utf8.count <= 40,
            name.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F && $0 != UInt8(ascii: "/") })
        else { return nil }
        if ["utf-8", "utf8", "unicode-1-1-utf-8"].contains(name) { return .utf8 }
        if ["utf", "ucs", "unicode", "iso-10646", "csucs"].contains(where: name.hasPrefix) { return nil }
        let encoding = known[name] ?? name.uppercased()
        return keepsASCII(encoding) ? .other(encoding) : nil
    }

    private static let known: [String: String] = {
        var known: [String: String] = [:]
        let names = [
            "GB18030": "gb18030 gbk gb2312 gb_2312-80 x-gbk cp936 ms936 windows-936 euc-cn chinese",
            "BIG5-HKSCS": "big5 big5-hkscs cn-big5 x-x-big5 cp950",
            "CP932": "shift_jis shift-jis sjis x-sjis ms_kanji windows-31j cp932",
            "CP949": "euc-kr ks_c_5601-1987 ks_c_5601 korean windows-949 cp949",
            "WINDOWS-1252": "iso-8859-1 iso8859-1 iso_8859-1 latin1 latin-1 us-ascii ascii windows-1252 cp1252 ansi",
            "WINDOWS-1254": "iso-8859-9 latin5 windows-1254",
            "TIS-620": "tis-620 iso-8859-11 windows-874",
        ]
        for (encoding, labels) in names {
            for label in labels.split(separator: " ") { known[String(label)] = encoding }
        }
        return known
    }()

    private static func keepsASCII(_ name: String) -> Bool {
        guard let converter = EncodingConverter(name) else { return false }
        let sample = Array("<?xml version=\"1.0\" encoding='a-Z_0'?>&#;/".utf8)
        var converted: [UInt8] = []
        sample.withUnsafeBufferPointer { converter.consume($0) { converted += $0 } }
        return converted == sample && converter.errors == 0
    }
}
