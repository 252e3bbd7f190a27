#if os(Linux)
    import Foundation
    import Support
    import Testing

    extension ProductTests {
        /// Where `demo` listens.
        @Suite struct DemoAddresses {
            @Test func `the address given is listened on, and one in use is 74`() async throws {
                // Whoever holds the port on one of the machine's addresses keeps it free on the others.
                try await withServer(.always(.notFound)) { server in
                    try await withWorkbench { bench in
                        let given = "127.0.0.3:\(server.port)"
                        try await withProduct(["demo", "--listen", given], in: bench.folder) { demo in
                            let address = try await demo.waitForOutput(containing: "http")
                            #expect(address == "http://\(given)")
                            try await demo.waitForErrors(containing: "Ctrl-C ends it")
                            let list = "\(address)/yyting/bookclient/ClientGetBookResource.action"
                            try bench.configure(
                                """
                                sources:
                                  there: { type: book-resource, url: "\(list)", allow-private-addresses: true }
                                """)
                            let fetched = try await bench.run("fetch", "40111/1", environment: bench.configured)
                            #expect(fetched.exitCode == 0, "\(fetched.errors)")
                            #expect(try bench.files().count == 1)

                            let second = try await bench.runBare(["demo", "--listen", given])
                            #expect(second.exitCode == 74)
                            #expect(second.output == "")
                            #expect(
                                second.errors.contains("cannot listen on \(given): Address already in use"),
                                "\(second.errors)")
                            #expect(second.errors.contains("--listen"))

                            demo.send(signal: SIGINT)
                            #expect(try await demo.result().exitCode == 130)
                        }
                    }
                }
            }

            @Test(arguments: ["127.0.0.1:0", "127.0.0.3:0", "0"])
            func `port 0 takes a free one, which is printed`(listen: String) async throws {
                try await withWorkbench { bench in
                    try await withProduct(["demo", "--listen", listen, "--json"], in: bench.folder) { demo in
                        let line = try await demo.waitForOutput(containing: "\"address\"")
                        let host = listen.hasPrefix("127.0.0.3") ? "127.0.0.3" : "127.0.0.1"
                        let port = try #require(
                            line.firstMatch(of: /http:\/\/([0-9.]+):(\d+)"/).flatMap { $0.1 == host ? Int($0.2) : nil },
                            "\(line)")
                        #expect(port > 0)
                        demo.send(signal: SIGTERM)
                        let result = try await demo.result()
                        #expect(result.exitCode == 143)
                        let document = try JSONObject(result.output)
                        #expect(document["address"] == "http://\(host):\(port)")
                        #expect(document["url"]?.hasPrefix("http://\(host):\(port)/") == true)
                        #expect(document["detail_url"]?.hasPrefix("http://\(host):\(port)/") == true)
                    }
                }
            }
        }
    }
#endif
