import BookModel
import Crypto
import Foundation
import Transport

/// One request to a book-resource catalog: an address and its parameters, signed where a secret is configured.
struct BookResourceRequest {
    private let address: ResourceAddress
    private let settings: BookResourceSettings
    private(set) var parameters: [CatalogCredentials.Field]

    /// A page of a book's episodes; pages count from 1.
    static func page(_ number: Int, of book: String, settings: BookResourceSettings) -> Self {
        Self(
            settings.listAddress, settings: settings,
            adding: [("bookId", book), ("pageNum", String(number)), ("pageSize", String(settings.pageSize))])
    }

    /// What the catalog says of the book itself.
    static func detail(of book: String, at address: ResourceAddress, settings: BookResourceSettings) -> Self {
        Self(address, settings: settings, adding: [("id", book)])
    }

    /// What the catalog finds for a text, which goes where the address has `{query}`.
    static func search(for text: String, at address: ResourceAddress, settings: BookResourceSettings) -> Self {
        let filled = address.secretText.replacing("{query}", with: AddressPath.encoded(text))
        return Self(ResourceAddress(filled), settings: settings, adding: [])
    }

    private init(_ address: ResourceAddress, settings: BookResourceSettings, adding own: [CatalogCredentials.Field]) {
        self.address = address
        self.settings = settings
        self.parameters = []
        for (name, value) in Self.parameters(of: address) + settings.credentials.query + own { set(name, to: value) }
        guard let signature = settings.signature else { return }
        parameters.removeAll { $0.name == signature.parameter }
        let signed = Self.signature(path: path, parameters: parameters, secret: signature.secret.secretText)
        parameters.append((signature.parameter, signed))
    }

    private mutating func set(_ name: String, to value: String) {
        if let index = parameters.firstIndex(where: { $0.name == name }) {
            parameters[index].value = value
        } else {
            parameters.append((name, value))
        }
    }

    /// Hexadecimal MD5 of `path?` + the parameters as `k=v`, sorted and joined by `&`, + the secret; nothing is
    /// percent-encoded.
    static func signature(path: String, parameters: [CatalogCredentials.Field], secret: String) -> String {
        let sorted = parameters.map { "\($0.name)=\($0.value)" }
            // By bytes: a Swift string would sort by characters.
            .sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
        let digest = Insecure.MD5.hash(data: Data((path + "?" + sorted.joined(separator: "&") + secret).utf8))
        return digest.hexadecimal
    }

    var wireRequest: HTTPRequest {
        HTTPRequest(.get, ResourceAddress(Self.withoutQuery(address)).adding(query: parameters))
    }

    /// Everything in the request that must not turn up in a text.
    var secrets: SecretMask {
        let harmless: Set<String> = ["bookId", "id", "pageNum", "pageSize", "sortType"]
        return SecretMask(
            parameters.filter { !harmless.contains($0.name) }.flatMap { [$0.value, AddressPath.encoded($0.value)] }
                + settings.credentials.alsoSecret + (settings.signature.map { [$0.secret.secretText] } ?? []))
    }

    private var path: String {
        let text = Self.withoutQuery(address)
        guard let scheme = text.range(of: "://") else { return text }
        return text[scheme.upperBound...].firstIndex(of: "/").map { String(text[$0...]) } ?? "/"
    }

    private static func withoutQuery(_ address: ResourceAddress) -> String {
        String(address.secretText.prefix { $0 != "?" && $0 != "#" })
    }

    /// The parameters that stand in the configured address itself.
    private static func parameters(of address: ResourceAddress) -> [CatalogCredentials.Field] {
        let text = address.secretText.prefix { $0 != "#" }
        guard let mark = text.firstIndex(of: "?") else { return [] }
        return text[text.index(after: mark)...].split(separator: "&").map { pair in
            let sides = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
            let value = sides.count == 2 ? sides[1] : ""
            return (sides[0].removingPercentEncoding ?? sides[0], value.removingPercentEncoding ?? value)
        }
    }
}
