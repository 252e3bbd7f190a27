import BookModel
import Foundation
import LibraryFiles

/// Whether an audio file is whole, however long its server and its catalog say it is: it is decoded.
package struct AudioCheck: Sendable {
    private let probe: MediaProbe

    package init(_ probe: MediaProbe) { self.probe = probe }

    /// What is wrong with the file.
    /// - Parameters:
    ///   - path: absolute.
    ///   - declared: seconds that the catalog says; nil where it says nothing, or that does not matter.
    /// - Returns: nil where it decodes to its end, is no audio that can be decoded, or the task is cancelled.
    package func objection(to path: String, declared: Double?) async -> Message? {
        do {
            switch try await probe.decode(path) {
            case .broken(let seconds, let why):
                return "its audio breaks off at \(describeClock(seconds)): \(why)"
            case .whole(let seconds):
                guard let declared, seconds < declared / 10 else { return nil }
                return "it lasts \(describeSeconds(seconds)), and the catalog says \(describeSeconds(declared))"
            }
        } catch {
            guard let failure = error as? Failure, failure.disposition == .skip else { return nil }
            // An MP4 has its index at its end: without it nothing can be read.
            // ISO/IEC 14496-12 §4.3: the type of the first box.
            let type = try? await runBlocking { MediaProbe.beginning(of: path, 8).suffix(4) }
            return type?.elementsEqual("ftyp".utf8) == true ? "its audio cannot be read: \(failure.why)" : nil
        }
    }
}
