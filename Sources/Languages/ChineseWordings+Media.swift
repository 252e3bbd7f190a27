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
        "it has {1} of audio, and its header says {2}": "它有 {1} 的音频，而文件头写的是 {2}",
    ]
}
