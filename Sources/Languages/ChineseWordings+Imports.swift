extension Wordings {
    /// What is said where another program's records are taken over.
    static let chineseImports: [String: String] = [
        "Take over what another program fetched, so that it is not fetched again.": "接管其他程序已经下载的内容，不再重复下载。",
        """
        gpodder, audiobookshelf and castget know their feeds: each is subscribed to, and its files are taken \
        into the library. The archives of yt-dlp and podcast-dl do not: name the books, or have them \
        subscribed to before. What was fetched and has no file any more is not fetched again; remove --forget \
        takes that back. Nothing of the other program is changed, but for files that --move takes away.
        """: """
        gpodder、audiobookshelf 和 castget 知道自己的订阅源：每个都会被订阅，文件收入书库。yt-dlp 和 podcast-dl 的存档里没有订阅源：\
        请写明是哪些书，或先订阅。下载过而文件已不在的，不会再下载；remove --forget 可以取消。其他程序的数据不会改动，\
        只有 --move 会移走文件。
        """,
        "The program.": "程序。",
        "Its records: an archive file, a database, .castgetrc, or the folder that holds it.":
            "它的记录：存档文件、数据库、.castgetrc，或所在的文件夹。",
        "Take over this book alone; repeat it for several.": "只接管这本书；可重复使用。",
        "Where its files are, if not where it says.": "文件所在的文件夹，如果不在它记录的位置。",
        "Subscribe to nothing.": "不添加订阅。",
        "Print what would be taken over and change nothing.": "只显示将要接管的内容，不做任何改动。",
        "{1} fetched before and not fetched again": "{1} 集以前下载过，不再下载",
        "{1} no longer listed by the catalog": "{1} 集目录已不再列出",
        "nothing to take over": "没有可接管的内容", "{1} keeps its records where you chose": "{1} 的记录在你自己选定的位置",
        "name the file": "请写明文件", "{1} {2}: not taken over": "{1} {2}：未接管", "{1}, subscribed": "{1}，已订阅",
        "{1} cannot be read as the other program's database": "{1} 无法作为该程序的数据库读取",
        "name the database itself, or a copy of it": "请写明数据库本身或它的副本",
        "{1} of Audiobookshelf without a feed: booksync adopt takes their folders over":
            "Audiobookshelf 中有 {1}没有订阅源：可用 booksync adopt 收录它们的文件夹",
        "{1} does not say of which feeds it is, and nothing is subscribed to": "{1} 没有注明属于哪些订阅源，而且没有任何订阅",
        "name them with --book": "请用 --book 写明",
        "{1} ({2}) is left out: it is no address of the web": "已略过 {1}（{2}）：不是网址",
        "{1} is not taken over": "{1} 未被接管", "{1} knows no feed of that address": "{1} 里没有这个地址的订阅源",
        "name no book for all that it knows": "不写书则接管全部", "it is no JSON array": "它不是 JSON 数组",
        "{1} cannot be read as an archive of podcast-dl": "{1} 无法作为 podcast-dl 的存档读取",
        "name the file that its --archive wrote": "请写明其 --archive 写出的文件", "{1} cannot be taken over": "无法接管 {1} 的内容",
        "name the file that holds its records": "请写明保存其记录的文件",
        "another program recorded it as this episode's": "另一个程序的记录说它是这一集", "record": "记录",
    ]
}
