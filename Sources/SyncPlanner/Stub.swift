enum SyncPlannerStub {}
