import BookSyncWeb
import Testing

@Suite struct ByteRangeTests {
    @Test(
        arguments: [
            ("bytes=0-499", 0, 500), ("bytes=500-999", 500, 1000), ("bytes=-500", 9500, 10000),
            ("bytes=9500-", 9500, 10000), ("bytes=0-0", 0, 1), ("bytes=-1", 9999, 10000),
            ("bytes=9999-9999", 9999, 10000),
            ("bytes=0-99999", 0, 10000), ("bytes=-99999", 0, 10000), ("BYTES=1-2", 1, 3), ("bytes = 1-2 ", 1, 3),
            ("bytes=,1-2,", 1, 3), ("bytes=5-99999999999999999999999", 5, 10000),
            ("bytes=-99999999999999999999999", 0, 10000), ("bytes=0-9223372036854775807", 0, 10000),
            ("bytes=0009-0010", 9, 11),
        ])
    func `one valid range is cut to what there is`(field: String, first: Int64, end: Int64) {
        #expect(ByteRange.asked(by: field, length: 10000) == .bytes(first..<end))
    }

    @Test(
        arguments: [
            "bytes=10000-", "bytes=10000-10001", "bytes=-0", "bytes=99999999999999999999999-",
            "bytes=9223372036854775807-9223372036854775807",
        ])
    func `a range beyond the end cannot be satisfied`(field: String) {
        #expect(ByteRange.asked(by: field, length: 10000) == .unsatisfiable)
    }

    @Test(
        arguments: [
            "", "bytes", "bytes=", "bytes=-", "bytes=,", "bytes=a-b", "bytes=1", "bytes=2-1", "bytes=1-2,5-6",
            "items=0-1",
            "bytes=+1-2", "bytes=1--2", "bytes=--2", "bytes=1- 2", "bytes=0x1-2", "bytes=１-２", "bytes:0-1", "=0-1",
            "=bytes=0-1", "bytes==0-1",
        ])
    func `what is no single range of bytes is ignored`(field: String) {
        #expect(ByteRange.asked(by: field, length: 10000) == .ignored)
    }

    @Test(
        arguments: [
            ("bytes=0-", ByteRange.unsatisfiable), ("bytes=0-0", .unsatisfiable), ("bytes=-0", .unsatisfiable),
            ("bytes=-5", .ignored),
        ])
    func `an empty file has no first byte`(field: String, answer: ByteRange) {
        #expect(ByteRange.asked(by: field, length: 0) == answer)
    }
}
