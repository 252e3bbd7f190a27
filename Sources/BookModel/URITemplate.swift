/// Templates of addresses, as far as catalogs' searches need them.
package enum URITemplate {
    /// A URI template (RFC 6570, `{?query}`) or one of OpenSearch (`{searchTerms}`) with what is searched for; every other
    /// variable is left out.
    package static func filled(_ template: String, searchTerms: String) -> String {
        let terms = percentEncoded(searchTerms.utf8)
        return template.replacing(/\{([?&]?)([^{}]*)\}/) { match in
            let names = match.output.2.split(separator: ",").map { $0.filter { $0 != "?" } }
            guard let name = names.first(where: { ["query", "q", "searchTerms"].contains($0) }) else { return "" }
            return match.output.1.isEmpty ? terms : "\(match.output.1)\(name)=\(terms)"
        }
    }
}
