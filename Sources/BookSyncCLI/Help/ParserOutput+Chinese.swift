extension ParserOutput {
    /// What the parser says in English (ArgumentParser 1.8), and the same in Chinese with the parts in place of `{1}`. Each
    /// is looked for in what those before it left of a line.
    static var chineseSentences: [(english: Regex<AnyRegexOutput>, chinese: String)] {
        headings + descriptions + complaints
    }

    private static var headings: [(english: Regex<AnyRegexOutput>, chinese: String)] {
        [
            (Regex(#/^OVERVIEW: /#), "概述："), (Regex(#/^USAGE: /#), "用法："), (Regex(#/^Usage: /#), "用法："),
            (Regex(#/^ARGUMENTS:$/#), "参数："), (Regex(#/^OPTIONS:$/#), "选项："), (Regex(#/^SUBCOMMANDS:$/#), "子命令："),
            (Regex(#/^Error: /#), "错误："), (Regex(#/^Help:  /#), "说明："),
            (Regex(#/<subcommand>/#), "<子命令>"), (Regex(#/<options>/#), "<选项>"),
            (Regex(#/^  See '(.*)' for detailed help\.$/#), "  运行“{1}”查看各子命令的说明。"),
            (Regex(#/^  See '(.*)' for more information\.$/#), "  运行“{1}”查看详细说明。"),
        ]
    }

    private static var descriptions: [(english: Regex<AnyRegexOutput>, chinese: String)] {
        [
            (Regex(#/Show the version\.$/#), "显示版本。"), (Regex(#/Show help information\.$/#), "显示帮助。"),
            (Regex(#/Show subcommand help information\.$/#), "显示子命令的帮助。"),
            (Regex(#/ ?\(values: ([^()]*); default: ([^()]*)\)$/#), "（可取：{1}；默认：{2}）"),
            (Regex(#/ ?\(values: ([^()]*)\)$/#), "（可取：{1}）"), (Regex(#/ ?\(default: ([^()]*)\)$/#), "（默认：{1}）"),
        ]
    }

    private static var complaints: [(english: Regex<AnyRegexOutput>, chinese: String)] {
        [
            (Regex(#/Unknown option '(.*)'\. Did you mean '(.*)'\?$/#), "没有选项 {1}；是不是 {2}？"),
            (Regex(#/Unknown option '(.*)'$/#), "没有选项 {1}"), (Regex(#/Invalid option: (.*)$/#), "无效的选项：{1}"),
            (Regex(#/Missing value for '(.*)'$/#), "{1} 后面缺少值"),
            (Regex(#/The option '(.*)' does not take any value, but '(.*)' was specified\.$/#), "选项 {1} 不带值，却给了“{2}”"),
            (Regex(#/[0-9]+ unexpected arguments: '(.*)'$/#), "多余的参数：'{1}'"),
            (Regex(#/Unexpected argument '(.*)'$/#), "多余的参数“{1}”"),
            (Regex(#/Missing expected argument '(.*)'$/#), "缺少参数 {1}"),
            (Regex(#/Missing one of: '(.*)'$/#), "缺少其中之一：'{1}'"),
            (Regex(#/Missing required subcommand\.$/#), "缺少子命令"),
            (Regex(#/The value '(.*)' is invalid for '(.*)'\. Please provide one of (.*)\.$/#), "{2} 不能是“{1}”，可取 {3}"),
            (
                Regex(#/The value '(.*)' is invalid for '(.*)'\. Please provide one of the following:$/#),
                "{2} 不能是“{1}”，可取："
            ),
            (Regex(#/The value '(.*)' is invalid for '([^']*)': (.*)$/#), "{2} 不能是“{1}”：{3}"),
            (Regex(#/The value '(.*)' is invalid for '([^']*)'$/#), "{2} 不能是“{1}”"),
            (Regex(#/Value to be set with (.*) had already been set with (.*)$/#), "{1} 要设的值已由 {2} 设定"),
        ]
    }
}
