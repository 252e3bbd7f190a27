extension Wordings {
    /// What `explain` says of an episode.
    static let chineseExplanation: [String: String] = [
        " and its guid {1}": "，guid 是 {1}",
        "Its id is {1}{2}; a new title or address does not matter": "这一集的编号是 {1}{2}；标题或地址改变不影响识别",
        "Its id is {1}, the path of its file in the directory; under another name the file is recognised by its exact size and time":
            "这一集的编号是 {1}，即它在目录中的路径；文件改名后，凭完全相同的大小和时间识别",
        "The catalog no longer lists it": "目录不再列出它", "no size": "没有大小", "{1} ({2} bytes)": "{1}（{2} 字节）",
        "published {1}": "发布于 {1}", "changed {1}": "修改于 {1}", " (the listing last changed on {1})": "（目录最近一次变化是 {1}）",
        "at {1}": "地址 {1}",
        "without an address, so it is locked": "没有地址，因此未开放", "The catalog lists it {1}{2}: {3}": "目录列出它：{1}{2}；{3}",
        "The last listing of the book broke off, so this may be out of date": "上次读取这本书的列表中断，因此这些信息可能已过时",
        "Nothing of it is on disk": "本地没有这一集的文件", " of {1}": "（共 {1}）",
        "Its file is in the trash: booksync trash restore {1} brings it back":
            "它的文件在回收站：booksync trash restore {1} 可恢复",
        "A partial file holds {1}{2}": "未完成的文件中已有 {1}{2}",
        "The naming leaves that name alone: you gave it, or took its renaming back": "这个名称是你起的，或者你撤销过对它的重命名，命名模板不会改它",
        "Of a new version {1} are here": "新版本已收到 {1}",
        "Its file is {1}, behind a symbolic link that booksync does not follow": "它的文件是 {1}，在符号链接之后，booksync 不跟随链接",
        "Its file was {1}, and nothing stands there now": "它的文件曾是 {1}，现在那里什么也没有",
        "Its file was {1}, where {2} stands now": "它的文件曾是 {1}，现在那里是{2}",
        "Its file {1} had {2} bytes when it was fetched and has {3} now": "它的文件 {1} 下载时有 {2} 字节，现在有 {3} 字节",
        "On disk it is {1}, {2} as recorded": "磁盘上是 {1}，大小 {2}，与记录一致",
        "On disk it is {1}, {2} as recorded, touched since then": "磁盘上是 {1}，大小 {2}，与记录一致，之后修改时间有变",
        "a digest that the catalog or the server gave fitted": "与目录或服务器给出的校验和一致",
        "its length matches the one that the server declared ({1} bytes), and not the catalog's ({2} bytes)":
            "长度与服务器声明的 {1} 字节一致，与目录所说的 {2} 字节不同",
        "its length matches the one that the server declared": "长度与服务器声明的一致",
        "its length matches the declared one": "长度与声明的一致", "there was no checksum to compare with": "没有可比较的校验和",
        "fetched from {1}": "从 {1} 下载", "fetched or recognised": "下载或识别", "It was {1} on {2}; {3}": "它于 {2} {1}；{3}",
        "booksync verify last found it right on {1}": "booksync verify 上次于 {1} 确认它完好",
        "booksync verify has not read it since": "此后 booksync verify 还没有读过它",
        "{1}: it is not fetched again unless fetch --force says so, or remove --forget takes that back":
            "{1}：不会再下载，除非用 fetch --force，或用 remove --forget 取消",
        "It was removed on {1}": "它于 {1} 被删除",
        "It was removed on {1} by the rule that says which of the book's episodes stay": "它于 {1} 按本书的保留规则被删除",
        "Its file was found deleted on {1}": "{1} 发现它的文件已被删除",
        "Another program had fetched it, as its records said on {1}, and no file of it was found":
            "据 {1} 读到的记录，另一个程序已下载过它，但没有找到文件",
        "{1}: a run is fetching it now": "{1}：正在下载", "A run that fetched it was cut off": "下载它的运行中断了",
        "Its transfer is paused (booksync resume lets it go on)": "它的下载已暂停（booksync resume 可继续）",
        "Its transfer was cancelled; what it had brought is dropped": "它的下载已取消，收到的部分已丢弃",
        "It was put off, because: {1}": "它被推迟，原因：{1}",
        "It failed once, the last time because: {1}": "它失败过 1 次，原因：{1}",
        "It failed in {1} runs, the last time because: {2}": "它在 {1} 次运行中失败，最近一次的原因：{2}",
        "It is not tried again before {1}, and longer after each run in which it fails, up to a week; --force tries it at once":
            "{1} 之前不再尝试，每失败一次间隔更长，最长一周；用 --force 可立即尝试",
        "the next mirror": "下次 mirror", "the mirror that is under way": "正在运行的 mirror",
        "The run that is under way does so if it was started for it, as booksync queue shows":
            "如果正在进行的运行就是为此启动的，它会这样做，booksync queue 可查看",
        "mirror does not follow the book; booksync fetch": "mirror 没有订阅这本书；booksync fetch",
        "{1}: {2} would skip it": "{1}：{2}会跳过它", "would fetch it{1} to {2}": "会把它下载到 {2}{1}",
        "would fetch the rest of it{1} to {2}": "会把余下的部分下载到 {2}{1}",
        "would fetch its new version{1} and put it in the place of {2}": "会下载新版本{1}并替换 {2}",
        "would rename {1} to {2}": "会把 {1} 改名为 {2}", "would record the file {1} as its": "会把文件 {1} 记录为它的文件",
        "nothing to do: {1}": "无需操作：{1}", "would not fetch it": "不会下载它",
        "{1}.": "{1}。",
        " ": "",
    ]
}
