import BookModel
import Foundation
import Testing

@testable import BookSyncWeb

/// That nothing can be asked for that is not described.
@Suite struct DescriptionListTests {
    private func document() throws -> [String: Any] {
        let data = Data(EmbeddedFile.bytes("openapi.json"))
        return try #require(try JSONSerialization.jsonObject(with: data) as? [String: Any])
    }

    @Test(arguments: ShelfAction.allCases)
    func `an action is described with all that it takes`(_ action: ShelfAction) throws {
        let document = try document()
        let paths = try #require(document["paths"] as? [String: [String: [String: Any]]])
        let operation = try #require(paths["/\(action.rawValue)"]?["post"])
        let body = try #require(operation["requestBody"] as? [String: Any])
        let content = try #require(body["content"] as? [String: [String: [String: String]]])
        let name = try #require(content["application/json"]?["schema"]?["$ref"]).split(separator: "/").last
        let components = try #require(document["components"] as? [String: Any])
        let schemas = try #require(components["schemas"] as? [String: [String: Any]])
        let schema = try #require(schemas[String(name ?? "")])
        let known = (schema["properties"] as? [String: Any] ?? [:]).keys
        #expect(Set(known) == Set(action.arguments.map(\.rawValue)))
        #expect(schema["additionalProperties"] as? Bool == false)
    }
}
