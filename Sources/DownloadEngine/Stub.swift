enum DownloadEngineStub {}
