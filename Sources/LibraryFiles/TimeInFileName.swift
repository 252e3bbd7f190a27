import Foundation

extension FormatStyle where Self == Date.ISO8601FormatStyle {
    /// A time in the name of a file or folder, without the colons that some filesystems refuse: `20260802T093000Z`.
    package static var inFileName: Self { Self(dateSeparator: .omitted, timeSeparator: .omitted, timeZone: .gmt) }
}
