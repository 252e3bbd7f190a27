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
let nioCore = Target.Dependency.product(name: "NIOCore", package: "swift-nio")
let nioPosix = Target.Dependency.product(name: "NIOPosix", package: "swift-nio")
let nioHTTP1 = Target.Dependency.product(name: "NIOHTTP1", package: "swift-nio")
let nioTLS = Target.Dependency.product(name: "NIOTLS", package: "swift-nio")
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

        module("BookModel", uses: ["CEmbeddedFiles", crypto], besides: ["Languages/Resources"]),
        module(
            "Transport", uses: ["BookModel", "CZlib", nioCore, nioPosix, nioHTTP1, nioTLS, nioSSL, logging]),
        module("CatalogFetcher", uses: ["BookModel", "Transport", "CLibXML2", nioCore, nioHTTP1, crypto]),
        module(
            "CatalogStore",
            uses: [
                "BookModel", .product(name: "GRDB", package: "GRDB.swift"),
                .product(name: "GRDBSQLite", package: "GRDB.swift"),
            ], besides: ["Schema.sql"]),
        module("SyncPlanner", uses: ["BookModel"]),
        module("LibraryFiles", uses: ["BookModel", "CFileSystem", crypto, logging]),
        module("AudioFiles", uses: ["BookModel", "CatalogStore", "LibraryFiles", subprocess, system, crypto]),
        module(
            "DownloadEngine",
            uses: ["BookModel", "Transport", "LibraryFiles", "CFileSystem", nioCore, nioHTTP1, crypto, heap, logging]),
        module(
            "Settings",
            uses: ["BookModel", "Transport", "CatalogFetcher", "LibraryFiles", "DownloadEngine", "Yams"]),
        module(
            "BookSync",
            uses: [
                "BookModel", "Transport", "CatalogFetcher", "CatalogStore", "SyncPlanner", "LibraryFiles",
                "AudioFiles", "DownloadEngine", "Settings",
                // For the user's own command, after a run.
                subprocess, system,
                nioCore, nioHTTP1, crypto, heap, logging,
            ]),
        module(
            "BookSyncWeb",
            uses: [
                "BookModel", "Transport", "CatalogFetcher", "CatalogStore", "LibraryFiles", "Settings", "BookSync",
                hummingbird, .product(name: "Mustache", package: "swift-mustache"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"), nioCore, nioPosix,
                nioHTTP1, nioSSL, "CZlib", crypto, cryptoExtras, logging,
            ], besides: ["Pages/Resources", "Api/Resources", "Demo/Melody.mp3"]),
        .executableTarget(
            name: "BookSyncCLI",
            dependencies: [
                "BookModel", "Transport", "CatalogFetcher", "LibraryFiles", "AudioFiles", "Settings", "BookSync",
                "BookSyncWeb", .product(name: "ArgumentParser", package: "swift-argument-parser"), logging,
            ],
            swiftSettings: counted, linkerSettings: linked),

        .target(
            name: "Support",
            dependencies: [
                "BookModel", "CatalogFetcher", "CZlib", nioCore, nioPosix, nioHTTP1, nioSSL, crypto, subprocess, system,
            ], path: "Tests/Support",
            swiftSettings: strict),
        tests(of: "BookModel"),
        tests(of: "Transport", uses: [nioCore, nioPosix, nioHTTP1, nioSSL, logging]),
        tests(of: "CatalogFetcher", uses: ["Transport", "CLibXML2", nioCore, nioPosix, nioHTTP1, logging]),
        tests(of: "CatalogStore", uses: [.product(name: "GRDB", package: "GRDB.swift")]),
        tests(of: "SyncPlanner"),
        tests(of: "AudioFiles"),
        // The engine is tested on the journal that it really keeps.
        tests(
            of: "DownloadEngine",
            uses: ["Transport", "BookSync", "CatalogStore", "LibraryFiles", nioCore, nioHTTP1, logging]),
        tests(of: "LibraryFiles", uses: ["DownloadEngine"]),
        tests(of: "Settings", uses: ["Transport", "CatalogFetcher", "LibraryFiles", logging]),
        tests(
            of: "BookSync",
            uses: [
                "Transport", "CatalogFetcher", "CatalogStore", "SyncPlanner", "DownloadEngine", "LibraryFiles",
                "Settings", "CFileSystem", crypto, logging,
            ]),
        tests(of: "BookSyncWeb", uses: ["LibraryFiles", "Settings", "BookSync", hummingbird]),
        tests(of: "BookSyncCLI", uses: ["LibraryFiles", "Settings", "BookSync", "BookSyncWeb", hummingbird]),
    ] + tools,
    swiftLanguageModes: [.v6]
)
