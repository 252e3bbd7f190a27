/// Sizes of files of audio.
package enum FileSize {
    /// One tebibyte. Who says that a file is larger is mistaken.
    package static let max: Int64 = 1 << 40

    /// The size, if a file can have it; nil for zero, which is written for "not known", and for what is absurd.
    package static func sensible(_ bytes: Int64?) -> Int64? {
        bytes.flatMap { (1...max).contains($0) ? $0 : nil }
    }
}
