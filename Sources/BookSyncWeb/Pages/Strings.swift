import BookModel
import Foundation

/// The texts of the pages in one language, and how that language writes numbers, sizes, spans and times.
package struct Strings: Sendable {
    package let language: Language
    private let wordings: Wordings

    package init(_ language: Language) {
        self.language = language
        wordings = Wordings(language)
    }

    /// The phrases that the language's table lacks; none, as a test says.
    package var missing: [Phrase] { Phrase.allCases.filter { Translation.chinese.phrases[$0.rawValue] == nil } }

    /// - Returns: nil for a name that the table does not have.
    func text(named name: String) -> String? {
        let texts = Translation.chinese.phrases[name]
        return switch language {
        case .english: texts?.english
        case .chinese: texts?.translated
        }
    }

    private func text(of phrase: Phrase) -> String { callAsFunction(named: phrase.rawValue) }

    /// The word for a keyword, such as `state.paused`; the name itself where the table lacks it.
    package func callAsFunction(named name: String) -> String { text(named: name) ?? name }

    /// - Parameter values: by the names in the phrase.
    package func callAsFunction(_ phrase: Phrase, _ values: [String: String] = [:]) -> String {
        values.reduce(into: text(of: phrase)) { text, value in
            text = text.replacing("{\(value.key)}", with: value.value)
        }
    }

    /// The messages of other modules: English where the language's table lacks its wording.
    package func callAsFunction(_ message: Message) -> String { wordings(message) }

    /// Whether what is made of a message stands in English on a page in another language.
    package func isForeign(_ message: Message) -> Bool { wordings.isForeign(message) }

    /// A phrase that counts something as `{n}`.
    package func callAsFunction(_ phrase: Phrase, count: Int) -> String {
        let forms = text(of: phrase).split(separator: "~")
        let form = forms.count == 2 && count == 1 ? forms[0] : forms[forms.count - 1]
        return String(form).replacing("{n}", with: number(count))
    }

    // MARK: Quantities

    /// With a comma between thousands.
    package func number(_ number: Int) -> String {
        let digits = String(number.magnitude)
        var text = ""
        for (index, digit) in digits.enumerated() {
            if index > 0, (digits.count - index).isMultiple(of: 3) { text += "," }
            text.append(digit)
        }
        return number < 0 ? "-" + text : text
    }

    package func bytes(_ bytes: Int64) -> String { describeBytes(bytes) }

    /// As players show it: `4:05`, `1:02:03`.
    package func clock(_ seconds: Double) -> String {
        describeClock(seconds)
    }

    /// In words: `2 h 10 min`, `2 小时 10 分`.
    package func span(_ seconds: Double) -> String {
        let text = describeSeconds(seconds)
        guard language == .chinese else { return text }
        return text.replacing("min", with: "分").replacing("h", with: "小时").replacing("s", with: "秒")
    }

    // MARK: Times

    /// `21 Nov 2026, 18:02`, `2026年11月21日 18:02`, in the time zone of the machine.
    package func time(_ date: Date) -> String {
        let parts = Calendar(identifier: .gregorian).dateComponents([.hour, .minute], from: date)
        let clock = String(format: "%02ld:%02ld", parts.hour ?? 0, parts.minute ?? 0)
        return day(date) + (language == .english ? ", " : " ") + clock
    }

    /// `21 Nov 2026`, `2026年11月21日`
    package func day(_ date: Date) -> String {
        let parts = Calendar(identifier: .gregorian).dateComponents([.year, .month, .day], from: date)
        guard let year = parts.year, let month = parts.month, let day = parts.day else { return "" }
        switch language {
        case .english: return "\(day) \(Self.months[(month - 1) % 12]) \(year)"
        case .chinese: return "\(year)年\(month)月\(day)日"
        }
    }

    private static let months = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]
}
