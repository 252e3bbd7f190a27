import CatalogFetcher
import Testing

@Suite struct TitleInferenceTests {
    @Test(
        arguments: [
            (["第001集_回到古代当兽医", "第002集_回到古代当兽医"], "回到古代当兽医"),
            (["第001集_回到古代当兽医"], "回到古代当兽医"),
            (["第0001集_样本", "第0003集_样本", "第0002集_样本"], "样本"),
            (["白眉大侠 第1回 下山", "白眉大侠 第2回 比武", "白眉大侠 第3回 再下山"], "白眉大侠"),
            (["白眉大侠(第一回)", "白眉大侠(第二回)"], "白眉大侠"),
            (["【第1集】三体2", "【第2集】三体2"], "三体2"),
            (["1984 第01集", "1984 第02集"], "1984"),
            (["第十二章·凡人修仙传", "第一百零三章·凡人修仙传"], "凡人修仙传"),
            (["001.鬼吹灯", "002.鬼吹灯"], "鬼吹灯"),
            (["鬼吹灯001", "鬼吹灯010", "鬼吹灯011"], "鬼吹灯"),
            (["001. Emma", "002. Emma", "Preface"], "Emma"),
            (["Emma 10 a", "Emma 11 b", "Emma 12 c"], "Emma"),
            (["Emma - Chapter 1 - Loomings", "Emma - Chapter 2 - Highbury"], "Emma"),
            (["Part 1", "Part 2"], nil),
            (["Loomings", "The Carpet-Bag"], nil),
            (["001", "002", "003"], nil),
            (["第1集", "第2集"], nil),
            (["", ""], nil),
            ([], nil),
        ] as [([String], String?)])
    func `the title is what the names have in common without their numbering`(names: [String], title: String?) {
        #expect(TitleInference.title(from: names) == title)
    }
}
