import BookModel
import Foundation

extension MediaProbe {
    /// Pixels that a picture may have in all: decoded they take 200 MB at most.
    private static let maxPixels = 50_000_000

    /// Writes a picture as a JPEG of at most so many pixels on its longer side.
    /// - Parameter output: absolute; what is there is overwritten.
    /// - Returns: whether it could be read. One with too many pixels is told by its header.
    /// - Throws: ``Failure`` where ffmpeg is not installed, or lacks time or room: another time it may succeed.
    package func shrink(_ picture: String, to side: Int, at output: String) async throws -> Bool {
        try await slots.withSlot {
            let result = try await run(
                try ffmpeg(for: picture), on: picture,
                // By what is in it, and that file alone, whatever its name looks like.
                ["-v", "level+error", "-nostdin", "-y", "-threads", "1", "-max_pixels", "\(Self.maxPixels)"]
                    + ["-f", "image2pipe"],
                [
                    "-frames:v", "1", "-threads", "1", "-vf",
                    "scale='min(\(side),iw)':'min(\(side),ih)':force_original_aspect_ratio=decrease",
                    "-q:v", "4", "-f", "mjpeg", "file:\(output)",
                ], limits.headers, maxFileSize: 4 << 20, formats: "image2pipe")
            guard let trouble = result.trouble else { return true }
            let isOfMachine = [ENOSPC, EDQUOT, ENOMEM, EIO].contains {
                result.errors.contains(String(cString: strerror($0)))
            }
            guard trouble.kind == .exited, !isOfMachine else { throw trouble.failure(picture) }
            return false
        }
    }
}
