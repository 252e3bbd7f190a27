import Testing

@testable import DownloadEngine
@testable import LibraryFiles

@Suite struct DiskSpaceTests {
    @Test(
        arguments: [
            // Free, size, to come, to stay free: missing.
            (1000, 100_000, 0, 500, nil), (1000, 100_000, 500, 500, nil), (1000, 100_000, 501, 500, 1),
            (0, 100_000, 0, 1, 1), (0, 100_000, 0, 0, nil), (10, 100_000, 20, 0, 10),
            // A tenth of a small disk is enough.
            (100, 1000, 0, 500, nil), (99, 1000, 0, 500, 1), (100, 1000, 1, 500, 1),
            (Int64.max, Int64.max, Int64.max, 500, Int64.max), (Int64.max, Int64.max, 1, 500, nil),
            // Nobody knows.
            (0, 0, 1000, 500, nil),
        ] as [(Int64, Int64, Int64, Int64, Int64?)])
    func `case 36: what is missing is told from what is free, to come and to stay free`(
        free: Int64, size: Int64, toCome: Int64, wanted: Int64, missing: Int64?
    ) {
        #expect(DiskSpace(free: free, size: size).missing(for: toCome, leaving: wanted) == missing)
    }
}
