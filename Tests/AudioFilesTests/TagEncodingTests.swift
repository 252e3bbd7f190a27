import Foundation
import Testing

@testable import AudioFiles

struct TagEncodingTests {
    @Test(arguments: [
        "三国演义", "红楼梦", "西游记", "水浒传", "鬼吹灯", "盗墓笔记", "明朝那些事儿", "白鹿原", "平凡的世界", "三体",
        "第一章 科学边界", "第001集", "001.序", "序", "隋唐演义 单田芳", "单田芳-三侠五义-001", "凡人修仙传", "斗破苍穹", "庆余年",
        "雍正皇帝", "曾国藩（上）", "《围城》钱钟书著", "百年孤独", "活着", "许三观卖血记", "射雕英雄传 第12回", "天龙八部01",
        "相声·郭德纲于谦", "郭德纲：论相声五十年之现状", "评书《岳飞传》刘兰芳", "哈利·波特与魔法石", "小王子", "海底两万里 (2)",
        "福尔摩斯探案集", "鲁迅全集", "01 - 狂人日记", "张爱玲", "倾城之恋.mp3", "摸金校尉之九幽将军", "大江东去，浪淘尽",
        "睡前故事：卖火柴的小女孩", "成语故事100则", "Harry Potter 哈利波特", "王小波《黄金时代》", "喜马拉雅FM出品",
        "有声小说Vol.3", "新概念英语Lesson 1 课文讲解",
    ])
    func `GBK that was read as Latin-1 becomes Chinese`(title: String) throws {
        let gbk = try #require(title.data(using: String.Encoding(rawValue: 0x8000_0632)))
        let latin1 = String(decoding: gbk.map { UInt16($0) }, as: UTF16.self)
        #expect(TagEncoding.repaired(latin1) == title)
        // What was right stays.
        #expect(TagEncoding.repaired(title) == title)
    }

    @Test(arguments: [
        "Les Misérables", "À la recherche du temps perdu", "L'Étranger", "Le Père Goriot", "Thérèse Raquin",
        "Vingt mille lieues sous les mers – première partie", "Une année à Paris", "Être et avoir", "Où est Charlie ?",
        "Noël",
        "ÉTÉ", "CRÉÉE", "LA CHARTREUSE À PARME", "Für Elise", "Die unendliche Geschichte – Hörbuch", "Das Schloß",
        "Tschick. Ungekürzte Lesung", "Räuber Hotzenplotz", "ÜBER ALLES", "Die Brüder Löwenherz", "Größe", "ÄÖÜ äöü ß",
        "Österreich für Anfänger", "MÄRCHEN FÜR KINDER", "Cien años de soledad", "El niño y el perro", "¿Qué es?",
        "¿Él o ella?", "¡Ánimo!", "Corazón tan blanco", "Ñandú", "Don Quijote – Capítulo 1º", "Pedro Páramo",
        "A paixão",
        "AÇÃO E REAÇÃO", "LIÇÕES DE VIDA", "Memórias Póstumas de Brás Cubas", "O CORAÇÃO", "Não há amanhã", "Þú og ég",
        "Sjálfstætt fólk", "Røde orm", "Ærlig talt", "Smörgåsbord", "Pippi Långstrump", "JÄÄÄÄR", "jäääär",
        "Così è (se vi pare)",
        "© 2019 Blackstone", "½ × ¼ = ⅛", "Café «Flore»", "20 °C", "£5 ± 2", "naïve coöperation", "Motörhead",
        "Plain text", "",
        "François René de Chateaubriand", "Åse", "It\u{92}s \u{93}quoted\u{94}", "\u{E9}", "\u{C7}a",
    ])
    func `Latin-1 and everything else stays as it is`(title: String) {
        #expect(TagEncoding.repaired(title) == title)
    }

    @Test func `lines of a document that are not UTF-8 are read as Latin-1, and the others as they are`() {
        let json =
            Array("{\"a\":\"三\",\n\"b\":\"\\\"".utf8) + [0xB9, 0x5C, 0x5C, 0xED] + Array("\",\n\"é\":\"x\"}".utf8)
        let text = String(decoding: ProbeDocument.withLatin1(json), as: UTF8.self)
        #expect(text == "{\"a\":\"三\",\n\"b\":\"\\\"\u{B9}\\\\\u{ED}\",\n\"é\":\"x\"}")
    }
}
