import BookModel

/// What is configured of a book-resource catalog.
package struct BookResourceSettings: Sendable {
    /// How requests are signed: a parameter that holds the MD5 of the others and a secret.
    package struct Signature: Sendable, Hashable {
        package enum Algorithm: String, Sendable, CaseIterable {
            case md5
        }

        /// The query parameter that carries the signature.
        package var parameter: String
        package var algorithm = Algorithm.md5
        package var secret: Secret

        package init(parameter: String = "sc", secret: Secret) {
            self.parameter = parameter
            self.secret = secret
        }
    }

    /// `ClientGetBookResource.action`: the pages of episodes.
    package var listAddress: ResourceAddress
    /// `ClientGetBookDetail.action`: title, author, announcer, cover, description.
    package var detailAddress: ResourceAddress?
    /// Where books are searched for: `{query}` stands for the text.
    package var searchAddress: ResourceAddress?
    /// Sent with every request. Of two values under one name the later is sent.
    package var credentials: CatalogCredentials
    package var signature: Signature?
    /// Episodes to ask for at a time.
    package var pageSize: Int

    package init(
        listAddress: ResourceAddress, detailAddress: ResourceAddress? = nil, searchAddress: ResourceAddress? = nil,
        credentials: CatalogCredentials = .init(), signature: Signature? = nil, pageSize: Int = 50
    ) {
        self.listAddress = listAddress
        self.detailAddress = detailAddress
        self.searchAddress = searchAddress
        self.credentials = credentials
        self.signature = signature
        self.pageSize = pageSize
    }
}
