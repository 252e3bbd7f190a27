extension Wordings {
    /// What exports, lists of subscriptions and names of books say.
    static let chineseExports: [String: String] = [
        "the address of {1} is not exported: it holds a secret, or only the configuration has it":
            "没有导出 {1} 的地址：它含有机密，或只写在配置中",
        "nothing of {1} is on disk": "{1} 没有已下载的文件", "give each book a folder": "请给每本书单独的文件夹",
        "it is {1}'s, which shares the folder": "它属于 {1}，两本书共用这个文件夹",
        "a folder or a link stands there": "那里是文件夹或链接", "booksync did not write it": "它不是 booksync 写的",
        "it was changed since booksync wrote it": "booksync 写入之后它有改动",
        "delete it, or run booksync export --force to overwrite it": "请将它删除，或运行 booksync export --force 覆盖",
        "{1} is left as it is": "{1} 保持原样",
        "run booksync export cover --force to replace it": "运行 booksync export cover --force 可将它替换",
        "the catalog names no cover of {1}": "目录没有给出 {1} 的封面", "the cover of {1} cannot be had": "无法取得 {1} 的封面",
        "its address has secrets in it, which are not kept": "它的地址中含有敏感信息，不会保存",
        "add cover to downloads.export in the configuration, and run booksync fetch":
            "请在配置的 downloads.export 中加入 cover，再运行 booksync fetch",
        "the answer is no picture": "应答不是图片", "{1} books do not go into one {2}": "{1} 本书不能写进同一个 {2}",
        "each has one of its own": "每本书各有一个",
        "name one book, or a folder with --output": "请只指定一本书，或用 --output 指定文件夹",
        "the folder {1} cannot be made": "无法建立文件夹 {1}", "name another one with --output": "请用 --output 指定别的文件夹",
        "an XML document cannot be written": "无法写出 XML 文档", "libxml2 refuses a part of it": "libxml2 不接受其中一部分",

        "{1} points to another list, which is not read: {2}{3}": "{1} 指向另一个列表，未读取：{2}{3}",
        "{1} names a page and no feed of it: {2}{3}": "{1} 给出的是网页，不是订阅源：{2}{3}",
        "{1} ends in the middle: what was behind that is missing": "{1} 中途结束：后面的内容缺失",
        "{1} holds more than {2} feeds: those behind them were left out": "{1} 的订阅源超过 {2} 个：其后的略过",
        "'{1}' cannot be subscribed to": "无法订阅“{1}”", "{1} is no address of the web": "{1} 不是网址",
        "look for the feed's http or https address": "请找到订阅源的 http 或 https 地址",
        "mirror does not follow it": "没有订阅它",
        "{1} cannot be exported as a subscription": "无法把 {1} 作为订阅导出",
        "booksync subscriptions lists what is followed": "booksync subscriptions 列出已有的订阅",
        "{1} cannot be read as OPML": "{1} 不能作为 OPML 读取", "it begins with '{1}'": "它的开头是“{1}”", "it is empty": "它是空的",
        "name a file that another program exported its subscriptions to": "请指定由其他程序导出订阅的文件",
        "the list": "列表", "standard input": "标准输入", "{1} cannot be subscribed to": "无法订阅 {1}",
        "its address holds a secret, and secrets of directories are not recorded": "它的地址中含有敏感信息，而目录的敏感信息不会记录",
        "write the whole address as the url of a source of type directory, with the secret from the environment":
            "请把完整地址写成类型为 directory 的来源的 url，其中的密钥取自环境变量",
        "{1}:{2} cannot be the name of a book": "{1}:{2} 不能作书号",
        "the address holds a secret, and names of books are shown and stored": "地址中含有敏感信息，而书号会显示和保存",
        "write the address alone, without '{1}:' before it": "请只写地址，前面不要加“{1}:”",
    ]
}
