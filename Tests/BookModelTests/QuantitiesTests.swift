import BookModel
import Testing

@Suite struct QuantitiesTests {
    @Test(
        arguments: [
            ("0", 0), ("123", 123), ("500M", 500_000_000), ("2G", 2_000_000_000), ("1.5k", 1500), ("64Ki", 65536),
            ("1 MiB", 1_048_576), ("10mb", 10_000_000), ("7B", 7), ("0.5", 1), ("1T", 1_000_000_000_000),
            ("9007199254740993", 9_007_199_254_740_993), ("9223372036854775807", Int64.max),
        ] as [(String, Int64)])
    func `bytes are read as people write them`(text: String, bytes: Int64) {
        #expect(parseByteCount(text) == bytes)
    }

    @Test(arguments: [
        "", "M", ".", "-5", "+5", "5X", "1e3", "1.2.3", "5 0", "0x10", "٣k", "nan", "inf", "10000000T", "1M ",
        "9223372036854775808",
    ])
    func `what is no number of bytes is refused`(text: String) {
        #expect(parseByteCount(text) == nil)
    }

    @Test(
        arguments: [
            ("10s", 10), ("50m", 3000), ("6h", 21600), ("250ms", 0.25), ("7d", 604_800), ("1w", 604_800), ("90", 90),
            ("1.5 h", 5400), ("0", 0), ("99999999999999999999w", 1e11),
        ] as [(String, Double)])
    func `spans of time are read as people write them`(text: String, seconds: Double) {
        #expect(parseSeconds(text) == seconds)
    }

    @Test(arguments: ["", "s", "-1s", "5 fortnights", "1h30m"])
    func `what is no span of time is refused`(text: String) {
        #expect(parseSeconds(text) == nil)
    }

    @Test(
        arguments: [
            (0, "0 B"), (640, "640 B"), (999, "999 B"), (1000, "1.0 kB"), (1049, "1.0 kB"), (1050, "1.1 kB"),
            (999_949, "999.9 kB"), (999_950, "1.0 MB"), (118_900_000, "118.9 MB"), (1_200_000_000, "1.2 GB"),
            (Int64.max, "9223.4 PB"), (-5, "-5 B"),
        ] as [(Int64, String)])
    func `bytes are told with one decimal`(bytes: Int64, text: String) {
        #expect(describeBytes(bytes) == text)
    }

    @Test(
        arguments: [
            (0, "0 s"), (0.4, "0 s"), (41, "41 s"), (59.6, "1 min"), (185, "3 min 5 s"), (3599.7, "1 h"),
            (7800, "2 h 10 min"), (-3, "0 s"), (.nan, "0 s"), (.infinity, "277777777 h 46 min"),
        ] as [(Double, String)])
    func `spans of time are told in two units`(seconds: Double, text: String) {
        #expect(describeSeconds(seconds) == text)
    }
}
