import Foundation

/// The first letters of the syllables of a title with Chinese characters, as `hdgd` of 回到古代.
package struct PinyinInitials: Sendable {
    /// For each syllable or word the letters that it may begin with.
    private let letters: [[Character]]

    /// - Parameter title: as ``TitleIndex/key(of:)`` has it.
    /// - Returns: nil for a title without Chinese characters.
    package init?(of title: String) {
        guard title.unicodeScalars.contains(where: { $0.properties.isIdeographic }),
            let latin = title.applyingTransform(.mandarinToLatin, reverse: false)
        else { return nil }
        let initials = TitleIndex.key(of: latin).split { !$0.isLetter && !$0.isNumber }.compactMap(\.first)
        let readings = Self.words(of: title).map { $0.count == 1 ? Self.otherReadings[$0[$0.startIndex]] ?? "" : "" }
        letters =
            readings.count == initials.count
            ? zip(initials, readings).map { [$0] + $1 } : initials.map { [$0] }
    }

    /// Whether a text is how they begin. A character that is read in several ways may be meant in any of them.
    package func begin(with text: String) -> Bool {
        text.count <= letters.count && zip(text, letters).allSatisfy { $1.contains($0) }
    }

    /// Each Chinese character by itself, and the words between them.
    private static func words(of title: String) -> [Substring] {
        title.split { !$0.isLetter && !$0.isNumber }.flatMap { word -> [Substring] in
            var (words, rest) = ([Substring](), word)
            while let first = rest.first {
                let isChinese = { (character: Character) in
                    character.unicodeScalars.contains { $0.properties.isIdeographic }
                }
                words.append(isChinese(first) ? rest.prefix(1) : rest.prefix { !isChinese($0) })
                rest = rest[words[words.count - 1].endIndex...]
            }
            return words
        }
    }

    /// Characters that are common in titles and names, with all letters that their readings begin with.
    private static let otherReadings: [Character: String] = Dictionary(
        """
        重zc 长zc 長zc 行xh 乐ly 樂ly 曾zc 朝zc 单ds 單ds 传zc 傳zc 会hk 會hk 调td 調td 弹td 彈td 种zc 種zc 藏zc 参cs 參cs 解jx 还hx \
        還hx 系xj 奇qj 什sz 仇cq 查zc 石sd 盛sc 沈sc 沉sc 折zs 尾wy 校xj 贾jg 賈jg 阿ae 番fp 泊bp 翟zd 区qo 區qo 晟sc 澄cd 畜cx 恶ew \
        惡ew 佛fb 否fp 合hg 虹hj 吓xh 嚇xh 巷xh 便bp 卡kq 茄qj 壳kq 殼kq 粘zn 弄nl 炮pb 曝bp 栖qx 厦xs 廈xs 刹sc 召zs 识sz 識sz 说sy \
        說sy 拓tz 提td 万wm 萬wm 吁xy 叶yx 轧zy 颤cz 顫cz 车cj 車cj 匙cs 臭cx 伺sc 撮cz 囤td 咖kg 龟gj 龜gj 圈qj 蔓mw 秘mb 泌mb 率ls \
        给gj 給gj 降jx 尉wy 宿sx 谷gy 俞ys 隗kw 祭zj 殖zs 射sy 骑qj 騎qj 祇qz 属sz 屬sz 剥bp 剝bp 扒bp 屏pb 绰cz 刨bp 乘cs 裳cs 铛dc \
        幢cz 偈jq 稽jq 见jx 見jx 强qj 強qj 乾gq 咯gl 期qj 缉jq 缴jz 溃hk 括kg 莞gw 遗yw 遺yw 莘sx 荨xq 省sx
        """.split(separator: " ").compactMap { entry in entry.first.map { ($0, String(entry.dropFirst())) } },
        uniquingKeysWith: { first, _ in first })
}
