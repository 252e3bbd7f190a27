import CatalogStore
import DownloadEngine

/// The store is where transfers keep their journal.
extension CatalogStore: TransferJournal {}
