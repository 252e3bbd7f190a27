extension Wordings {
    /// Lists of books that are followed.
    static let chineseCollections: [String: String] = [
        "its pages have no end": "它的分页没有尽头",
        "the list of {1} cannot be read": "无法读取 {1} 的书单",
        "check the collection's address; its books stay followed as they are": "请检查书单的地址；其中的书照旧跟踪",
        "{1} cannot be followed": "无法订阅 {1}",
        "its source has no such list of books": "它的来源没有这样的书单",
        "write archive:collection:NAME, archive:search:QUERY, librivox:author:NAME, librivox:language:NAME, opds:feed:ADDRESS, feed:opml:ADDRESS or SOURCE:library:ID":
            "请写 archive:collection:名称、archive:search:查询、librivox:author:作者、librivox:language:语言、opds:feed:地址、feed:opml:地址 或 来源:library:ID",
        "it lists too many feeds": "它列出的订阅源太多",
        "--language, --min-hours and --max-books choose among the books of a list, and it is one book":
            "--language、--min-hours 和 --max-books 用于从书单中挑选，而它是一本书",
        "--only, --latest and --title are for one book, and it is a list of books":
            "--only、--latest 和 --title 用于一本书，而它是一份书单",
        "leave them out": "请去掉它们",
        "leave them out; --match, --exclude and --since choose among its books":
            "请去掉它们；--match、--exclude 和 --since 可从中挑选",
        "it is a list of books": "它是一份书单",
        "subscribe to it, and booksync mirror fetches its books": "请订阅它，booksync mirror 会下载其中的书",
        "{1} and {2} of unknown size": "{1}，另有大小未知的 {2}",
        "{1} h": "{1} 小时",
        "{1} may be written to the library's disk": "书库所在磁盘还可写入 {1}",
        "only {1} may be written to the library's disk": "书库所在磁盘只能再写入 {1}",
        "{1} cannot be fetched": "无法下载 {1}",
        "{1} new": "{1} 本新书",
        "{1} no longer listed, and kept ({2})": "{1} 本已不在书单中，保留（{2}）",
        "the catalog says that there are {1}": "目录称共有 {1} 本",
        "Of a list: only books in this language, as in zh or Chinese.": "书单：只要这种语言的书，如 zh 或 Chinese。",
        "Of a list: no books that are known to play for less.": "书单：不要已知短于这么久的书。",
        "Of a list: the first N books.": "书单：只要前 N 本。",
        "--min-hours takes hours above 0, not {1}.": "--min-hours 接受大于 0 的小时数，不能是 {1}。",
        "--max-books takes a number from 1 on, not {1}.": "--max-books 接受从 1 开始的数字，不能是 {1}。",
        "in {1}": "语言 {1}", "of {1} h at least": "至少 {1} 小时",
        "the listing of {1} cannot be recorded": "无法记录 {1} 的书单",
        "the books of {1} cannot be read": "无法读取 {1} 中的书",
        "the books of a collection cannot be noted": "无法记录书单中的书",
        "the books of the collections cannot be read": "无法读取书单中的书",
        "the collections cannot be read": "无法读取书单",
        "a language such as zh or Chinese": "语言，如 zh 或 Chinese", "hours such as 2 or 0.5": "小时数，如 2 或 0.5",
    ]
}
