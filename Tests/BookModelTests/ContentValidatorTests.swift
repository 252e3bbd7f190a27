import BookModel
import Testing

@Suite struct ContentValidatorTests {
    private static let date = "Wed, 21 Oct 2026 07:28:00 GMT"

    @Test(
        arguments: [
            (ContentValidator(), nil),
            (ContentValidator(entityTag: "\"abc\""), "\"abc\""),
            (ContentValidator(entityTag: "\"abc\"", lastModified: date, age: 100), "\"abc\""),
            (ContentValidator(entityTag: "W/\"abc\""), nil),
            (ContentValidator(entityTag: "W/\"abc\"", lastModified: date, age: 100), date),
            (ContentValidator(entityTag: "W/\"abc\"", lastModified: date, age: 0), nil),
            (ContentValidator(lastModified: date, age: 1), date),
            (ContentValidator(lastModified: date, age: 0), nil),
            (ContentValidator(lastModified: date, age: -5), nil),
            (ContentValidator(lastModified: date), nil),
            (ContentValidator(entityTag: ""), nil),
            (ContentValidator(entityTag: "", lastModified: date, age: 60), date),
        ] as [(ContentValidator, String?)])
    func `If-Range carries a strong tag, else a strong time, else nothing`(
        validator: ContentValidator, field: String?
    ) {
        #expect(validator.ifRange == field)
    }
}
