/// What a browser is called by those who use it: `Firefox, Android`.
enum DeviceName {
    /// Browsers that name others beside themselves come first.
    private static let browsers = [
        ("Edg", "Edge"), ("OPR/", "Opera"), ("SamsungBrowser/", "Samsung Internet"), ("FxiOS/", "Firefox"),
        ("Firefox/", "Firefox"), ("CriOS/", "Chrome"), ("Chrome/", "Chrome"), ("Safari/", "Safari"),
    ]
    private static let systems = [
        ("Android", "Android"), ("iPhone", "iPhone"), ("iPad", "iPad"), ("CrOS", "ChromeOS"), ("Windows", "Windows"),
        ("Macintosh", "Mac"), ("Linux", "Linux"),
    ]

    /// - Parameter userAgent: RFC 9110 §10.1.5.
    /// - Returns: nil for what is no browser that one knows.
    static func name(ofUserAgent userAgent: String) -> String? {
        func first(_ names: [(String, String)]) -> String? { names.first { userAgent.contains($0.0) }?.1 }
        guard let browser = first(browsers) else { return nil }
        return [browser, first(systems)].compactMap(\.self).joined(separator: ", ")
    }
}
