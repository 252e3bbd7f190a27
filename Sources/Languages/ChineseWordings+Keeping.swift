extension Wordings {
    /// What is said of episodes that are not kept on disk, and of the trash that they go to.
    static let chineseKeeping: [String: String] = [
        "{1}: beyond its keep rule these episodes stay: {2}{3}": "{1}：保留规则之外还留着这些分集：{2}{3}",
        "among the last by its date or its number alone": "只按日期或只按编号属于最新的",
        "one of the {1} newest files": "属于最新的 {1} 个文件", "you renamed or moved it": "你改过名或移动过",
        "no longer in the catalog": "目录中已没有",
        "'{1}' does not say what to keep": "“{1}”没有说明保留什么",
        "'{1}' is none of last 20, 30d and unheard": "“{1}”不是 last 20、30d 或 unheard 这样的写法",
        "write for example last 20, or last 20, unheard to keep what either of them keeps":
            "例如写 last 20；写 last 20, unheard 则保留符合其中任一条的",
        "'{1}' is not the whole title of a book": "“{1}”不是完整的书名",
        "what changes a library takes no less; it fits {1}": "改动书库的命令需要完整的书名；与它相符的是 {1}",
        "Do you mean this one? [1]": "是这一本吗？[1]",
        "expire": "过期",
        "trash": "回收站",
        "{1} ({2}), the first to go when the disk is full": "{1}（{2}），磁盘满时最先清理",
        "{1} to expire": "待清理 {1}",
        "{1} expired": "过期清理 {1}",
        "the disk is full: {1} deleted from the trash ({2})": "磁盘已满：已从回收站删除 {1}（{2}）",
        "nothing was deleted from the trash to make room: {1}": "未能从回收站腾出空间：{1}",
        "{1} of {2} expired and will be moved to the trash; booksync undo brings back what the run removed":
            "《{2}》有 {1}已过期，将移入回收站；booksync undo 可恢复本次移除的文件",
        "files that were removed long ago stay in the trash: {1}": "早先移除的文件仍留在回收站：{1}",
        "Keep only these on disk: last 20, 30d, unheard, or several; mirror moves the others to the trash.":
            "磁盘上只保留这些：last 20、30d、unheard，可同时写几条；mirror 把其余的移入回收站。",
        "Keep no more than so many bytes of it on disk, as in 5G.": "这本书在磁盘上最多占这么多字节，例如 5G。",
        "--max-size takes bytes, as in 5G, not '{1}'.": "--max-size 后面是字节数，例如 5G，而不是“{1}”。",
        "what was heard of {1} cannot be read": "无法读取 {1} 的收听记录",
        "a time such as 30d": "时长，例如 30d",
        "would move its file to the trash": "会把它的文件移入回收站",
        "removed; it is not fetched again": "已删除，不再下载",
        "removed, fetched because it is forced": "曾被删除，因 --force 重新下载",
        "not kept by its book's rule ({1})": "按本书的保留规则（{1}）不再保留",
    ]
}
