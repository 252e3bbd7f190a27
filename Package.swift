// swift-tools-version: 6.1
import PackageDescription

/// Whether the targets of the program count what of them runs (CI sets it; `.ci/coverage` reads the counts). It changes nothing
/// else, so that one build serves the tests and their coverage.
let countsCoverage = Context.environment["BOOKSYNC_COVERAGE"] != nil

/// What every target of ours is compiled with: Swift 6 concurrency checks, explicit existentials, members visible
/// only through a module that the file itself imports, and no warning left standing.
let strict: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .unsafeFlags(["-warnings-as-errors"]),
]
/// What the targets of the program are compiled with.
let counted: [SwiftSetting] =
    strict + (countsCoverage ? [.unsafeFlags(["-profile-generate", "-profile-coverage-mapping"])] : [])
/// What every executable of ours, and the tests, are linked with.
let linked: [LinkerSetting] = countsCoverage ? [.unsafeFlags(["-profile-generate"])] : []

let crypto = Target.Dependency.product(name: "Crypto", package: "swift-crypto")
let cryptoExtras = Target.Dependency.product(name: "CryptoExtras", package: "swift-crypto")
let logging = Target.Dependency.product(name: "Logging", package: "swift-log")
let asyncHTTPClient = Target.Dependency.product(name: "AsyncHTTPClient", package: "async-http-client")
let nioCore = Target.Dependency.product(name: "NIOCore", package: "swift-nio")
let nioPosix = Target.Dependency.product(name: "NIOPosix", package: "swift-nio")
let nioHTTP1 = Target.Dependency.product(name: "NIOHTTP1", package: "swift-nio")
let nioSSL = Target.Dependency.product(name: "NIOSSL", package: "swift-nio-ssl")
let hummingbird = Target.Dependency.product(name: "Hummingbird", package: "hummingbird")

let heap = Target.Dependency.product(name: "HeapModule", package: "swift-collections")
let subprocess = Target.Dependency.product(name: "Subprocess", package: "swift-subprocess")
let system = Target.Dependency.product(
    name: "SystemPackage", package: "swift-system", condition: .when(platforms: [.linux]))

/// A target of the program; it may use only what is listed here (see Architecture in the documentation).
/// - Parameter files: not compiled; `CEmbeddedFiles` embeds them.
func module(_ name: String, uses dependencies: [Target.Dependency] = [], besides files: [String] = []) -> Target {
    .target(name: name, dependencies: dependencies, exclude: files, swiftSettings: counted)
}

func tests(of name: String, uses dependencies: [Target.Dependency] = []) -> Target {
    .testTarget(
        name: name + "Tests",
        dependencies: (name == "BookModel" ? [] : ["BookModel"]) + [.target(name: name), "Support"] + dependencies,
        swiftSettings: strict, linkerSettings: linked)
}

/// Benchmarks and fuzzers, which tests do not need: `BOOKSYNC_TOOLS=1 swift run …` builds them.
let tools: [Target] =
    Context.environment["BOOKSYNC_TOOLS"] == nil
    ? []
    : [
        .executableTarget(
            name: "Benchmarks", dependencies: ["BookModel", "CatalogFetcher", "CatalogStore", "Support"],
            path: "Tests/Benchmarks", swiftSettings: strict, linkerSettings: linked),
        .executableTarget(
            name: "Fuzz", dependencies: ["BookModel", "CatalogFetcher", "Support"], path: "Tests/Fuzz",
            swiftSettings: strict, linkerSettings: linked),
    ]

let package = Package(
    name: "booksync",
    platforms: [.macOS(.v15)],
    products: [
        .executable(name: "booksync", targets: ["BookSyncCLI"])
    ],
    dependencies: [
        .package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0"),
        .package(url: "https://github.com/swift-server/async-http-client", from: "1.37.0"),
        .package(url: "https://github.com/apple/swift-nio", from: "2.101.2"),
        .package(url: "https://github.com/apple/swift-nio-ssl", from: "2.37.6"),
        .package(url: "https://github.com/apple/swift-crypto", from: "4.5.2"),
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
        .package(url: "https://github.com/apple/swift-collections", from: "1.6.0"),
        .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
        .package(url: "https://github.com/jpsim/Yams", from: "6.2.2"),
        .package(url: "https://github.com/hummingbird-project/hummingbird", from: "2.28.1"),
        .package(url: "https://github.com/hummingbird-project/swift-mustache", from: "2.1.1"),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.13.0"),
        .package(url: "https://github.com/swiftlang/swift-docc-plugin", from: "1.5.0"),
        .package(url: "https://github.com/swiftlang/swift-subprocess", from: "1.0.2"),
        .package(url: "https://github.com/apple/swift-system", from: "1.8.1"),
    ],
    targets: [
        .systemLibrary(
            name: "CLibXML2", pkgConfig: "libxml-2.0",
            providers: [.apt(["libxml2-dev"]), .yum(["libxml2-devel"]), .brew(["libxml2"])]),

        .systemLibrary(
            name: "CZlib", pkgConfig: "zlib",
            providers: [.apt(["zlib1g-dev"]), .yum(["zlib-devel"]), .brew(["zlib"])]),

        .systemLibrary(name: "CFileSystem"),

        // `embedInCode` would make Swift literals of these files, which take minutes to compile.
        .target(name: "CEmbeddedFiles"),

        module("BookModel", uses: ["CEmbeddedFiles", crypto]),
        module("Languages", uses: ["BookModel"], besides: ["Resources"]),
        module(
            "Transport", uses: ["BookModel", "CZlib", asyncHTTPClient, nioCore, nioPosix, nioHTTP1, nioSSL, logging]),
        module("TextParsing", uses: ["BookModel", "Transport", "CLibXML2"]),
        module(
            "CatalogFetcher",
            uses: ["BookModel", "Transport", "TextParsing", "CLibXML2", nioCore, nioHTTP1, crypto]),
        module(
            "CatalogStore",
            uses: [
                "BookModel", .product(name: "GRDB", package: "GRDB.swift"),
                .product(name: "GRDBSQLite", package: "GRDB.swift"),
            ], besides: ["Schema.sql"]),
        module("SyncPlanner", uses: ["BookModel"]),
        module("LibraryFiles", uses: ["BookModel", "SyncPlanner", "CFileSystem", crypto, logging]),
        module("MediaProbe", uses: ["BookModel", "LibraryFiles", subprocess, system]),
        module(
            "LibraryMedia",
            uses: ["BookModel", "CatalogStore", "LibraryFiles", "MediaProbe", crypto]),
        module(
            "DownloadEngine",
            uses: ["BookModel", "Transport", "LibraryFiles", nioCore, nioHTTP1, crypto, heap, logging]),
        module(
            "Settings",
            uses: [
                "BookModel", "Languages", "TextParsing", "Transport", "CatalogFetcher", "LibraryFiles",
                "DownloadEngine", "Yams",
            ]),
        module(
            "ShelfQueries",
            uses: [
                "BookModel", "Transport", "CatalogFetcher", "CatalogStore", "SyncPlanner", "LibraryFiles",
                "DownloadEngine", "Settings", crypto, logging,
            ]),
        module(
            "CatalogSearch",
            uses: [
                "BookModel", "Transport", "TextParsing", "CatalogFetcher", "CatalogStore", "Settings", "ShelfQueries",
                nioCore, logging,
            ]),
        module(
            "BookSync",
            uses: [
                "BookModel", "Transport", "CatalogFetcher", "CatalogStore", "SyncPlanner", "LibraryFiles",
                "LibraryMedia", "MediaProbe", "DownloadEngine", "Settings", "ShelfQueries",
                // For the user's own command, after a run.
                subprocess, system,
                crypto, heap, logging,
            ]),
        module(
            "Libraries",
            uses: [
                "BookModel", "CatalogStore", "LibraryFiles", "LibraryMedia", "DownloadEngine", "Settings",
                "ShelfQueries", "BookSync",
            ]),
        module(
            "Verification",
            uses: [
                "BookModel", "CatalogStore", "SyncPlanner", "LibraryFiles", "LibraryMedia", "MediaProbe",
                "DownloadEngine", "Settings", "ShelfQueries", "BookSync", logging,
            ]),
        module(
            "OtherPrograms",
            uses: [
                "BookModel", "TextParsing", "CatalogFetcher", "CatalogStore", "SyncPlanner", "LibraryFiles", "Settings",
                "ShelfQueries", "CatalogSearch", "BookSync", logging,
            ]),
        module(
            "BookCollections",
            uses: [
                "BookModel", "Transport", "LibraryFiles", "CatalogFetcher", "CatalogStore", "SyncPlanner", "Settings",
                "CatalogSearch", "BookSync", logging,
            ]),
        module(
            "ShelfService",
            uses: [
                "BookModel", "Transport", "CatalogFetcher", "CatalogStore", "LibraryFiles", "MediaProbe",
                "LibraryMedia",
                "Settings",
                "ShelfQueries", "CatalogSearch", "BookSync", "BookCollections", nioHTTP1,
                logging,
            ]),
        module(
            "DemoCatalog", uses: ["BookModel", "BookSyncWeb", hummingbird, crypto, nioCore, logging],
            besides: ["Melody.mp3"]),
        module(
            "WebAccess",
            uses: [
                "BookModel", "CatalogStore", "LibraryFiles", "Settings", "ShelfQueries", "BookSync", hummingbird,
                crypto,
                cryptoExtras, logging,
            ]),
        module(
            "BookSyncWeb",
            uses: [
                "BookModel", "Languages", "TextParsing", "Transport", "CatalogFetcher", "LibraryFiles", "Settings",
                "ShelfQueries", "CatalogSearch", "BookSync", "BookCollections", "OtherPrograms", "ShelfService",
                "WebAccess",
                hummingbird, .product(name: "Mustache", package: "swift-mustache"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"), nioCore, nioHTTP1,
                nioSSL, "CZlib", crypto, logging,
            ], besides: ["Pages/Resources", "Api/Resources"]),
        module("Terminal", uses: ["BookModel", "Languages", "TextParsing", "LibraryFiles", "BookSync"]),
        .executableTarget(
            name: "BookSyncCLI",
            dependencies: [
                "BookModel", "Languages", "TextParsing", "Transport", "CatalogFetcher", "LibraryFiles", "LibraryMedia",
                "MediaProbe", "Settings", "ShelfQueries", "CatalogSearch", "BookSync", "BookCollections",
                "Libraries", "Verification", "OtherPrograms", "ShelfService", "DemoCatalog", "WebAccess", "BookSyncWeb",
                "Terminal",
                .product(name: "ArgumentParser", package: "swift-argument-parser"), logging,
            ],
            swiftSettings: counted, linkerSettings: linked),

        .target(
            name: "Support",
            dependencies: [
                "BookModel", "TextParsing", "CZlib", nioCore, nioPosix, nioHTTP1, nioSSL, crypto,
                subprocess, system,
            ], path: "Tests/Support",
            swiftSettings: strict),
        tests(of: "BookModel"),
        tests(of: "Languages"),
        tests(of: "Transport", uses: [nioCore, nioPosix, nioHTTP1, nioSSL, logging]),
        tests(of: "TextParsing"),
        tests(
            of: "CatalogFetcher", uses: ["TextParsing", "Transport", "CLibXML2", nioCore, nioPosix, nioHTTP1, logging]),
        tests(of: "CatalogStore", uses: [.product(name: "GRDB", package: "GRDB.swift")]),
        tests(of: "SyncPlanner"),
        tests(of: "MediaProbe"),
        // The engine is tested on the journal that it really keeps.
        tests(
            of: "DownloadEngine",
            uses: ["Transport", "BookSync", "CatalogStore", "LibraryFiles", nioCore, nioHTTP1, logging]),
        tests(of: "LibraryFiles", uses: ["DownloadEngine"]),
        tests(of: "Settings", uses: ["Transport", "CatalogFetcher", "LibraryFiles", logging]),
        tests(of: "ShelfQueries", uses: ["CatalogFetcher", "CatalogStore", "LibraryFiles", "Settings"]),
        tests(
            of: "CatalogSearch", uses: ["Transport", "TextParsing", "CatalogFetcher", "Settings", crypto, logging]),
        tests(
            of: "BookSync",
            uses: [
                "Transport", "CatalogFetcher", "CatalogStore", "DownloadEngine", "LibraryFiles", "Settings",
                "ShelfQueries", "Verification", "ShelfService", "CFileSystem", logging,
            ]),
        tests(
            of: "Libraries",
            uses: [
                "CatalogStore", "DownloadEngine", "LibraryFiles", "Settings", "ShelfQueries", "BookSync",
            ]),
        tests(of: "Verification", uses: ["LibraryFiles", "BookSync"]),
        tests(of: "OtherPrograms", uses: ["SyncPlanner"]),
        tests(
            of: "ShelfService",
            uses: ["CatalogStore", "LibraryFiles", "Settings", "ShelfQueries", "BookSync", logging]),
        tests(of: "WebAccess"),
        tests(of: "Terminal", uses: ["Languages", "BookSync"]),
        tests(of: "DemoCatalog", uses: ["BookSyncWeb", asyncHTTPClient]),
        tests(
            of: "BookSyncWeb",
            uses: [
                "Languages", "LibraryFiles", "Settings", "ShelfQueries", "ShelfService", "BookSync", "DemoCatalog",
                asyncHTTPClient, hummingbird,
            ]),
        tests(
            of: "BookSyncCLI",
            uses: [
                "Languages", "LibraryFiles", "Settings", "ShelfQueries", "ShelfService", "BookSync", "BookSyncWeb",
                "DemoCatalog", hummingbird,
            ]),
    ] + tools,
    swiftLanguageModes: [.v6]
)
