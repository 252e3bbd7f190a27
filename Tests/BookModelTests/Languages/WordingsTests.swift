import Foundation
import Testing

@testable import BookModel

@Suite struct WordingsTests {
    @Test func `every wording has the parts of its English, and no others`() {
        for (english, chinese) in Translation.chinese.messages {
            #expect(parts(of: english) == parts(of: chinese), "\(english) → \(chinese)")
        }
    }

    @Test func `a translation has contexts, several lines, escapes and comments`() {
        let file = #"""
            # A comment with "quotes".
            msgid ""
            msgstr "Language: zh_Hans\n"

            #. another
            msgid "a \"b\" \\ {1}"
            msgstr "甲"
            " {1}\n"
            "乙"
            msgctxt "name"
            msgid "c"
            msgstr "丙"

            # nothing between two sentences
            msgid " "
            msgstr ""
            """#
        let translation = Translation(Array(file.utf8))
        #expect(translation.messages == [#"a "b" \ {1}"#: "甲 {1}\n乙", " ": ""])
        #expect(translation.phrases.mapValues { [$0.english, $0.translated] } == ["name": ["c", "丙"]])
    }

    private func parts(of wording: String) -> [String] {
        wording.matches(of: /\{[0-9]+\}/).map { String($0.0) }.sorted()
    }

    @Test func `what the table lacks is said in English`() {
        let known: Message = "\("x.yaml") is valid"
        let unknown: Message = "nobody has translated \(1) of these"
        #expect(Wordings(.english)(known) == "x.yaml is valid")
        #expect(Wordings(.chinese)(known) == "x.yaml 有效")
        #expect(Wordings(.chinese)(unknown) == "nobody has translated 1 of these")
        #expect(Wordings(.chinese).isForeign(unknown))
        #expect(!Wordings(.chinese).isForeign(known))
    }

    @Test func `what the system says is its own in English, and the common of it is there in Chinese`() {
        for code in Int32(1)...133 where code != EMFILE {
            #expect(Message(errno: code).description == String(cString: strerror(code)))
        }
        for code in [EPERM, ENOENT, EIO, EACCES, EBUSY, EEXIST, ENOTDIR, EISDIR, ENOSPC, EROFS, ENAMETOOLONG, ESTALE] {
            #expect(!Wordings(.chinese).isForeign(Message(errno: code)), "\(code)")
        }
        #expect(Wordings(.chinese)(Failure.file("\("x") is not written", errno: EROFS).why) == "文件系统只读")
    }

    @Test func `an error of the system is told by its number, however it comes`() {
        let errors: [any Error] = [POSIXError(.ENOSPC), Failure(.usage, what: "", why: "No space left on device")]
        #expect(Message(cause: errors[0]) == "No space left on device")
        #expect("\(Message(cause: errors[1]))".hasSuffix("No space left on device"))
        #expect(throws: (any Error).self) {
            do {
                _ = try FileManager.default.contentsOfDirectory(atPath: "/nowhere")
            } catch {
                #expect(Message(cause: error) == "No such file or directory")
                #expect(Wordings(.chinese)("\("x"): \(error)") == "x：没有这个文件或文件夹")
                throw error
            }
        }
    }

    @Test func `of an error that is not known only its type and its number are told`() {
        struct Strange: Error, CustomStringConvertible { let description = "EXC_BAD_INSIDES at parser.c:320" }
        let told = Message(cause: Strange())
        #expect(told.description.hasPrefix("unexpected error (") && !told.description.contains("parser.c"))
        #expect(Failure.of(Strange()).message.description.contains("unexpected error"))
        #expect(Wordings(.chinese)(told).hasPrefix("意外错误（"))
    }

    @Test func `a name that is quoted has Chinese marks`() {
        let type: Message = "'\("text/html")'"
        let why: Message = "the server sent \(type) instead of audio, perhaps a login or error page"
        #expect(Wordings(.chinese)(why).hasPrefix("服务器发送的是“text/html”而不是音频"))
        #expect(!Wordings(.chinese).isForeign("\(why)\("" as Message)"))
    }
}
