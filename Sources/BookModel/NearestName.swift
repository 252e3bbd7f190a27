/// The name that was probably meant by a mistyped one, if any is near.
/// - Returns: nil when even the nearest is a different word: more than a third of the letters would have to change.
package func nearest(to text: String, among names: some Collection<String>) -> String? {
    let limit = max(1, min(text.count, 24) / 3)
    let ranked = names.map { (name: $0, distance: editDistance(text.lowercased(), $0.lowercased())) }
    return ranked.filter { $0.distance <= limit }.min { ($0.distance, $0.name) < ($1.distance, $1.name) }?.name
}

/// How many letters must be changed, added, left out or swapped with their neighbour to make one of the other
/// (the restricted Damerau–Levenshtein distance).
package func editDistance(_ one: String, _ other: String) -> Int {
    let one = Array(one.prefix(64))
    let other = Array(other.prefix(64))
    var beforeLast: [Int] = []
    var last = Array(0...other.count)
    for i in one.indices {
        var row = [i + 1]
        for j in other.indices {
            var best = min(last[j + 1] + 1, row[j] + 1, last[j] + (one[i] == other[j] ? 0 : 1))
            if i > 0, j > 0, one[i] == other[j - 1], one[i - 1] == other[j] { best = min(best, beforeLast[j - 1] + 1) }
            row.append(best)
        }
        beforeLast = last
        last = row
    }
    return last[other.count]
}
