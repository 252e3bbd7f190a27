extension Wordings {
    /// What finding books in catalogs says.
    static let chineseFinding: [String: String] = [
        "Find books in catalogs by title and author, to subscribe to or to fetch.": "按书名和作者在各个目录里找书，然后订阅或下载。",
        """
        Asks the configured sources that can be searched, archive.org, LibriVox, Apple's podcasts and fyyd side by side, \
        and looks on the shelf; find.sources in the configuration names those that are asked without being \
        configured. The best come first, a work of several sources once. On a terminal the books are numbered: a \
        number subscribes, f and a number fetches, and until the next listing @3 is a REF of the third. With --next the \
        sources of the books on the shelf are asked for other books by their authors.
        """: """
        同时查询可以搜索的已配置来源、archive.org、LibriVox、Apple 播客和 fyyd，也查找书库；\
        配置中的 find.sources 指定无需配置就查询的目录。最合适的排在前面，几个来源都有的作品只列一次。\
        在终端里书有编号：输入编号订阅，f 加编号下载；在下一次列出之前，@3 表示第三本。加 --next 则向书架上各书的来源查询其作者的其他书。
        """,
        "Other parts and books by the authors on the shelf.": "书架上各位作者的其他部和其他书。",
        "--next takes no text and no --author: it is about those on the shelf.": "--next 不接受文字和 --author：它针对书架上的作者。",
        "no author can be asked for": "没有可以查询的作者",
        "no book on the shelf has an author and a source that can be searched": "书架上没有既有作者、来源又可搜索的书",
        "booksync find TEXT finds books by title": "booksync find 文字 可按书名查找",
        "What to look for in titles, authors and narrators.": "要在书名、作者和演播者中查找的文字。",
        "Ask only this source; may be repeated.": "只查询这个来源；可以重复。",
        "Books by this author first.": "这位作者的书排在前面。",
        "Only books in this language, as in zh or Chinese.": "只要这种语言的书，如 zh 或 Chinese。",
        "So many at most.": "最多列出多少本。",
        "--limit takes a number from 1 to {1}, not {2}.": "--limit 要从 1 到 {1} 的数，不能是 {2}。",
        "Say what to look for, as in: booksync find 兽医": "请说明要找什么，例如：booksync find 兽医",
        "--language takes a language, as in zh or Chinese, not '{1}'.": "--language 要一种语言，如 zh 或 Chinese，不能是“{1}”。",
        "Subscribe to which one? Its number, f and the number to fetch it, or Enter for none:":
            "订阅哪一本？输入编号；f 加编号则下载；直接回车不选：",
        "'{1}' names none of the books": "“{1}”不是其中任何一本", "they have the numbers from 1 to {1}": "编号从 1 到 {1}",
        "find them again, or name one by its REF": "请重新查找，或用 REF 指定一本",
        "language": "语言", "hours": "小时", "found in": "见于",
        "the answer has no list of items": "应答中没有条目列表", "the answer has no list of podcasts": "应答中没有播客列表",
        "read the list from its beginning": "请从头读取列表", "{1} cannot be searched": "无法搜索 {1}",
        "a catalog cannot be searched": "无法搜索一个目录",
        "'{1}' cannot be searched": "无法搜索“{1}”", "check the address of its search": "请检查其搜索地址",
        "its type has no search, or its search-url is not configured": "这类来源不能搜索，或没有配置 search-url",
        "no source has that name": "没有叫这个名字的来源", "name one of {1}": "请从中选择：{1}",
        "an address with {query} where the text goes": "一个地址，其中 {query} 代替要找的文字",
    ]
}
