/// The colours of words that say how something is.
enum TerminalColor: Int {
    case red = 31
    case green, yellow

    /// - Parameter line: holds nothing that steers a terminal.
    func applied(toFirstWordOf line: String) -> String {
        let word = line.prefix { $0 != " " }
        return "\u{1B}[\(rawValue)m\(word)\u{1B}[0m" + line.dropFirst(word.count)
    }
}
