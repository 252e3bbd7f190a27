import BookModel

/// What is configured of a book-resource catalog. Every value may be a secret, so printing the settings shows names
/// only.
package struct BookResourceSettings: Sendable, CustomStringConvertible, CustomDebugStringConvertible,
    CustomReflectable
{
    package typealias Pair = (name: String, value: String)

    /// How requests are signed: a parameter that holds the MD5 of the others and a secret.
    package struct Signature: Sendable, CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
        package var parameter: String
        package var secret: String

        package init(parameter: String = "sc", secret: String) {
            self.parameter = parameter
            self.secret = secret
        }

        package var description: String { "signature in \(parameter)" }
        package var debugDescription: String { description }
        package var customMirror: Mirror { Mirror(self, children: ["parameter": parameter]) }
    }

    /// `ClientGetBookResource.action`: the pages of episodes.
    package var listAddress: ResourceAddress
    /// `ClientGetBookDetail.action`: title, author, announcer, cover, description.
    package var detailAddress: ResourceAddress?
    /// Where books are searched for: `{query}` stands for the text.
    package var searchAddress: ResourceAddress?
    /// Sent with every request. Of two values under one name the later is sent.
    package var query: [Pair]
    package var signature: Signature?
    /// What else goes to the server and must not turn up in a text.
    package var alsoSecret: [String]
    /// Episodes to ask for at a time.
    package var pageSize: Int

    package init(
        listAddress: ResourceAddress, detailAddress: ResourceAddress? = nil, searchAddress: ResourceAddress? = nil,
        query: [Pair] = [], signature: Signature? = nil, alsoSecret: [String] = [], pageSize: Int = 50
    ) {
        self.listAddress = listAddress
        self.detailAddress = detailAddress
        self.searchAddress = searchAddress
        self.query = query
        self.signature = signature
        self.alsoSecret = alsoSecret
        self.pageSize = pageSize
    }

    package var description: String { "book-resource catalog at \(listAddress)" }
    package var debugDescription: String { description }
    package var customMirror: Mirror {
        Mirror(
            self,
            children: [
                "listAddress": listAddress.withoutSecrets, "query": query.map(\.name).joined(separator: ", "),
                "pageSize": pageSize,
            ])
    }
}
