import BookModel
import NIOSSL

/// Certificates of authorities that are trusted beside those of the machine.
package struct TrustedAuthorities: Sendable, Hashable {
    private let certificates: [NIOSSLCertificate]

    /// Why bytes are no certificates.
    package struct Unreadable: Error, Sendable, Hashable {
        package var why: Message
    }

    /// - Parameter bytes: in PEM format, one certificate or several.
    package init(pem bytes: [UInt8]) throws(Unreadable) {
        do {
            certificates = try NIOSSLCertificate.fromPEMBytes(bytes)
        } catch {
            throw Unreadable(why: "it holds no certificate in PEM format that can be read")
        }
        guard !certificates.isEmpty else { throw Unreadable(why: "it holds no certificate in PEM format") }
    }

    private init(_ certificates: [NIOSSLCertificate]) {
        self.certificates = certificates
    }

    /// These and the others.
    package func adding(_ others: TrustedAuthorities?) -> TrustedAuthorities {
        TrustedAuthorities(certificates + (others?.certificates ?? []))
    }

    /// The same security, in which these are trusted as well.
    static func extend(_ security: TLSConfiguration, by authorities: TrustedAuthorities?) -> TLSConfiguration {
        guard let authorities else { return security }
        var security = security
        security.additionalTrustRoots.append(.certificates(authorities.certificates))
        return security
    }

    package func hash(into hasher: inout Hasher) {
        // Looked up with every request: what is equal is told by comparing.
        hasher.combine(certificates.count)
    }
}
