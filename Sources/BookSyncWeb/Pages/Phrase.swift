/// The texts of the pages that have a place in the code. What each language makes of it stands in its table; `{names}` are
/// filled in. The words for keywords are in the table alone: `state.paused` of a ``SeenState``, `failure.usage` of a
/// ``Failure/Kind``, `finding.ok` of a finding, and `check.lock` of what `doctor` looks at.
///
/// A text that counts something may have two forms with `~` between: for one, and for any other number.
package enum Phrase: String, Sendable, CaseIterable {
    case skipToContent, mainNavigation, search, searchLabel, searchPlaceholder, keySearch, keySpace, keyPlay
    case keySkip, logOut, player, play, pausePlaying, previousEpisode, nextEpisode, back15, forward15
    case forward30, position, speed, sleepTimer, sleepOff, sleep15, sleep30, sleep60, sleepAtEnd, columnNumber
    case columnName, columnLength, columnSize, columnState, columnActions, pages, previousPage, nextPage
    case pageOf, shelf, goOnListening, sortedBy, sortNews, sortTitle, sortAuthor, sortMissing, sortFirstEpisode,
        sortLastEpisode, findInBook, emptyShelf, chapters
    case emptyShelfWhatNext, addBook, aboutBook, episodes, filterByState, all, noEpisodes, feed, neighbours
    case queue, wholeRun, emptyQueue, emptyQueueWhatNext, runs, noRuns, noRunsWhatNext, subscriptions
    case addByReference, referencePlaceholder, referenceHint, lookAt, listenFirst, subscribe, unsubscribe, downloadOnce
    case noSubscriptions, nextMirror, noMirror, inConfiguration, forPodcastApps, forPodcastAppsHow, rotateHint, rotate
    case rotateQuestion, doctor, askSources, askSourcesHint, logIn, logInHint, password, wrongPassword
    case tooManyTries, toShelf, stateToCome
    case download, pause, resume, cancel, delete, downloadAgain, retry, downloadMissing, pauseAll, resumeAll
    case deleteFile, deleteFiles, deleteQuestion, deleteAllQuestion, countDays, cancelQuestion, actionOf, mirrorNow
    case playFromStart, playOn, heard, heardTo, factEpisodes, factOnDisk, factMissing, factLocked, factBytes
    case factUpdated, factSource, factLength, factNumber, factPublished, factFetched, factFile, factAttempts
    case readBy, onDiskOf, onDiskSpoken, bytesOf, perSecond, timeLeft, countBooks, countEpisodes
    case countFound, countMoreFound, countFollowed, countMore, countProblems, countWarnings, allIsWell
    case underWayCount, waitingCount, pausedCount, failedCount, searchHeading, searchFor, searchHint
    case nothingFound, runFetch, runMirror, runJoin, runEnded, runFailed, runUnderWay, runCutOff, runStopped, runFetched
    case runResumed, runFailedEpisodes, runLeft, runNothing, latestOnly, incompleteListing
    case libraryUnanswered, factLibrary
    case missingPage, missingPageWhy, failedPage, refusedPage
    case refusedWhy, tryAgain, askLater, readOnly, saidStarted, saidFinished, saidFailed, saidPaused
    case saidCancelled, saidMany, saidPlaying, saidSleep, saidSkipped, saidElsewhere, continueThere, stayHere,
        lostServer, actionFailed
    case discover, discoverField, discoverHint, discoverLanguage, add, added, allByAuthor, moreByAuthors, foundIn,
        askingSources
    case oneFile, join, joining, notJoined, joinUpToDate, joinOutdated
    case outline, outlineExport, outlineImport, outlineFile, imported, importFailed, latestField
    case otherDevice, addBookmark, bookmarkNote, saidBookmarked, bookmarks, removeBookmark, playFrom, markPlayed,
        markPlayedUpTo
    case markUnplayed, markUnplayedQuestion, dismiss, nextBook, percent, factHeard, userName, logInNamesHint
    case checkSource
}
