extension Wordings {
    /// Namings of sources and books, and why one cannot be used.
    static let chineseNaming: [String: String] = [
        "it has conditions on more than 6 fields": "它的条件涉及 6 个以上的字段",
        "{1} (where {2} is empty)": "{1}（{2} 为空时）",
        "nothing in its last part tells one episode from the next: it needs {section}, {name}, {filename} or {id}":
            "最后一段无法区分各集：需要 {section}、{name}、{filename} 或 {id}",
        "the condition {{1}? is not closed by a }": "条件 {{1}? 没有以 } 闭合",
        "the condition {{1}? stands within {{2}?, and conditions cannot be nested": "条件 {{1}? 在 {{2}? 之内，而条件不能嵌套",
        "the condition {{1}?} has no text": "条件 {{1}?} 没有内容",
        "the condition {{1}? takes no width": "条件 {{1}? 不能有宽度",
        "the naming of {1} cannot be read": "无法读取 {1} 的命名模板",
        "named {1}": "命名为 {1}",

        "Plan with this naming instead of all that are configured, to see what it would rename.":
            "用这个命名模板代替所有已配置的来做计划，看看它会改哪些名称。",
        "How to name its files, instead of as the configuration does.": "这本书的文件如何命名，代替配置中的命名模板。",
    ]
}
