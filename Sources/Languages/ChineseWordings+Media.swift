extension Wordings {
    /// Why a file cannot be read as audio, and what is wrong with it.
    static let chineseMedia: [String: String] = [
        "{1} cannot be read as audio": "{1} 无法作为音频读取",
        "ffmpeg is not installed": "没有安装 ffmpeg",
        "install ffmpeg and try again": "请安装 ffmpeg 后再试",
        "check the disk and the file, or download it again": "请检查磁盘和文件，或重新下载",
        "there is no such file": "文件不存在",
        "it is not a regular file": "它不是普通文件",
        "the file is empty": "文件是空的",
        "it has no audio": "其中没有音频",
        "{1} cannot be run: {2}": "无法运行 {1}：{2}",
        "{1} failed with exit code {2}": "{1} 失败，退出码 {2}",
        "{1} was ended by signal {2}": "{1} 被信号 {2} 终止",
        "{1} did not finish within {2}": "{1} 在 {2} 内没有结束",
        "{1} used more than {2} s of processor time": "{1} 占用处理器超过 {2} 秒",
        "{1} wrote more than {2}": "{1} 的输出超过 {2}",
        "the output of the program cannot be understood": "无法理解该程序的输出",
        "{1} of audio are missing": "缺少 {1} 的音频",
        "reading durations, chapters and tags of {1}": "正在读取 {1} 的时长、章节和标签",
        "durations, chapters and tags are not read from the files: ffprobe is not installed":
            "没有从文件中读取时长、章节和标签：没有安装 ffprobe",
        "decoding {1}": "正在解码 {1}", "broken as it was fetched: {1}": "下载时就已损坏：{1}",
        "{1} broken audio": "{1} 音频损坏",
        "the files cannot be decoded": "无法解码文件",
        "read by {1}": "由 {1} 读取",
        "read by {1}; whether a file is whole cannot be found out: ffmpeg is not installed":
            "由 {1} 读取；无法判断文件是否完整：没有安装 ffmpeg",
        "audio": "音频", "tag": "标签", "chapter": "章节",
        "what is known of the audio of {1} cannot be read": "无法读取 {1} 的音频信息",
        "the audio of {1} cannot be recorded": "无法记录 {1} 的音频信息",
        "what is known of the audio files cannot be read": "无法读取音频文件的信息",
        "its audio breaks off at {1}: {2}": "音频在 {1} 处中断：{2}",
        "it lasts {1}, and the catalog says {2}": "时长只有 {1}，而目录写的是 {2}",
        "its audio cannot be read: {1}": "无法读取其音频：{1}",
        "durations and chapters of the files are not read: {1}": "没有读取文件的时长和章节：{1}",
        "it has {1} of audio, and its header says {2}": "它有 {1} 的音频，而文件头写的是 {2}",
    ]
}
