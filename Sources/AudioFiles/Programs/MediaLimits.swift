/// What a program may use on one file before it is killed.
package struct MediaLimits: Sendable, Hashable {
    package struct Time: Sendable, Hashable {
        /// Of wall time.
        package var seconds: Double
        package var processorSeconds: Int
    }

    /// To read a file's headers.
    package var headers = Time(seconds: 60, processorSeconds: 30)
    /// To read or decode a whole file.
    package var wholeFile = Time(seconds: 3600, processorSeconds: 1800)
    /// Bytes of output. Decoding writes 120 a second of audio.
    package var maxOutput = 32 << 20
    /// Bytes of address space (`RLIMIT_AS`). The shared libraries of ffmpeg alone take 250 MB.
    package var maxAddressSpace = 2 << 30
    /// Programs that run at once.
    package var maxConcurrent = 2
}
