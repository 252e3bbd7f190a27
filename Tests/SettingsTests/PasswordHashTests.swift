import BookModel
import Testing

@testable import Settings

@Suite struct PasswordHashTests {
    private static let salt = String(repeating: "A", count: 22)
    private static let hash = String(repeating: "A", count: 43)

    @Test func `a hash is read as it is written, and shown to nobody`() throws {
        let text = "$scrypt$ln=15,r=8,p=1$\(Self.salt)$\(Self.hash)"
        let hash = try #require(PasswordHash(parsing: text))
        #expect(hash.secretText == text && hash.salt.count == 16 && hash.hash.count == 32)
        #expect(hash.memory == 32 << 20)
        var dumped = ""
        dump(hash, to: &dumped)
        #expect(!(dumped + "\(hash)" + String(reflecting: hash)).contains("AAAA"))
    }

    @Test(arguments: [
        "", "secret password", "$scrypt$", "$2b$12$abcdefghijklmnopqrstuv",
        "$scrypt$ln=15,r=8,p=1$\(salt)", "$scrypt$ln=15,r=8,p=1$\(salt)$\(hash)$",
        " $scrypt$ln=15,r=8,p=1$\(salt)$\(hash)",
        "$scrypt$r=8,ln=15,p=1$\(salt)$\(hash)", "$scrypt$ln=015,r=8,p=1$\(salt)$\(hash)",
        "$scrypt$ln=+5,r=8,p=1$\(salt)$\(hash)", "$scrypt$ln=15,r=8,p=1$\(salt)==$\(hash)=",
        "$scrypt$ln=15,r=8,p=1$short$\(hash)", "$scrypt$ln=15,r=8,p=1$\(salt)$short",
        // The last bits of 43 characters must be nought, or one hash had several spellings.
        "$scrypt$ln=15,r=8,p=1$\(salt)$\(String(repeating: "A", count: 42))B",
        "$scrypt$ln=15,r=8,p=1$\(salt)$\(String(repeating: "A", count: 4000))",
    ])
    func `what is no hash is none`(_ text: String) {
        #expect(PasswordHash(parsing: text) == nil)
    }

    @Test(arguments: [
        (15, 8, 1, true), (16, 8, 1, true), (17, 4, 2, true), (14, 4, 1, true), (14, 16, 4, true),
        (20, 8, 1, false), (63, 8, 1, false), (99, 99, 99, false), (17, 8, 1, false), (17, 8, 4, false),
        (15, 8, 9, false), (15, 64, 1, false), (15, 0, 1, false), (15, 8, 0, false), (14, 1, 1, false),
        (1, 8, 1, false),
    ])
    func `costs are bounded, in memory and in time`(_ rounds: Int, _ size: Int, _ parallelism: Int, _ isGood: Bool) {
        let hash = PasswordHash(parsing: "$scrypt$ln=\(rounds),r=\(size),p=\(parallelism)$\(Self.salt)$\(Self.hash)")
        #expect((hash != nil) == isGood)
    }
}
