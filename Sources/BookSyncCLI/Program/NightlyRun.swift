import BookModel
import Foundation
import LibraryFiles

/// The mirror that runs every night: by the user's crontab, or by a systemd timer of the user's.
struct NightlyRun {
    /// Path of the configuration; nil for the one that is found without being named.
    let configuration: String?

    private static let program = Bundle.main.executablePath ?? "booksync"

    private var words: [String] {
        [Self.program, "mirror", "--quiet", "--wait", "10min", "--time-limit", "8h"]
            + (configuration.map { ["--config", $0] } ?? [])
    }

    private var crontabLine: String {
        "30 3 * * *  exec \(words.map(Self.crontabWord).joined(separator: " "))"
    }

    /// The command of a shell that adds the run to the crontab.
    var crontabCommand: String { "(crontab -l; echo '\(crontabLine.replacing("'", with: "'\\''"))') | crontab -" }

    /// A word of a shell's command within a crontab, where a `%` ends the line.
    private static func crontabWord(_ word: String) -> String {
        let isPlain = word.allSatisfy { $0.isLetter || $0.isNumber || "/._-+@,:".contains($0) }
        return isPlain ? word : "'\(word.replacing("'", with: "'\\''"))'".replacing("%", with: "\\%")
    }

    /// Leaves a table alone that cannot be read, or runs the program already.
    private static let addition = #"""
        command -v crontab >/dev/null || exit 127
        old=$(LC_ALL=C crontab -l 2>&1) || case $old in *'no crontab'* | *'No such file'*) old= ;; *) exit 1 ;; esac
        case $(printf '%s\n' "$old" | grep -v '^ *#') in *"$2"*) exit 0 ;; esac
        { [ -z "$old" ] || printf '%s\n' "$old"; printf '%s\n' "$1"; } | crontab -
        """#

    /// - Throws: ``Failure`` of kind `configuration`.
    func addToCrontab() async throws {
        let status = try await Self.shell(Self.addition, crontabLine, "exec \(Self.crontabWord(Self.program)) mirror ")
        if status != 0 {
            throw Self.failure(
                because: status == 127 ? "there is no crontab command here" : "crontab does not let you",
                "install cron, or use booksync init --timer")
        }
    }

    static let timerStart = "systemctl --user daemon-reload && systemctl --user enable --now booksync.timer"

    private static let units = #"""
        mkdir -p "$1" && cd "$1" || exit 1
        printf '%s\n' '[Unit]' 'Description=Mirror the subscribed audiobooks' '[Service]' Type=oneshot \
            "ExecStart=$2" 'SuccessExitStatus=129 130 143' >booksync.service || exit 1
        printf '%s\n' '[Unit]' 'Description=Mirror the subscribed audiobooks every night' '[Timer]' \
            'OnCalendar=*-*-* 03:30:00' RandomizedDelaySec=1h Persistent=yes '[Install]' WantedBy=timers.target \
            >booksync.timer || exit 1
        { eval "$3"; } >/dev/null 2>&1 || exit 2
        """#

    /// - Parameter folder: that the units are written to.
    /// - Returns: whether systemd took them.
    /// - Throws: ``Failure`` of kind `configuration`.
    func startTimer(below folder: String) async throws -> Bool {
        let command = words.map { word in
            let escaped = word.replacing(/["\\]/) { "\\\($0.output)" }
            return "\"\(escaped.replacing("%", with: "%%").replacing("$", with: "$$"))\""
        }.joined(separator: " ")
        let status = try await Self.shell(Self.units, folder, command, Self.timerStart)
        if status == 1 {
            throw Self.failure(because: "\(folder) cannot be written", "see that you may write there")
        }
        return status == 0
    }

    private static func failure(because why: Message, _ remedy: Message) -> Failure {
        Failure(
            .configuration, disposition: .stop, what: "the nightly run is not set up", why: why, remedy: remedy)
    }

    private static func shell(_ script: String, _ arguments: String...) async throws -> Int32 {
        try await runBlocking {
            let process = Process()
            process.executableURL = URL(filePath: "/bin/sh")
            process.arguments = ["-c", script, "sh"] + arguments
            try process.run()
            process.waitUntilExit()
            return process.terminationStatus
        }
    }
}
