import ArgumentParser
import BookModel
import Foundation

/// What the argument parser prints by itself: help screens, and complaints about arguments.
///
/// The parser writes English headings and breaks lines between words, of which Chinese has none. In another language its
/// text is therefore taken unbroken, its own sentences are replaced by that language's, and the lines are broken here.
enum ParserOutput {
    /// Columns that the descriptions of options begin at.
    private static let descriptionColumn = 26

    /// Prints what the error says, on standard output where it is the help that was asked for, and ends the process.
    static func exit(withError error: any Error, of root: any ParsableCommand.Type, _ arguments: [String]) -> Never {
        let language = Wordings.ofHelp.language
        let isForProgram = arguments.contains { $0.contains("completion") || $0 == "--experimental-dump-help" }
        let code = root.exitCode(for: error)
        let descriptor = code.isSuccess ? STDOUT_FILENO : STDERR_FILENO
        var text = root.fullMessage(for: error)
        if isForProgram {
            if code.isSuccess, text.hasPrefix("#!/bin/bash") { text += "\n" + wholeReferences }
        } else if language != .english {
            text = translated(root.fullMessage(for: error, columns: .max / 2), columns: columns)
        } else if isatty(descriptor) == 1 {
            text = wrapped(text)
        }
        if !text.isEmpty { StandardStreams.write(text + "\n", to: descriptor) }
        Foundation.exit(code.rawValue)
    }

    /// bash ends a word at a colon, and puts what is offered in the place of what stands behind the last one. A REF is one word,
    /// colon included; other programs' completion is left as it is.
    private static let wholeReferences = #"""

        _booksync_with_colons() {
            local -a words=("${COMP_WORDS[0]}")
            local -i last=0 cursor=0 index
            for ((index = 1; index < ${#COMP_WORDS[@]}; index++)); do
                local word="${COMP_WORDS[index]}"
                if [[ ("${word}" = :* || "${words[last]}" = *:) && "${COMP_LINE}" = *"${words[last]}${word}"* ]]; then
                    words[last]+="${word}"
                else
                    words[++last]="${word}"
                fi
                [[ "${index}" -eq "${COMP_CWORD}" ]] && cursor="${last}"
            done
            COMP_WORDS=("${words[@]}")
            COMP_CWORD="${cursor}"
            local word="${words[cursor]}"
            _booksync "${1}" "${word}" "${words[cursor > 0 ? cursor - 1 : 0]}"
            if [[ "${COMP_WORDBREAKS}" = *:* && "${word}" = *:* ]]; then
                COMPREPLY=("${COMPREPLY[@]#"${word%"${word##*:}"}"}")
            fi
            # As a file name it would get a backslash before its colon.
            [[ "${COMPREPLY[*]}" = *:* ]] && compopt +o filenames 2>/dev/null
            return 0
        }

        complete -o filenames -F _booksync_with_colons booksync
        """#

    /// As the parser counts them.
    private static var columns: Int {
        let declared = ProcessInfo.processInfo.environment["COLUMNS"].flatMap { Int($0) }.flatMap { $0 > 0 ? $0 : nil }
        return declared ?? TerminalSize.current(of: STDOUT_FILENO)?.columns ?? 80
    }

    /// The parser breaks the lines of help screens alone.
    private static func wrapped(_ text: String) -> String {
        text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
            .flatMap { DisplayWidth.columns(of: $0) > columns ? wrapped($0, to: columns) : [$0] }.joined(
                separator: "\n")
    }

    /// The parser's unbroken text in Chinese.
    static func translated(_ text: String, columns: Int) -> String {
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        let sentences = chineseSentences
        return lines.flatMap { wrapped(translated(String($0), by: sentences), to: columns) }.joined(separator: "\n")
    }

    private typealias Sentence = (english: Regex<AnyRegexOutput>, chinese: String)

    /// What the parser says in English (ArgumentParser 1.8), as regular expressions, and the same in Chinese with the parts in
    /// place of `{1}`. Each is looked for in what those before it left of a line.
    private static var chineseSentences: [Sentence] {
        EmbeddedFile.text("parser.zh.tsv").split(separator: "\n").map { line in
            let fields = line.split(separator: "\t").map(String.init)
            guard fields.count == 2, let english = try? Regex(fields[0]) else { preconditionFailure("\(line)") }
            return (english, fields[1])
        }
    }

    /// Replaces all of the parser's own words in a line.
    private static func translated(_ line: String, by sentences: [Sentence]) -> String {
        let line = sentences.reduce(line) { line, sentence in
            line.replacing(sentence.english) { match in
                let parts = match.output.compactMap { $0.substring.map(String.init) }
                return parts.indices.dropFirst().reduce(sentence.chinese) {
                    $0.replacing("{\($1)}", with: parts[$1])
                }
            }
        }
        // What follows is a list: 'a', 'b' or 'c'.
        guard line.contains(/(可取 |参数：|之一：)'/) else { return line }
        return line.replacing(/'([^']*)'/) { "“\($0.output.1)”" }
            .replacing("”, “", with: "”、“").replacing(/” (or|and) “/, with: "”或“")
    }

    /// What an option does stays in its column.
    private static func wrapped(_ line: String, to columns: Int) -> [String] {
        let content = line.drop { $0 == " " }
        let indent = line.count - content.count
        guard indent > 0 else {
            let lines = DisplayWidth.wrapped(line, to: columns)
            return lines.isEmpty ? [line] : lines
        }
        let label = indent < descriptionColumn ? content.firstRange(of: "  ").map { content[..<$0.lowerBound] } : nil
        let texts = label.map { content[$0.endIndex...].drop { $0 == " " } } ?? content
        let isDescription = label != nil || indent == descriptionColumn
        let hanging = isDescription ? descriptionColumn : indent
        let first = label.map { DisplayWidth.fit("\(spaces(indent))\($0)", to: hanging) } ?? spaces(indent)
        let broken = DisplayWidth.wrapped(String(texts), to: max(columns - hanging, 20))
        guard let top = broken.first else { return [line] }
        return [first + top] + broken.dropFirst().map { spaces(hanging) + $0 }
    }

    private static func spaces(_ count: Int) -> String { String(repeating: " ", count: count) }
}
