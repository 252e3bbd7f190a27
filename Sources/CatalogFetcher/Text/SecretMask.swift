/// Takes configured secrets out of texts that a server sent back: an error message may well quote the token.
package struct SecretMask: Sendable {
    /// Longest first, so that a secret within a secret leaves nothing behind.
    private let secrets: [String]

    /// - Parameter values: whatever was configured; shorter ones than four characters (`1`, `114`) are not secrets,
    ///   and would tear texts apart.
    package init(_ values: [String]) {
        secrets = Set(values).filter { $0.count >= 4 }.sorted { $0.count > $1.count }
    }

    package func masking(_ text: String) -> String {
        secrets.reduce(text) { text, secret in
            text.contains(secret) ? text.replacing(secret, with: "***") : text
        }
    }

    /// The beginning of an answer, for a sentence of ours. Masked before it is cut: half a secret would not be recognised
    /// any more.
    func quotation(_ bytes: [UInt8]) -> String {
        CatalogText.quotation(masking(CatalogText.quotation(bytes, length: 2000)), length: 80)
    }
}
