import BookModel
import DownloadEngine
import LibraryFiles

/// What the books of a run that were planned so far take, leave and fill: by it a plan that was made beside theirs is
/// known to be the one that would be made now, or not to be.
struct TakenPaths {
    /// Paths that these books are going to take.
    private var claimed: Set<String> = []
    private var claims: [BookIdentity: [String]] = [:]
    /// The folders in which they change anything, as names are compared.
    private var folders: Set<SafeName.ComparisonKey> = []

    /// Paths that other books are going to take.
    func claimed(without book: BookIdentity) -> Set<String> {
        guard let own = claims[book] else { return claimed }
        return claimed.subtracting(own)
    }

    mutating func add(_ assembled: AssembledPlan) {
        let own = assembled.claims
        claimed.formUnion(own)
        if !own.isEmpty { claims[assembled.plan.book.identity, default: []] += own }
        guard assembled.changesLibrary else { return }
        folders.formUnion(assembled.claims.map(Self.folder))
        folders.formUnion(assembled.plan.actions.compactMap(\.fromPath).map(Self.folder))
    }

    /// Whether the plan might have been another one behind these books. Where it looked for files beyond the places that
    /// it names, nobody knows.
    func conflicts(with assembled: AssembledPlan) -> Bool {
        guard !folders.isEmpty else { return false }
        if assembled.looksFurther { return true }
        // It may list nothing, where nothing is to be done.
        if let cached = assembled.cached {
            return cached.folders.contains { folders.contains(SafeName.comparisonKey($0)) }
        }
        var last = ""
        return assembled.plan.actions.contains { action in
            [action.path, action.fromPath].compactMap(\.self).contains { path in
                let folder = String(splitLibraryPath(path).folder)
                // Most stand where the one before stood.
                guard folder != last else { return false }
                last = folder
                return folders.contains(SafeName.comparisonKey(folder))
            }
        }
    }

    private static func folder(of path: String) -> SafeName.ComparisonKey {
        SafeName.comparisonKey(String(splitLibraryPath(path).folder))
    }
}

extension AssembledPlan {
    fileprivate var changesLibrary: Bool {
        !requests.isEmpty || plan.actions.contains { $0.kind == .rename || $0.kind == .adopt || $0.fromPath != nil }
    }

    /// Whether it depends on more than the places that it names.
    var looksFurther: Bool {
        !moved.isEmpty || !vanished.isEmpty || !adoptions.isEmpty || !tombstoned.isEmpty
    }
}
