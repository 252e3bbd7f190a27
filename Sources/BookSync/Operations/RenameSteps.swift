import BookModel
import DownloadEngine
import LibraryFiles

/// One move of a file towards its new name.
struct RenameStep: Equatable {
    var episode: EpisodeIdentity
    var from: String
    var to: String
}

/// Breaks renames down into moves of which none meets a file.
///
/// Where a name is still another's (names that are swapped, or that differ only in case on a filesystem that ignores
/// it), the file steps aside under a hidden name in its own folder until the name is free.
package enum RenameSteps {
    /// - Parameter renames: in the order of the plan.
    static func steps(for renames: [RenameStep]) -> [RenameStep] {
        var steps: [RenameStep] = []
        // Names are compared as a filesystem may compare them: rather one move too many than one that cannot be made.
        var unmoved: [SafeName.ComparisonKey: Int] = [:]
        for rename in renames { unmoved[SafeName.comparisonKey(rename.from), default: 0] += 1 }
        var waiting: [SafeName.ComparisonKey: RenameStep] = [:]
        for rename in renames {
            let (source, target) = (SafeName.comparisonKey(rename.from), SafeName.comparisonKey(rename.to))
            if unmoved[target, default: 0] > 0 {
                steps.append(
                    RenameStep(
                        episode: rename.episode, from: rename.from, to: aside(rename.episode, from: rename.from)))
                waiting[target] = rename
            } else {
                steps.append(rename)
            }
            unmoved[source, default: 1] -= 1
            if unmoved[source] == 0, let next = waiting.removeValue(forKey: source) {
                steps.append(
                    RenameStep(episode: next.episode, from: aside(next.episode, from: next.from), to: next.to))
            }
        }
        return steps
    }

    /// Where an episode's file waits: always the same name, so that a later run knows it.
    package static func aside(_ episode: EpisodeIdentity, from path: String) -> String {
        let folder = splitLibraryPath(path).folder
        return (folder.isEmpty ? "" : folder + "/") + ".booksync-" + PartialFile.name(for: episode)
    }
}
