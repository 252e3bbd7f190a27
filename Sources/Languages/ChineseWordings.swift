extension Wordings {
    /// By the English; see ``Message``.
    static let chinese = [
        chineseDoctor, chineseTransfers, chineseLibrary, chineseRuns, chineseCommands, chineseSettings,
    ]
    .reduce(into: [:]) { $0.merge($1) { first, _ in first } }

    /// What a doctor says of a library in good order.
    static let chineseDoctor: [String: String] = [
        "there is no file; the built-in settings are in force": "没有配置文件，使用内置设置",
        "{1} is valid": "{1} 有效",
        "none; booksync subscribe REF adds one": "没有订阅；用 booksync subscribe REF 添加",
        "{1}, and their sources are configured": "{1} 个，来源均已配置",
        "{1} is writable": "{1} 可写",
        "{1} is writable; no run has put anything there yet": "{1} 可写，尚未有运行写入内容",
        "{1} is not there yet": "{1} 尚不存在",
        "the first run makes it": "首次运行时会创建",
        "the filesystem keeps locks": "文件系统支持加锁",
        "the filesystem keeps locks ({1})": "文件系统支持加锁（{1}）",
        "free: no run is under way": "空闲：没有正在进行的运行",
        "files are put in place without ever overwriting one": "文件就位时绝不覆盖已有文件",
        "there is none yet": "尚未建立",
        "sound, {1}": "完好，{1}",
        "none": "无",
        "not looked for: a run is under way": "未检查：正在运行",
        "{1} free, {2} reserved": "可用 {1}，保留 {2}",
        "none is configured; the built-in demo catalog is used": "未配置来源，使用内置的演示目录",
        "it answers, asked for {1}": "有应答（询问了 {1}）",
        "not asked: its books have addresses of their own, and none is known yet": "未询问：书各有其地址，目前尚无已知的书",
    ]
}
