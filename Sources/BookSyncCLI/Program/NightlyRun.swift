import BookModel
import Foundation
import LibraryFiles

/// The mirror that runs every night: by the user's crontab, or by a systemd timer of the user's.
struct NightlyRun {
    /// Path of the configuration. It is always named: cron and systemd have no environment of the user's.
    let configuration: String
    /// True if a run for which none is named finds it, too.
    let isStandard: Bool

    private static let program = Bundle.main.executablePath ?? "booksync"

    private var words: [String] {
        [Self.program, "mirror", "--quiet", "--wait", "10min", "--time-limit", "8h", "--config", configuration]
    }

    /// NAME=value lines for the `${NAME}` of the configuration.
    private var secrets: String {
        URL(filePath: configuration).deletingLastPathComponent().appending(path: "secrets.env").path
    }

    private var crontabLine: String {
        let (file, command) = (Self.crontabWord(secrets), words.map(Self.crontabWord).joined(separator: " "))
        return "30 3 * * *  set -a; [ ! -r \(file) ] || . \(file); exec \(command)"
    }

    /// The command of a shell that adds the run to the crontab.
    var crontabCommand: String { "(crontab -l; echo '\(crontabLine.replacing("'", with: "'\\''"))') | crontab -" }

    /// A word of a shell's command within a crontab, where a `%` ends the line.
    private static func crontabWord(_ word: String) -> String {
        let isPlain = word.allSatisfy { $0.isLetter || $0.isNumber || "/._-+@,:".contains($0) }
        return isPlain ? word : "'\(word.replacing("'", with: "'\\''"))'".replacing("%", with: "\\%")
    }

    /// Leaves a table alone that cannot be read, or has a line of this program and this configuration. What a
    /// crontab that can be read prints besides is not part of it.
    private static let addition = #"""
        command -v crontab >/dev/null || exit 127
        old=$(LC_ALL=C crontab -l 2>/dev/null) || case $(LC_ALL=C crontab -l 2>&1) in
            *'no crontab'* | *'No such file'*) ;;
            *) exit 1 ;;
        esac
        printf '%s\n' "$old" | grep -v '^ *#' | sed 's/$/ /' | grep -F -e "$2" | grep -qF -e "$3" && exit 0
        { [ -z "$old" ] || printf '%s\n' "$old"; printf '%s\n' "$1"; } | crontab - || exit 2
        """#

    /// - Throws: ``Failure`` of kind `configuration`.
    func addToCrontab() async throws {
        let why: Message
        let status = try await Self.shell(
            Self.addition, crontabLine, "exec \(Self.crontabWord(Self.program)) mirror ",
            words.suffix(2).map(Self.crontabWord).joined(separator: " ") + " ")
        switch status {
        case 0: return
        case 1: why = "your crontab cannot be read"
        case 127: why = "there is no crontab command here"
        default: why = "crontab refused the new table"
        }
        throw Self.failure(because: why, "install cron, or use booksync init --timer")
    }

    static let timerStart = "systemctl --user daemon-reload && systemctl --user enable --now booksync.timer"

    /// Leaves units alone that are there: those that `config/install` brings, or that the user changed.
    private static let units = #"""
        mkdir -p "$1" && cd "$1" || exit 1
        if [ -e booksync.service ]; then
            grep -qF -e "$4" booksync.service || { [ -n "$5" ] && ! grep -q -e --config booksync.service; } || exit 3
        else
            printf '%s\n' '[Unit]' 'Description=Mirror the subscribed audiobooks every night' '[Timer]' \
                'OnCalendar=*-*-* 03:30:00' RandomizedDelaySec=1h Persistent=yes '[Install]' WantedBy=timers.target \
                >booksync.timer || exit 1
            printf '%s\n' '[Unit]' 'Description=Mirror the subscribed audiobooks' '[Service]' Type=oneshot \
                "EnvironmentFile=-$3" "ExecStart=$2 $4" 'SuccessExitStatus=129 130 143' >booksync.new &&
                mv booksync.new booksync.service || exit 1
        fi
        { eval "$6"; } >/dev/null 2>&1 || exit 2
        """#

    /// - Parameter folders: that a user's units may be in; they are written to the first one if they are in none.
    /// - Returns: where they are, and whether systemd took them.
    /// - Throws: ``Failure`` of kind `configuration`.
    func startTimer(in folders: [String]) async throws -> (folder: String, isStarted: Bool) {
        let folder = folders.first { FileManager.default.fileExists(atPath: $0 + "/booksync.service") } ?? folders[0]
        let quoted = words.map { word in
            let escaped = word.replacing(/["\\]/) { "\\\($0.output)" }
            return "\"\(escaped.replacing("%", with: "%%").replacing("$", with: "$$"))\""
        }
        let status = try await Self.shell(
            Self.units, folder, quoted.dropLast(2).joined(separator: " "), secrets.replacing("%", with: "%%"),
            quoted.suffix(2).joined(separator: " "), isStandard ? "standard" : "", Self.timerStart)
        switch status {
        case 1: throw Self.failure(because: "\(folder) cannot be written", "see that you may write there")
        case 3:
            throw Self.failure(
                because: "\(folder)/booksync.service is there already and runs something else",
                "edit it, or move it away and run init again")
        default: return (folder, status == 0)
        }
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
