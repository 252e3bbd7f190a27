import BookModel
import Foundation

/// The ways to recognise an episode whose identification changed.
package enum EpisodeLikeness: CaseIterable {
    case address, nameAndDate, nameAndFile, dayAndNumber, dayAndFile, dayAndBeginning, dayAndEnd

    static let ofDays: Set<Self> = [.dayAndNumber, .dayAndFile, .dayAndBeginning, .dayAndEnd]

    package struct Mark: Hashable {
        var text: String
        package var time: Double
    }

    /// - Parameters:
    ///   - noon: seconds that are added to the time of day.
    ///   - times: those that a mark may have; nil for any.
    package func mark(of episode: Episode, _ noon: Double, among times: Set<Double>? = nil) -> Mark? {
        guard let time = time(of: episode, noon), times?.contains(time) ?? true, let text = text(of: episode),
            !text.isEmpty
        else { return nil }
        return Mark(text: text, time: time)
    }

    private func time(of episode: Episode, _ noon: Double) -> Double? {
        let date = episode.publishedAt?.timeIntervalSince1970
        switch self {
        case .address: return 0
        case .nameAndDate: return date
        // A feed of dated news may give all of them one name and one file.
        case .nameAndFile: return date == nil ? 0 : nil
        default: return date.map { (($0 + noon) / 86_400).rounded(.down) }
        }
    }

    private func text(of episode: Episode) -> String? {
        let name = episode.name
        switch self {
        case .address: return episode.place
        case .nameAndDate: return name
        case .nameAndFile: return name.isEmpty ? nil : episode.file.map { name + "\n" + $0 }
        case .dayAndNumber: return episode.number.map { "\($0)" } ?? name.figures
        case .dayAndFile: return episode.file
        case .dayAndBeginning: return String(name.letters.prefix(4))
        case .dayAndEnd: return String(name.letters.suffix(4))
        }
    }

    package func fits(_ known: Episode, _ episode: Episode) -> Bool {
        switch self {
        // At one address there may be another file every day.
        case .address: known.isNamedOrDated(as: episode)
        case .dayAndBeginning, .dayAndEnd: known.isNearlyNamed(as: episode)
        default: true
        }
    }
}

extension Episode {
    /// Its address; nil where that is not known without secrets.
    fileprivate var place: String? {
        address.flatMap { $0.withoutSecrets.contains("***") ? nil : $0.withoutSecrets }
    }

    fileprivate var file: String? {
        address?.withoutSecrets.prefix { $0 != "?" && $0 != "#" }.split(separator: "/").last.map(String.init)
    }

    /// True if the episode may be this one, though the catalog identifies it differently than before.
    package func resembles(_ other: Episode) -> Bool {
        isNamedOrDated(as: other) || place != nil && place == other.place
    }

    fileprivate func isNamedOrDated(as other: Episode) -> Bool {
        name == other.name || publishedAt != nil && publishedAt == other.publishedAt
    }

    /// True if guid and date say that it is another episode. Stores keep no fractions of milliseconds.
    package func contradicts(_ other: Episode) -> Bool {
        guard guid != nil, other.guid != nil, rawKey != nil, rawKey != other.rawKey, let publishedAt,
            let date = other.publishedAt
        else { return false }
        return abs(publishedAt.timeIntervalSince(date)) >= 1
    }

    /// True if one name is the other with one small change, or with something before or behind it. Names with other figures
    /// are other names: `Part 1`, `Part 2`.
    fileprivate func isNearlyNamed(as other: Episode) -> Bool {
        let figures = [name.figures, other.name.figures]
        guard figures[0] == figures[1] || figures.contains("") else { return false }
        let (one, two) = (name.letters, other.name.letters)
        let (shorter, longer) = (min(one.count, two.count), max(one.count, two.count))
        let ends =
            zip(one, two).prefix { $0 == $1 }.count + zip(one.reversed(), two.reversed()).prefix { $0 == $1 }.count
        return ends >= shorter && shorter >= 8 || min(ends, shorter) * 5 > longer * 4
    }
}

extension String {
    /// Its numbers, apart from one another.
    fileprivate var figures: String { split { !$0.isNumber }.joined(separator: " ") }
    fileprivate var letters: [Character] { lowercased().filter { $0.isLetter || $0.isNumber }.map(\.self) }
}
