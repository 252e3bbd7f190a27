extension Wordings {
    /// What the system and SQLite say of a call that failed.
    static let chineseSystem: [String: String] = [
        "Operation not permitted": "不允许的操作", "No such file or directory": "没有这个文件或文件夹",
        "Input/output error": "输入/输出错误", "Bad file descriptor": "文件描述符无效",
        "Resource temporarily unavailable": "资源暂时不可用", "Cannot allocate memory": "无法分配内存",
        "Permission denied": "权限不足", "Device or resource busy": "设备或资源正忙", "File exists": "文件已存在",
        "Invalid cross-device link": "不能跨设备链接", "No such device": "没有这个设备", "Not a directory": "不是文件夹",
        "Is a directory": "是一个文件夹", "Invalid argument": "参数无效", "Too many open files in system": "系统打开的文件过多",
        "too many open files (ulimit -n raises the limit)": "打开的文件过多（用 ulimit -n 提高上限）", "File too large": "文件过大",
        "only {1} files may be open at once": "最多只能同时打开 {1} 个文件", "booksync needs {1} at least": "booksync 至少需要 {1} 个",
        "raise the limit: ulimit -n 1024": "请提高上限：ulimit -n 1024", "No space left on device": "设备上没有空间",
        "Read-only file system": "文件系统只读", "Too many links": "链接过多", "Broken pipe": "管道已断开",
        "File name too long": "文件名过长", "No locks available": "没有可用的锁", "Function not implemented": "功能未实现",
        "Directory not empty": "文件夹不为空", "Too many levels of symbolic links": "符号链接层数过多",
        "Operation not supported": "不支持的操作", "Address already in use": "地址已被占用",
        "Cannot assign requested address": "无法使用所请求的地址", "Transport endpoint is not connected": "传输端点未连接",
        "Connection timed out": "连接超时", "Host is down": "主机已关闭", "Stale file handle": "文件句柄已失效",
        "Disk quota exceeded": "超出磁盘配额",

        "disk I/O error": "磁盘读写错误", "database is locked": "数据库已被锁定", "database table is locked": "数据表已被锁定",
        "database or disk is full": "数据库或磁盘已满", "attempt to write a readonly database": "数据库只读，不能写入",
        "database disk image is malformed": "数据库文件内容损坏", "unable to open database file": "无法打开数据库文件",
        "access permission denied": "没有访问权限",
        "locking protocol": "锁定协议出错", "out of memory": "内存不足",
        "unexpected error ({1} {2})": "意外错误（{1} {2}）",
    ]
}
