/// The configuration file as it was written, before anything is made of it: text, lists and maps with their lines.
struct SettingNode {
    enum Content {
        /// Nothing stands after the key, or `null`.
        case nothing
        case text(String)
        case list([SettingNode])
        case map([Entry])
    }

    struct Entry {
        let key: String
        let line: Int
        let value: SettingNode
    }

    let content: Content
    /// From 1 on.
    let line: Int
}
