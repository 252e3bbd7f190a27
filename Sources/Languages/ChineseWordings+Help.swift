extension Wordings {
    /// What the help of the commands says, and what they say of wrong arguments.
    static let chineseHelp: [String: String] = [
        "Keep a shelf of audiobooks in step with the catalogs they come from.": "让本地的有声书与其来源目录保持同步。",
        """
        A REF names a book: ID (in the default source), SOURCE:ID, or the address of a feed, an archive \
        item, a LibriVox book or a directory; for a book of the library or of a subscription also its \
        title, the beginning of it, or the initials of its pinyin. REF/12, REF/12-40,55 and REF/latest:5 \
        name episodes of it, and behind an address #12, as in URL#12. Without a configuration, fetch \
        --book 30776 downloads a book of the built-in demo catalog.

        --config, --library, --quiet, --verbose, --json, --no-color, --log-format and --log-file may stand \
        before or after the command.
        """: """
        REF 指一本书：可写 ID（默认来源中的书号）、来源:ID，或订阅源、archive.org 条目、LibriVox 书、\
        文件目录的地址；书库或订阅中的书，也可写书名、书名的开头或拼音首字母。REF/12、REF/12-40,55 和 \
        REF/latest:5 指其中的分集；地址后面则用 #12，例如 URL#12。没有配置时，fetch --book 30776 \
        会下载内置演示目录中的一本书。

        --config、--library、--quiet、--verbose、--json、--no-color、\
        --log-format 和 --log-file 写在命令之前或之后均可。
        """,
        "The configuration file.": "配置文件。", "The library's folder, or its name.": "书库的文件夹或名称。",
        "Print errors only.": "只显示错误。",
        "Say more about what is done; -vv says most.": "显示更多细节；-vv 最详细。",
        "The form of the log's lines.": "日志行的格式。",
        "Append the log to a file, runs and their files included, instead of standard error.":
            "把日志（包括各次运行及其文件）追加到文件，而不是写到标准错误。",
        "Print JSON.": "输出 JSON。", "Print without colours.": "不用颜色。",
        "Wait up to this long for another run to finish, as in 60s.": "最多等待另一次运行结束这么久，例如 60s。",
        "--wait takes a time such as 60s, not '{1}'.": "--wait 应为时长，例如 60s，而不是“{1}”。",

        "Recognise files that are already there as episodes of a book.": "把已有的文件识别为某本书的分集。",
        """
        By the catalog's digest; by exact size and number; by number and name: each match says by which. \
        What may be several episodes, or none, is listed and left alone. Files in the library stay where \
        they are unless a way is said; files elsewhere need one.
        """: """
        依次按目录的校验和、按大小和序号、按序号和名称识别，每个结果都注明依据。可能对应多集或不对应任何一集的，只列出而不处理。\
        书库中的文件留在原处，除非指定了方式；其他位置的文件必须指定方式。
        """,
        "The folder that holds the files; those below it count.": "文件所在的文件夹，包括其下各级。",
        "The book.": "书。",
        "Give the files a second name in the library; they must be on the same disk.": "在书库中建立硬链接；必须在同一块磁盘上。",
        "Copy the files into the library.": "把文件复制到书库。", "Move the files into the library.": "把文件移动到书库。",
        "Print what would be adopted and change nothing.": "只显示将要收录的文件，不做任何改动。",
        "--link, --copy and --move exclude each other.": "--link、--copy 和 --move 只能用一个。",
        "Print what a catalog lists now, or what a saved answer lists; stores nothing.":
            "显示目录现在列出的内容，或保存的应答中的内容；不写入数据库。",
        """
        What names a file that is there is read as a saved answer, several at once; everything else is a \
        REF, or the address of a feed, an archive item, a LibriVox book or a directory. With --json each is \
        one line.
        """: """
        参数若是已有的文件，则作为保存的应答读取，可以同时给出多个；否则视为 REF，或订阅源、archive.org 条目、\
        LibriVox 书、文件目录的地址。使用 --json 时每个输出一行。
        """,
        "Books, or files of saved answers.": "书，或保存应答的文件。", "What the answers are: {1}.": "应答的类型：{1}。",
        "Show and check the settings in force.": "显示和检查当前设置。",
        "Print the settings in force and where each comes from, secrets masked.": "显示当前设置及其出处，敏感信息以星号代替。",
        "Tell what is wrong with the configuration, without asking any server.": "检查配置中的问题，不连接任何服务器。",
        "Exits with 78 when something is. Secrets that others on this machine can read are warned of.":
            "有问题时退出码为 78。本机其他人能读取的敏感信息会给出提醒。",
        "Print where the configuration was read from.": "显示配置的读取位置。",
        "Books or episodes: REF, REF/12, REF/12-40.": "书或分集：REF、REF/12、REF/12-40。",
        "Everything in the library (pause, resume and cancel: in the queue).": "书库中的全部内容（pause、resume、cancel：队列中的全部）。",
        "Name episodes or say --all, not both.": "指定分集和 --all 不能同时使用。",
        "Name episodes, or say --all.": "请指定分集，或用 --all。",
        "Have transfers wait until they are resumed, also over runs.": "暂停下载，直到用 resume 继续；对以后的运行也有效。",
        "A run that is under way, in another process too, stops them within a second and keeps what they have.":
            "进行中的运行（包括其他进程的）会在一秒内停止这些下载，并保留已收到的部分。",
        "Let paused, failed and cancelled transfers be fetched by the next run.": "让暂停、失败和取消的下载在下次运行时继续。",
        "Cancel transfers and discard partial files.": "取消下载并丢弃已收到的部分。",
        "The next run fetches the episodes anew; to be rid of them, use remove.": "下次运行会从头下载这些分集；如果不再需要，请用 remove。",
        "Serve the built-in demo catalog until interrupted.": "提供内置的演示目录，直到中断。",
        "Prints the address of the catalog, which a source of type book-resource can be given.":
            "显示目录的地址，可用于 book-resource 类型的来源。",
        "Where to listen; port 0 takes a free one.": "监听的地址；端口 0 表示任选空闲端口。",
        "Check configuration, library, store, free space and sources; changes nothing.": "检查配置、书库、数据库、可用空间和来源；不做任何改动。",
        """
        One line each: ok, warning or problem, what was found, and what to do about it. Exits with the code \
        of the problem that most needs a person, and with 0 when there are warnings only. Each source is \
        asked once, for ten seconds at most. With --quiet what is ok is left out.
        """: """
        每项一行：正常、提醒或问题，检查的结果，以及处理办法。退出码取自最需要人处理的问题；只有提醒时为 0。每个来源只查询一次，\
        最多等十秒。使用 --quiet 时不显示正常的项。
        """,
        "Say why an episode is, or is not, to be fetched; offline.": "说明某一集为什么要下载或不下载；离线。",
        """
        Which identity it has, what the catalog said when it was last asked, what is on disk and how it \
        came there, what failed, and what the next run would do. REF/7 for one episode, REF/7-9 or \
        REF/latest:3 for several.
        """: """
        包括它的身份、目录上次给出的信息、磁盘上的文件及其来历、失败的原因，以及下次运行会做什么。REF/7 表示一集，\
        REF/7-9 或 REF/latest:3 表示多集。
        """,
        "The episode: REF/12, REF/12-40.": "分集：REF/12、REF/12-40。",
        "Write what players and library servers read of books.": "写出播放器和书库服务器能读取的文件。",
        """
        m3u8: a playlist. opf: metadata.opf with title, author and reader. metadata: metadata.json for \
        Audiobookshelf, which outranks all else there. rss: feed.xml, a podcast feed of the files. csv: a \
        table of all episodes. cover: the picture that the catalog names. opml: the subscriptions, for \
        other programs; it goes to standard output, or to --output.

        Without --output each goes into its book's folder, whole or not at all, and only when it would \
        change. A file that booksync did not write, or that was changed since, is left as it is. Users, \
        passwords and queries with secrets are left out of addresses; a secret in the path of an address is \
        not recognised, and stays.
        """: """
        m3u8：播放列表。opf：metadata.opf，含书名、作者和播讲者。metadata：\
        供 Audiobookshelf 使用的 metadata.json，在那里优先于其他信息。rss：feed.xml，\
        由文件组成的播客订阅源。csv：全部分集的表格。cover：目录给出的封面。opml：供其他程序使用的订阅列表，\
        写到标准输出或 --output。

        不指定 --output 时，写入各书的文件夹；只在内容有变时才写，并且要么完整写入，要么不写。不是 booksync 写的文件，\
        或之后改动过的文件，保持原样。\
        地址中的用户名、密码和含敏感信息的查询参数不会写出；路径中的敏感信息无法识别，会原样保留。
        """,
        "What to write.": "要写出的种类。",
        "Books, or episodes of them. Default: all books.": "书或分集。默认：全部书。",
        "Write to this file, to this folder (one for each book in it), or with - to standard output.":
            "写到这个文件或文件夹（每本书一个文件）；- 表示标准输出。",
        "Overwrite files in the book folders that booksync did not write.": "覆盖书文件夹中不是 booksync 写的文件。",
        "A cover goes into its book's folder only.": "封面只能写入书的文件夹。",
        "--output takes a path, or - for standard output.": "--output 应为路径；- 表示标准输出。",
        "--force is for the book folders; --output overwrites.": "--force 只用于书的文件夹；--output 总会覆盖。",
        "Fetch what is missing of books.": "下载书中缺少的分集。",
        """
        Asks the catalog, plans, and fetches what the library lacks; what is interrupted is resumed by the \
        next run. Names of episodes behind a REF (30776/12-40) win over --only and --latest. While another run \
        is under way, that run fetches them next.
        """: """
        查询目录、制定计划，再下载书库缺少的分集；中断的下载由下次运行续传。REF 后面的分集（30776/12-40）优先于 --only \
        和 --latest。如果另一次运行正在进行，就由那次运行接下来下载。
        """,
        "A book to fetch; may be repeated.": "要下载的书；可以多次使用。", "More books.": "更多的书。",
        "Also fetch what was removed, is paused, or failed too often.": "也下载已删除、已暂停或多次失败的分集。",
        "Print the plan and change nothing.": "只显示计划，不做任何改动。",
        "Name a book to fetch, as in: booksync fetch --book 30776": "请指定要下载的书，例如 booksync fetch --book 30776",
        "Only these section numbers, as in 1-20,35.": "只要这些序号，例如 1-20,35。",
        "Only the last N episodes.": "只要最后 N 集。", "Only episodes whose name matches.": "只要名称匹配的分集。",
        "No episodes whose name matches.": "排除名称匹配的分集。",
        "Only episodes published since a day or an age, as in 2024-05-31 or 30d; those without a date as well.":
            "只要某日以来或某段时间内发布的分集，例如 2024-05-31 或 30d；没有日期的也包括在内。",
        "--latest takes a number from 1 on, not {1}.": "--latest 应为从 1 起的数，而不是 {1}。",
        "{1}: '{2}' is not a valid regular expression.": "{1}：“{2}”不是有效的正则表达式。",
        "Episodes at once.": "同时下载的集数。", "Which episodes come first.": "先下载哪些分集。",
        "Bytes a second at most, as in 2M; 0 for no limit.": "每秒最多的字节数，例如 2M；0 表示不限。",
        "--limit-rate takes bytes a second, as in 2M, not '{1}'.": "--limit-rate 应为每秒字节数，例如 2M，而不是“{1}”。",
        "--jobs takes a number from 1 to {1}, not {2}.": "--jobs 应为 1 到 {1} 的数，而不是 {2}。",
        "Set booksync up: the folder, a first book, the nightly run.": "初次设置：文件夹、第一本书和每晚的运行。",
        """
        Writes a configuration with comments, and says what comes next. On a terminal it asks for what is \
        not given; elsewhere the folder is ~/Audiobooks and nothing is subscribed to. The book's catalog is \
        asked before anything is written. A configuration that is there is left alone; --cron and --timer then only set \
        the nightly run up.
        """: """
        写出带注释的配置，并说明接下来做什么。在终端上会询问没有给出的内容；否则文件夹为 ~/Audiobooks，不订阅任何书。\
        写入之前会先查询书的目录。已有的配置不会改动，此时 --cron 和 --timer 只设置每晚的运行。
        """,
        "Add the nightly run to your crontab.": "把每晚的运行加入你的 crontab。",
        "Start a systemd timer of your own for the nightly run.": "启动你自己的 systemd 定时器来每晚运行。",
        "--cron and --timer would run it twice a night.": "--cron 和 --timer 会让它每晚运行两次。",
        """
        The address of a first book: of a feed, an archive item, a LibriVox book, a directory, or a page of a \
        book-resource catalog.
        """: "第一本书的地址：订阅源、archive.org 条目、LibriVox 书、文件目录，或 book-resource 目录的一页。",
        "List the books of the library or, with a REF, its episodes; offline.": "列出书库中的书；给出 REF 时列出其分集；离线。",
        "On a terminal the books are numbered: until the next listing @3 is a REF of the third.":
            "在终端上会给书编号：下次列出之前，@3 就是第三本书的 REF。",
        "Books whose episodes to list.": "要列出分集的书。",
        "Only episodes in this state; without a REF, books that have any.": "只列出这种状态的分集；没有 REF 时，列出有这种分集的书。",
        "In this order: {1}; with a REF {2}. Names rise; of numbers and times the greatest comes first.":
            "排序方式：{1}；给出 REF 时为 {2}。名称按升序，数字和时间按降序。",
        "In the opposite order.": "反向排序。", "Only what is missing on disk.": "只列出缺少的分集。",
        "Books are sorted by {1}, not by {2}.": "书可按 {1} 排序，不能按 {2}。",
        "Episodes are sorted by {1}, not by {2}.": "分集可按 {1} 排序，不能按 {2}。",
        "Fetch what is missing of every subscription; the cron job.": "下载全部订阅中缺少的分集；适合定时任务。",
        """
        One run at a time: when another one holds the library, this one exits with 75 or waits. New \
        episodes come first: books that lack few before books that lack many, and last what failed before. \
        With --quiet nothing is printed unless something failed. booksync runs lists recent runs.
        """: """
        同一书库一次只有一个运行：被占用时以退出码 75 退出，或等待。先下载新的分集：缺得少的书在前，缺得多的在后，曾经失败的最后。\
        使用 --quiet 时只在失败时输出。booksync runs 列出最近的运行。
        """,
        "Start at most N episodes.": "最多开始下载 N 集。",
        """
        Take this share of the books, as in 3/16, and keep it in the library of that number; auto in a Slurm array or an \
        indexed Kubernetes job.
        """: "只处理这一份额的书（例如 3/16），并存入该编号的书库；在 Slurm 数组或带索引的 Kubernetes 任务中可用 auto。",
        "Instead, move each book to the shard that it falls to, for mirror --shard.":
            "改为把每本书移到它所属的份额，供 mirror --shard 使用。",
        "How many such workers run at once; they divide what each host allows.":
            "同时运行多少个这样的进程；它们平分每个主机允许的量。",
        "Start no episode that would exceed so many bytes, as in 2G.": "不开始会使总量超过这么多字节的分集，例如 2G。",
        "Stop after so long, and keep everything received, as in 50m.": "运行这么久后停止，保留已收到的部分，例如 50m。",
        "Also fetch what was removed, is paused, or waits after failures.": "也下载已删除、已暂停或失败后等待重试的分集。",
        "Print the plans and change nothing.": "只显示计划，不做任何改动。",
        "--max-episodes takes a number from 1 on, not {1}.": "--max-episodes 应为从 1 起的数，而不是 {1}。",
        "--max-bytes takes bytes, as in 2G, not '{1}'.": "--max-bytes 应为字节数，例如 2G，而不是“{1}”。",
        "--time-limit takes a time, as in 50m, not '{1}'.": "--time-limit 应为时长，例如 50m，而不是“{1}”。",
        "Print what a run would do, and change nothing.": "显示运行会做什么，不做任何改动。",
        "Without a REF: for every subscription. With --json each book is one line.": "没有 REF 时针对全部订阅。使用 --json 时每本书一行。",
        "Books.": "书。",
        "Plan from the stored catalog instead of asking for it.": "按数据库中的目录制定计划，不查询来源。",
        "As with fetch --force.": "与 fetch --force 相同。",
        "As with fetch --renumber.": "与 fetch --renumber 相同。",
        "Number the episodes in the catalog's order, and rename their files.": "按目录的顺序重新编号，并给文件改名。",
        "List the transfers that are under way, wait, are paused or failed; offline.": "列出进行中、等待、暂停和失败的下载；离线。",
        "Print again every second until interrupted.": "每秒刷新一次，直到中断。",
        "Move episodes' files to the trash; they are not fetched again.": "把分集的文件移入回收站，不再下载。",
        """
        The trash keeps files for {1} days, or as the setting trash says: booksync trash restore, or undo, \
        brings them back. Removing more than one episode is asked about on a terminal, and needs --yes elsewhere.
        """: """
        回收站保留文件 {1} 天（或按设置 trash）：可用 booksync trash restore 或 undo 恢复。删除一集以上时，在终端上会询问，\
        否则必须加 --yes。
        """,
        "Only forget that they were removed: no file is touched, and the next run fetches them again.":
            "只取消“已删除”的记录：不动任何文件，下次运行会重新下载。",
        "Remove without asking.": "删除时不询问。",
        "Print what would be removed and change nothing.": "只显示将要删除的分集，不做任何改动。",
        "--forget removes nothing: leave --yes and --dry-run out.": "--forget 不删除任何文件：请去掉 --yes 和 --dry-run。",
        "List recent runs, the newest last.": "列出最近的运行，最新的在最后。",
        "The last thousand runs of fetch and mirror are kept. One that was killed shows as cut off.":
            "保留 fetch 和 mirror 最近一千次运行的记录。被强行结束的显示为中断。",
        "So many runs.": "显示的次数。",
        "--last takes a number from 1 on, not {1}.": "--last 应为从 1 起的数，而不是 {1}。",
        "Find books and episodes by title, author, announcer and name; offline.": "按书名、作者、播讲者和分集名称搜索；离线。",
        """
        All words must be found: Latin ones at the beginning of words, without capitals and accents; numbers \
        as numbers, so that 第1集 finds 第001集; Chinese and its like anywhere. The best come first.
        """: """
        所有词都必须找到：拉丁文从词首匹配，不分大小写和重音；数字按数值匹配，因此“第1集”能找到“第001集”；\
        中文等文字可在任何位置匹配。最相关的排在最前。
        """,
        "What to search for; any two Chinese characters will do.": "要搜索的内容；任意两个汉字即可。",
        "So many at most; 0 for all.": "最多显示的条数；0 表示全部。",
        "--limit takes a number from 0 on, not {1}.": "--limit 应为从 0 起的数，而不是 {1}。",
        "Print everything known of a book or of an episode; offline.": "显示书或分集的全部信息；离线。",
        "REF for the book, REF/7 for its seventh episode.": "REF 表示书，REF/7 表示其中第 7 集。",
        "The book or the episode.": "书或分集。",
        "Subscribe to a book or a list of books: mirror downloads what is new.": "订阅一本书或一份书单：mirror 会下载新内容。",
        """
        REF/latest:5 and REF/12-40 follow only these episodes, and win over --latest and --only. Subscribing again replaces the \
        earlier options. Of a list of books (archive:collection:NAME, archive:search:QUERY, librivox:author:NAME, \
        librivox:language:NAME) mirror brings every book whose title and date pass --match, --exclude and --since, and those \
        that are added; booksync plan tells how many there are.
        """:
            "REF/latest:5 和 REF/12-40 只订阅这些分集，优先于 --latest 和 --only。再次订阅会替换以前的选项。订阅书单（archive:collection:名称、archive:search:查询、librivox:author:作者、librivox:language:语言）时，mirror 下载其中书名和日期符合 --match、--exclude 和 --since 的每一本书，以及以后新增的书；booksync plan 说明共有多少。",
        "The books.": "书。",
        "What to call the book, instead of what the catalog does.": "书名，代替目录中的书名。",
        "Start at most N episodes of it in a run.": "每次运行最多开始下载 N 集。",
        "Start at most N bytes of it in a run, as in 2G.": "每次运行最多开始下载 N 字节，例如 2G。",
        "--title takes a title.": "--title 后面应为书名。",
        "Unsubscribe from a book; its files are kept.": "退订一本书；文件保留。",
        "List subscriptions, or exchange them with other programs.": "列出订阅，或与其他程序交换订阅。",
        """
        --import follows every feed of an OPML file that is not followed yet, under its title there; \
        folders and categories become tags. Nobody is asked anything. What cannot be followed is named, the \
        rest is followed all the same. --export writes what is followed; booksync reads it back whole, \
        books without a feed included. --moved tells that the feed of a book is at another address by now, where its server does \
        not say so itself.
        """: """
        --import 订阅 OPML 文件中尚未订阅的全部订阅源，采用其中的标题；文件夹和分类成为标签。过程中不会询问。\
        无法订阅的会列出，其余照常订阅。--export 写出已有的订阅；booksync 能完整读回，包括没有订阅源的书。\
        --moved 说明一本书的订阅源已经换了地址，而服务器自己没有说明。
        """,
        "Follow what this OPML file lists; - is standard input.": "订阅这个 OPML 文件列出的内容；- 表示标准输入。",
        "The book, and the address that its feed has by now.": "书，以及其订阅源现在的地址。",
        "--moved takes a book and its new address, and nothing else.": "--moved 后面应为一本书和它的新地址，不能有其他内容。",
        "Write an OPML file; - is standard output.": "写出 OPML 文件；- 表示标准输出。",
        "--import and --export cannot be done at once.": "--import 和 --export 不能同时使用。",
        "--import and --export take the path of a file, or -.": "--import 和 --export 应为文件路径或 -。",
        "List, restore or delete what was removed.": "列出、恢复或永久删除已删除的文件。",
        """
        Removed and replaced files are kept in the library's .booksync/trash, for {1} days or as the \
        setting trash says.
        """: "已删除和被替换的文件在书库的 .booksync/trash 中保留 {1} 天，或按设置 trash。",
        "List what was removed, the last first; offline.": "列出已删除的文件，最近的在前；离线。",
        "Bring removed files back to where they were.": "把已删除的文件恢复到原处。",
        """
        Their episodes are no longer removed. Of several files of an episode the last one comes back; a file \
        that the episode has by now goes to the trash instead.
        """: "这些分集不再是已删除状态。同一集有几个文件的，恢复最后一个；该集现有的文件则移入回收站。",
        "Delete what is in the trash, for good.": "永久删除回收站中的文件。",
        "Delete without asking.": "删除时不询问。",
        "Take back what the last command or run removed, replaced and renamed.": "撤销上一次命令或运行的删除、替换和改名。",
        """
        What was removed or replaced comes back from the trash.

        Taking renames back is for a shelf that was renamed by a naming that was changed by mistake. What \
        was moved or changed since, or whose old name is taken, is left and named. The files keep the names \
        that they get back, also while the naming is still the changed one; set naming back to what it was, \
        and they follow it again from the next run on. What is fetched in the meantime gets its name from \
        the naming as it is. Run it again to go back further.
        """: """
        已删除或被替换的文件从回收站恢复。

        撤销改名用于误改命名模板之后。之后移动或改动过的文件，以及旧名已被占用的文件，保持不变并列出。文件会保留恢复后的名称，\
        即使命名模板仍是改过的那个；把 naming 改回原来的，从下次运行起它们就会重新跟随。其间下载的文件按当时的命名模板命名。\
        再运行一次可撤销更早一次运行的改名。
        """,
        "Print what would be done and change nothing.": "只显示将要做的事，不做任何改动。",
        "Re-read every file against its recorded SHA-256; offline.": "重新读取每个文件，与记录的 SHA-256 比对；离线。",
        """
        Names what is missing, truncated, changed, or rotten (other bytes, though nobody wrote to the \
        file), and exits with 75 when anything is bad and was not repaired. A verification that is \
        interrupted goes on where it stopped when it is asked for again. --repair fetches the bad files \
        again; each stays where it is until the good one is whole, and then goes to the trash. --accept REF \
        records files that you edited (tags, cuts) as they are now.
        """: """
        列出缺失、截短、改动或损坏（没有人写过，内容却变了）的文件；有问题而未修复时退出码为 75。中断的校验再次运行时从中断处继续。\
        --repair 重新下载有问题的文件：新文件完整之前，旧文件留在原处，之后移入回收站。\
        --accept REF 按现状记录你编辑过（标签、剪辑）的文件。
        """,
        "Books or episodes: REF, REF/12, REF/12-40; none for everything.": "书或分集：REF、REF/12、REF/12-40；不写则为全部。",
        "Look at sizes and headers only.": "只检查大小和文件头。", "Fetch what is bad again.": "重新下载有问题的文件。",
        "Record what was edited since it was fetched as it is now; needs a REF.": "按现状记录下载后编辑过的文件；需要 REF。",
        "Read everything, also what an interrupted verification found right.": "全部重新读取，包括中断的校验中已确认完好的文件。",
        "Decode the audio of every file as well; needs ffmpeg.": "还要解码每个文件的音频；需要 ffmpeg。",
        "--deep and --quick exclude each other.": "--deep 和 --quick 只能用一个。",
        "--accept goes with neither --repair nor --quick.": "--accept 不能与 --repair 或 --quick 同时使用。",
        "--accept takes the books or episodes that you edited, as in REF or REF/12.":
            "--accept 需要指定你编辑过的书或分集，例如 REF 或 REF/12。",

        "Serve the shelf: audio, podcast feeds, and a catalog for other booksyncs.":
            "提供书架：音频、播客订阅源，以及供其他 booksync 使用的目录。",
        """
        /feeds/all.opml lists a podcast feed for each book. A source of type book-resource whose url is \
        ADDRESS/catalog/SOURCE/ClientGetBookResource.action (its detail-url the same with \
        ClientGetBookDetail.action) mirrors this library. /api/v1/ has books, search, queue, subscriptions \
        and runs, as --json prints them.

        By POST to /api/v1/fetch, pause, resume, cancel, remove, subscribe, unsubscribe, position and \
        mirror clients have things done; /api/v1/openapi.json describes it all, and /api/v1/events tells \
        what happens.

        Where a password is set, whoever comes is asked for it; without one only this machine is listened \
        to. Programs send the token of serve.token instead, and podcast apps need neither: their address, \
        below /apps/, is shown on the subscriptions page. Printed is the address; a signal ends the server \
        once its answers are given.
        """: """
        /feeds/all.opml 列出每本书的播客订阅源。类型为 book-resource、\
        url 为 ADDRESS/catalog/SOURCE/ClientGetBookResource.action（\
        detail-url 相同，换成 ClientGetBookDetail.action）的来源可镜像这个书库。\
        /api/v1/ 提供书、搜索、队列、订阅和运行记录，格式与 --json 的输出相同。

        向 /api/v1/fetch、pause、resume、cancel、remove、subscribe、unsubscribe、\
        position 和 mirror 发送 POST 可执行操作；/api/v1/openapi.json 有完整说明，\
        /api/v1/events 推送发生的变化。

        设置密码后，所有访问者都要输入密码；没有密码时只接受本机访问。程序改用 serve.token 中的令牌；播客应用两者都不需要：\
        它们的地址在 /apps/ 之下，见订阅页。启动后显示地址；收到信号后，服务器在完成应答后结束。
        """,
        "Where to listen: an address of this machine (port 0 takes a free one), or unix:PATH. Default: serve.listen, else 127.0.0.1:8731.":
            "监听的地址：本机的地址（端口 0 表示任选空闲端口），或 unix:路径。默认：serve.listen，否则 127.0.0.1:8731。",
        "What all paths begin with, as in /shelf. Default: serve.base-path.": "所有路径的前缀，例如 /shelf。默认：serve.base-path。",
        "The address under which clients reach the server, for feeds. Default: serve.public-url, else what each client says.":
            "客户端访问服务器所用的地址，用于订阅源。默认：serve.public-url，否则取自客户端的请求。",
        "Let clients look and listen, and change nothing; with --add-user and --books-of that user only. Default: serve.read-only, and for --books-of as it is.":
            "客户端只能浏览和收听，不能改动；与 --add-user 或 --books-of 合用时只限该用户。默认：serve.read-only，对 --books-of 为不变。",
        "--read-only is for the server, --add-user and --books-of.": "--read-only 只用于服务器、--add-user 和 --books-of。",
        "Fetch what is missing of every subscription again and again, as in 6h. Default: serve.mirror-every, else never.":
            "定时下载全部订阅中缺少的分集，例如 6h。默认：serve.mirror-every，否则从不。",
        "Speak HTTPS with a certificate that is made for this machine's names and kept in the library. Default: serve.tls.":
            "使用 HTTPS，证书按本机的名称生成，保存在书库中。默认：serve.tls。",
        "Ask for a new password, put its hash into the configuration, and end.": "询问新密码，把散列值写入配置，然后结束。",
        "Give the feeds of podcast apps a new address, so that the old one ends, and end; those of users stay: see --passwd.":
            "为播客应用的订阅源更换地址，旧地址失效，然后结束；用户的地址不变，见 --passwd。",
        "Passwords, users and the apps' address are changed one after the other.": "密码、用户和播客应用的地址一次只能改一项。",
        "--mirror-every takes a time such as 6h, from 1m on, not '{1}'.": "--mirror-every 应为时长，例如 6h，至少 1m，而不是“{1}”。",
        "--base-path is a path such as /shelf, without a slash at its end.": "--base-path 应为路径，例如 /shelf，末尾不带斜杠。",
        "--public-url is an http or https address without user, query and fragment.":
            "--public-url 应为 http 或 https 地址，不带用户名、查询参数和片段。",
        "Add a user with positions, bookmarks and a password of their own (asked for, or one line of standard input), and end.":
            "添加用户，拥有自己的收听位置、书签和密码（询问，或取自标准输入的一行），然后结束。",
        "Print the users and what each may see, and end.": "列出用户及其可见的书，然后结束。",
        "Remove a user with all their positions and bookmarks, and end.": "移除用户及其全部收听位置和书签，然后结束。",
        "Ask for a new password of a user, and end.": "询问用户的新密码，然后结束。",
        "Change what a user may see to --books, or to all without it, and end. Add --no-read-only to let them change the library, too.":
            "把用户可见的书改为 --books，不带 --books 则为全部，然后结束。加 --no-read-only 则也可以改动书库。",
        "What the user may see; such a user listens, and changes nothing else. Default: all.":
            "用户可见的书；这样的用户只能收听，不能改动其他内容。默认：全部。",
        "Remove a user without asking.": "移除用户时不询问。",
        "Use one option about users at a time.": "有关用户的选项一次只能用一个。",
        "--books is what --add-user or --books-of may see.": "--books 只用于 --add-user 或 --books-of。",
        "--yes answers --remove-user.": "--yes 只用于 --remove-user。",
    ]
}
