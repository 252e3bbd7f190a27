extension Wordings {
    /// One file of a book's episodes.
    static let chineseJoining: [String: String] = [
        "Make one file of a book's episodes.": "把一本书的各集合成一个文件。",
        """
        The audio is copied where codec, sample rate and channels of all episodes agree and the format takes them; else it \
        is encoded once, and a join that is interrupted goes on behind the last episode that was. Each episode is a \
        chapter, or has those that it brings. A file that is there and was made of the same is left as it is. Needs ffmpeg.
        """:
            "各集的编码、采样率和声道一致且目标格式容得下时，音频原样复制；否则编码一次，中断后从最后完成的一集继续。每集是一章，自带章节的保留其章节。已有文件若由相同内容制成，则不重做。需要 ffmpeg。",
        "What to make.": "制作哪一种文件。",
        "Bits a second of what is encoded, as in 64k. Default: 64k mono, 96k stereo.":
            "编码时每秒的比特数，如 64k。默认：单声道 64k，立体声 96k。",
        "Make several files, each at most this long, as in 12h.": "分成几个文件，每个最长这么久，如 12h。",
        "Write to this folder. Default: Joined in the library.": "写到这个文件夹。默认：书库中的 Joined。",
        "Encode to this loudness (EBU R128), as in -18.": "编码到这个响度（EBU R128），如 -18。",
        "Leave out episodes that are missing or damaged.": "跳过缺失或损坏的各集。",
        "Overwrite a file that booksync did not write.": "覆盖不是 booksync 写的文件。",
        "Print what would be made, and change nothing.": "只显示将要制作什么，不作任何改动。",
        "Name a book to join.": "请指明要合并的书。",
        "--bitrate takes bits a second from 8k to 512k.": "--bitrate 接受每秒比特数，从 8k 到 512k。",
        "--max-part takes a time such as 12h.": "--max-part 接受时长，如 12h。",
        "--normalize takes LUFS from -70 to -5.": "--normalize 接受 -70 到 -5 的 LUFS。",
        "only whole books are": "只能合并整本书", "name the book": "请指明书",
        "the files cannot be joined": "无法合并文件",
        "{1} is not joined": "没有合并 {1}",
        "not on disk: {1}": "不在磁盘上：{1}",
        "fetch what is missing, or join what is there with --incomplete": "请下载所缺的，或用 --incomplete 合并已有的",
        "{1} is not what was fetched": "{1} 与下载时不同", "booksync verify tells more": "booksync verify 会说明详情",
        "it is a list of other files": "它是其他文件的列表",
        "{1} cannot be made": "无法创建 {1}",
        "it has {1} of audio, and its episodes have {2}": "它有 {1} 的音频，而各集共有 {2}",
        "move it away, or run booksync join --force to overwrite it": "请把它移走，或用 booksync join --force 覆盖它",
        "{1} are free, {2} are needed, and {3} are to stay free: {4} are missing": "空闲 {1}，需要 {2}，另须保留 {3}：还缺 {4}",
        "make room, or lower downloads.min-free-space, and join again": "请腾出空间，或调低 downloads.min-free-space，然后再次合并",
        "books are not joined (downloads.join): ffmpeg is not installed": "没有合并书籍（downloads.join）：没有安装 ffmpeg",
        "joined {1} into {2}": "已把 {1}合并为 {2}",
        "{1} is up to date": "{1} 已是最新",
        "{1} is left out: {2}": "{1} 未合并进去：{2}",
        "see whether the disk has room, and whether ffmpeg is up to date": "请检查磁盘空间是否足够，以及 ffmpeg 是否为最新版本",
        "copied": "复制", "encoded": "编码",
        "would write {1}: {2}": "将写出 {1}：{2}", "wrote {1}: {2}": "已写出 {1}：{2}",
        "what was joined of {1} cannot be read": "无法读取 {1} 的合并记录",
        "what was joined of {1} cannot be recorded": "无法保存 {1} 的合并记录",
    ]
}
