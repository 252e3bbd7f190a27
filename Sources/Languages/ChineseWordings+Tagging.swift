extension Wordings {
    /// Tags in the audio files.
    static let chineseTagging: [String: String] = [
        "no tags are embedded (downloads.tags): ffmpeg is not installed": "没有写入标签（downloads.tags）：没有安装 ffmpeg",
        "tags are not embedded in all files: {1}": "没有给全部文件写入标签：{1}",
        "which files have tags cannot be read": "无法读取哪些文件已有标签",
        "Embed title, author, number and cover in the audio files.": "把标题、作者、集数和封面写入音频文件。",
        """
        Writes what the catalog says of them into MP3, MP4, Ogg, FLAC and Matroska files; needs ffmpeg. The audio is not \
        encoded anew, tags of other kinds stay, and --restore puts back what was fetched, byte for byte, without a download. \
        downloads.tags: embed has every run do it.
        """:
            "把目录中的信息写入 MP3、MP4、Ogg、FLAC 和 Matroska 文件；需要 ffmpeg。音频不重新编码，其他标签保留；--restore 逐字节恢复下载时的文件，无需再次下载。downloads.tags: embed 让每次运行都这样做。",
        "Print what would be written, and change nothing.": "只显示将要写入什么，不作任何改动。",
        "Put back what was fetched.": "恢复下载时的文件。",
        "Make files that have another name elsewhere (hard links) files of their own.":
            "把在别处另有名字的文件（硬链接）变成独立的文件。",
        "--dry-run and --restore exclude each other.": "--dry-run 与 --restore 不能同时使用。",
        "the files get no tags": "没有给文件写入标签", "{1} gets no tags": "没有给 {1} 写入标签",
        "{1} tagged, {2} unchanged, {3} left": "{1}已写入标签，{2} 个未变，{3} 个未动",
        "{1} restored, {2} unchanged, {3} left": "{1}已恢复，{2} 个未变，{3} 个未动",
        "{1} to tag, {2} unchanged, {3} left": "{1}待写入标签，{2} 个未变，{3} 个未动",
        "the records of {1} are updated: booksync wrote the tags after the copy of the store that is used":
            "已更新 {1} 的记录：所用的存储副本早于 booksync 写入的标签",

        "a file cannot be read": "无法读取文件", "a file cannot be written": "无法写入文件",
        "what it was cannot be made of it again": "无法由它还原出原来的文件",
        "it was changed since it was recorded": "它在记录之后被改动过",
        "booksync verify --accept takes it as it is": "booksync verify --accept 按现状接受它",
        "the same file has another name elsewhere": "同一个文件在别处另有名字",
        "--copy makes it a file of its own, and leaves the other as it is": "--copy 让它成为独立的文件，另一个保持原样",
        "its bytes are not those that were recorded": "它的内容与记录的不同",
        "booksync verify --repair fetches it again": "booksync verify --repair 会重新下载",
        "ffmpeg cannot keep {1} in a file of its kind": "ffmpeg 无法在这类文件中保留 {1}",
        "ffmpeg changes its audio when it copies it": "ffmpeg 复制时改变了它的音频",
        "{1} cannot be changed": "无法改动 {1}",
        "it is not there, or cannot be opened": "它不存在，或无法打开",
        "booksync does not write tags into files of its kind, {1}": "booksync 不给这类文件（{1}）写入标签",
    ]
}
