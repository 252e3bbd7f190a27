import BookModel
import BookSync

extension ShelfPages {
    /// What `booksync doctor` finds. The sources are asked when the button was pressed only.
    func doctorPage(_ request: Request, asksSources: Bool = false) async throws -> Page {
        let phrases = phrases(for: request)
        let asksSources = asksSources && request.visitor.mayChange
        let findings = try await self.findings(asksSources)
        let (problems, warnings) = (
            findings.count { $0.status == .problem }, findings.count { $0.status == .warning }
        )
        var sum: [String] = []
        if problems > 0 { sum.append(phrases(.countProblems, count: problems)) }
        if warnings > 0 { sum.append(phrases(.countWarnings, count: warnings)) }
        let view = (
            sum: sum.isEmpty ? phrases(.allIsWell) : sum.joined(separator: " · "),
            findings: findings.map { Self.view($0, phrases) }, hasAsked: asksSources,
            mayAsk: !asksSources && request.visitor.mayChange
        )
        return try page(.doctor, view, with: "doctor", for: request, section: .doctor)
    }

    private static func view(_ finding: Finding, _ phrases: Strings) -> Any {
        (
            status: finding.status.rawValue, statusLabel: phrases(named: "finding.\(finding.status.rawValue)"),
            check: name(of: finding.check, phrases),
            message: phrases(finding.message), remedy: finding.remedy.map { phrases($0) },
            // Whether a part of the two is not in the language of the page.
            isEnglish: ([finding.message] + [finding.remedy].compactMap(\.self)).contains { phrases.isForeign($0) }
        )
    }

    private static func name(of check: Message, _ phrases: Strings) -> String {
        let english = check.description
        if let text = phrases.text(named: "check.\(english)") { return text }
        guard let source = english.wholeMatch(of: /source (.+)/)?.output.1 else { return phrases(check) }
        return phrases(.checkSource, ["name": String(source)])
    }
}
