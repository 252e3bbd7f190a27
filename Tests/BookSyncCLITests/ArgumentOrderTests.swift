import Testing

@testable import BookSyncCLI

@Suite struct ArgumentOrderTests {
    @Test(arguments: [
        ("fetch 1", "fetch 1"), ("-q fetch 1", "fetch -q 1"), ("--json -v list", "list --json -v"),
        ("--library L fetch 1", "fetch --library L 1"), ("--library=L fetch 1", "fetch --library=L 1"),
        ("--config c.yaml --no-color config show --json", "config show --config c.yaml --no-color --json"),
        ("--config c.yaml trash list", "trash list --config c.yaml"), ("-q trash restore 1", "trash restore -q 1"),
        ("--json help fetch", "help fetch"), ("--json ftech 1", "ftech --json 1"),
        ("--json config", "config --json"), ("-q config --help", "config -q --help"),
        ("fetch --json 1 -q", "fetch --json 1 -q"), ("--library fetch list", "list --library fetch"),
        ("", ""), ("--json", ""), ("--json --help", "--help"), ("--library", "--library"),
        ("--unknown fetch", "--unknown fetch"), ("-q --unknown fetch", "--unknown fetch"),
    ])
    func `common options in front of a command move behind its name`(_ given: String, _ expected: String) {
        let words = given.split(separator: " ").map(String.init)
        let ordered = ArgumentOrder.withCommonOptionsBehindTheCommand(words)
        #expect(ordered.joined(separator: " ") == expected)
    }
}
