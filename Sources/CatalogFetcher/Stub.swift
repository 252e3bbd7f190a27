enum CatalogFetcherStub {}
