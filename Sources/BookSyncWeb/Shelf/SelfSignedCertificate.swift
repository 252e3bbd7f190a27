import BookModel
import BookSync
import Crypto
import Foundation
import LibraryFiles
import NIOCore
import SwiftASN1
import WebAccess
import X509

/// A certificate that the server makes for itself, for this machine's names, and keeps in the library. Browsers ask once whether
/// to trust it; the fingerprint tells that it is this one.
package struct SelfSignedCertificate: Sendable {
    package let paths: ServerCertificate.Paths
    /// SHA-256, as browsers show it: `AB:CD:…`.
    package let fingerprint: String
    package let names: [String]

    /// Days for which it is good: systems refuse servers whose certificates are good for longer than 825.
    private static let lifetime = 820.0
    /// Days before its end in which it is made anew.
    private static let notice = 30.0

    /// The library's certificate. It is made where there is none, where it soon expires, and where it is for other names.
    /// - Parameters:
    ///   - library: absolute path of its folder.
    ///   - names: and numeric addresses by which clients call the server.
    /// - Throws: ``Failure`` of kind `libraryUnwritable`.
    package static func made(in library: String, for names: [String]) async throws -> SelfSignedCertificate {
        try await runBlocking {
            let folder = library + "/.booksync"
            let paths = ServerCertificate.Paths(
                certificate: "\(folder)/serve-certificate.pem", key: "\(folder)/serve-certificate-key.pem")
            if let kept = kept(at: paths, for: names) { return kept }
            do {
                let key = P256.Signing.PrivateKey()
                let certificate = try certificate(for: names, signedWith: key)
                // The key first: a certificate without its key would be taken for whole.
                try replaceFile(at: paths.key, with: Array(key.pemRepresentation.utf8))
                try replaceFile(at: paths.certificate, with: Array(certificate.serializeAsPEM().pemString.utf8))
                return SelfSignedCertificate(paths: paths, fingerprint: try fingerprint(certificate), names: names)
            } catch {
                throw Failure(
                    .libraryUnwritable, disposition: .stop, what: "no certificate can be made",
                    why:
                        "\(paths.certificate) cannot be written: \(Message(cause: error))",
                    remedy: "see that the library is there and may be written")
            }
        }
    }

    private static func kept(at paths: ServerCertificate.Paths, for names: [String]) -> SelfSignedCertificate? {
        guard let text = try? String(contentsOfFile: paths.certificate, encoding: .utf8),
            FileManager.default.isReadableFile(atPath: paths.key),
            let certificate = try? Certificate(pemEncoded: text), let fingerprint = try? fingerprint(certificate),
            certificate.notValidAfter.timeIntervalSinceNow > notice * 86_400, certificate.notValidBefore <= Date(),
            let known = try? certificate.extensions.subjectAlternativeNames,
            // Addresses that the machine has for the time being may have become others.
            Set(generalNames(names)).isSubset(of: known)
        else { return nil }
        return SelfSignedCertificate(paths: paths, fingerprint: fingerprint, names: names)
    }

    private static func certificate(
        for names: [String], signedWith key: P256.Signing.PrivateKey
    ) throws -> Certificate {
        let name = try DistinguishedName { CommonName("booksync") }
        let now = Date()
        return try Certificate(
            version: .v3, serialNumber: Certificate.SerialNumber(), publicKey: .init(key.publicKey),
            // An hour before now: clocks differ.
            notValidBefore: now.addingTimeInterval(-3600), notValidAfter: now.addingTimeInterval(lifetime * 86_400),
            issuer: name, subject: name, signatureAlgorithm: .ecdsaWithSHA256,
            extensions: try Certificate.Extensions {
                Critical(BasicConstraints.notCertificateAuthority)
                Critical(KeyUsage(digitalSignature: true))
                try ExtendedKeyUsage([.serverAuth])
                SubjectAlternativeNames(generalNames(names + machineAddresses))
            }, issuerPrivateKey: .init(key))
    }

    private static func generalNames(_ names: [String]) -> [GeneralName] {
        names.map { name in
            guard let address = NumericAddress(name) else { return .dnsName(name) }
            return .ipAddress(ASN1OctetString(contentBytes: ArraySlice(address.bytes)))
        }
    }

    /// Numeric ones that other machines may call this one by now.
    private static var machineAddresses: [String] {
        // None are known where the system does not tell.
        let devices = (try? System.enumerateDevices()) ?? []
        return Set(devices.compactMap { $0.address?.ipAddress }).filter {
            NumericAddress($0).map { !$0.isLoopback } ?? false
        }.sorted()
    }

    private static func fingerprint(_ certificate: Certificate) throws -> String {
        var serializer = DER.Serializer()
        try serializer.serialize(certificate)
        return SHA256.hash(data: serializer.serializedBytes).map { [$0].hexadecimal.uppercased() }
            .joined(separator: ":")
    }
}
