import BookModel
import LibraryFiles
import Transport

/// Fetching a large file in pieces, so that others can help. Every piece is asked for under the one strong validator of
/// the file that was begun, and no byte is asked for twice: that is why the length must be known before the first
/// request, and why servers that don't do ranges as they should are asked for the whole.
extension TransferAttempt {
    /// - Returns: nil when the file is not to be fetched in pieces.
    mutating func fetchInPieces(
        _ request: HTTPRequest, behind existing: PartialContent, into partial: PartialFile
    ) async throws -> AttemptResult.Ending? {
        guard let pieces else { return nil }
        let (found, ending) = try await pieceSource(request, behind: existing)
        guard let source = found else { return ending }
        result.bytesReused = existing.length + pieces.divide(source, of: partial, behind: existing.length)
        var offset = existing.length
        while offset < source.total {
            if let ending = pieces.ending { return ending }
            switch pieces.nextStep(ofFrontAt: offset) {
            case .takeOver(let piece, let end):
                if !hasBegun {
                    try await begin(source.validator, total: source.total, offset: offset, in: partial)
                }
                try await aside { try partial.takeOver(to: end) }
                sinceCommit += end - offset
                if sinceCommit >= EngineSettings.commitInterval { try await commitOffset(of: partial) }
                offset = partial.length
                pieces.moveFront(to: offset, takingOver: piece)
            case .fetch(let end):
                let asked = RangeRequest(first: offset, last: end - 1, ifRange: source.validator.ifRange)
                let existing = PartialContent(length: offset, validator: source.validator, total: source.total)
                if let ending = try await fetch(request, asking: asked, behind: existing, into: partial) {
                    return ending
                }
                offset = partial.length
            case .wait(let piece, _):
                await pieces.wait(for: piece)
                try Task.checkCancellation()
            }
        }
        return try await verified(partial, total: source.total)
    }

    /// No helper works on the file any more when this returns, and what they brought is accounted for.
    ///
    /// - Parameter isOfUse: whether it is worth while to wait for what they are about to bring.
    mutating func endHelp(isOfUse: Bool) async {
        guard let brought = await pieces?.close(breaksOff: !isOfUse) else { return }
        result.bytesReceived += brought
        result.progress += brought
    }

    /// The file that is fetched, when it is known to be large and to have a strong validator, and its server to give
    /// parts of it. What is held already came with the answer to that; else the server is asked without a body, and may want
    /// no further request for now.
    private mutating func pieceSource(
        _ request: HTTPRequest, behind existing: PartialContent
    ) async throws -> (PieceSource?, AttemptResult.Ending?) {
        let minTotal = tools.settings.minDividedLength
        if existing.length > 0 {
            guard let total = existing.total, total >= minTotal, existing.validator.ifRange != nil else {
                return (nil, nil)
            }
            return (PieceSource(request: request, validator: existing.validator, total: total), nil)
        }
        guard wanted.replacing == nil, length ?? 0 >= minTotal else { return (nil, nil) }
        let (answer, ending): (HTTPResponse, AttemptResult.Ending?)
        do {
            (answer, ending) = try await head(of: request)
        } catch is TransportError {
            // The request that counts will meet the same.
            return (nil, nil)
        }
        let head = ResponseHead(answer)
        guard
            case .replace(let total?, .identity) = decide(existing: existing, asked: RangeRequest(first: 0), head: head),
            total >= minTotal, head.validator.ifRange != nil,
            answer.first("Accept-Ranges")?.lowercased() == "bytes"
        else { return (nil, ending) }
        return (PieceSource(request: request, validator: head.validator, total: total), nil)
    }
}
