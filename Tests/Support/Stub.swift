enum SupportStub {}
