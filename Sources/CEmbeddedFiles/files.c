#include "CEmbeddedFiles.h"
#include <string.h>

// #embed is C23; Clang accepts it in every version of C.
#pragma clang diagnostic ignored "-Wc23-extensions"

static const unsigned char zh_po[] = {
#embed "../BookModel/Languages/Resources/zh.po"
};
static const unsigned char parser_zh_tsv[] = {
#embed "../BookModel/Languages/Resources/parser.zh.tsv"
};
static const unsigned char Schema_sql[] = {
#embed "../CatalogStore/Schema.sql"
};
static const unsigned char Melody_mp3[] = {
#embed "../BookSyncWeb/Demo/Melody.mp3"
};
static const unsigned char openapi_json[] = {
#embed "../BookSyncWeb/Api/Resources/openapi.json"
};
static const unsigned char actions_mustache[] = {
#embed "../BookSyncWeb/Pages/Resources/actions.mustache"
};
static const unsigned char book_mustache[] = {
#embed "../BookSyncWeb/Pages/Resources/book.mustache"
};
static const unsigned char discover_mustache[] = {
#embed "../BookSyncWeb/Pages/Resources/discover.mustache"
};
static const unsigned char doctor_mustache[] = {
#embed "../BookSyncWeb/Pages/Resources/doctor.mustache"
};
static const unsigned char episode_mustache[] = {
#embed "../BookSyncWeb/Pages/Resources/episode.mustache"
};
static const unsigned char found_mustache[] = {
#embed "../BookSyncWeb/Pages/Resources/found.mustache"
};
static const unsigned char icon_svg[] = {
#embed "../BookSyncWeb/Pages/Resources/icon.svg"
};
static const unsigned char layout_mustache[] = {
#embed "../BookSyncWeb/Pages/Resources/layout.mustache"
};
static const unsigned char live_js[] = {
#embed "../BookSyncWeb/Pages/Resources/live.js"
};
static const unsigned char login_mustache[] = {
#embed "../BookSyncWeb/Pages/Resources/login.mustache"
};
static const unsigned char pager_mustache[] = {
#embed "../BookSyncWeb/Pages/Resources/pager.mustache"
};
static const unsigned char pages_js[] = {
#embed "../BookSyncWeb/Pages/Resources/pages.js"
};
static const unsigned char play_mustache[] = {
#embed "../BookSyncWeb/Pages/Resources/play.mustache"
};
static const unsigned char player_js[] = {
#embed "../BookSyncWeb/Pages/Resources/player.js"
};
static const unsigned char player_mustache[] = {
#embed "../BookSyncWeb/Pages/Resources/player.mustache"
};
static const unsigned char queue_mustache[] = {
#embed "../BookSyncWeb/Pages/Resources/queue.mustache"
};
static const unsigned char rows_mustache[] = {
#embed "../BookSyncWeb/Pages/Resources/rows.mustache"
};
static const unsigned char runs_mustache[] = {
#embed "../BookSyncWeb/Pages/Resources/runs.mustache"
};
static const unsigned char search_mustache[] = {
#embed "../BookSyncWeb/Pages/Resources/search.mustache"
};
static const unsigned char shelf_css[] = {
#embed "../BookSyncWeb/Pages/Resources/shelf.css"
};
static const unsigned char shelf_js[] = {
#embed "../BookSyncWeb/Pages/Resources/shelf.js"
};
static const unsigned char shelf_mustache[] = {
#embed "../BookSyncWeb/Pages/Resources/shelf.mustache"
};
static const unsigned char shelf_webmanifest[] = {
#embed "../BookSyncWeb/Pages/Resources/shelf.webmanifest"
};
static const unsigned char subscriptions_mustache[] = {
#embed "../BookSyncWeb/Pages/Resources/subscriptions.mustache"
};
static const unsigned char trouble_mustache[] = {
#embed "../BookSyncWeb/Pages/Resources/trouble.mustache"
};

#define FILE(name, bytes) { name, bytes, sizeof bytes }
static const struct embedded_file files[] = {
    FILE("zh.po", zh_po),
    FILE("parser.zh.tsv", parser_zh_tsv),
    FILE("Schema.sql", Schema_sql),
    FILE("Melody.mp3", Melody_mp3),
    FILE("openapi.json", openapi_json),
    FILE("actions.mustache", actions_mustache),
    FILE("book.mustache", book_mustache),
    FILE("discover.mustache", discover_mustache),
    FILE("doctor.mustache", doctor_mustache),
    FILE("episode.mustache", episode_mustache),
    FILE("found.mustache", found_mustache),
    FILE("icon.svg", icon_svg),
    FILE("layout.mustache", layout_mustache),
    FILE("live.js", live_js),
    FILE("login.mustache", login_mustache),
    FILE("pager.mustache", pager_mustache),
    FILE("pages.js", pages_js),
    FILE("play.mustache", play_mustache),
    FILE("player.js", player_js),
    FILE("player.mustache", player_mustache),
    FILE("queue.mustache", queue_mustache),
    FILE("rows.mustache", rows_mustache),
    FILE("runs.mustache", runs_mustache),
    FILE("search.mustache", search_mustache),
    FILE("shelf.css", shelf_css),
    FILE("shelf.js", shelf_js),
    FILE("shelf.mustache", shelf_mustache),
    FILE("shelf.webmanifest", shelf_webmanifest),
    FILE("subscriptions.mustache", subscriptions_mustache),
    FILE("trouble.mustache", trouble_mustache),
};

const struct embedded_file *embedded_file(const char *name) {
    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        if (strcmp(files[i].name, name) == 0) return &files[i];
    return NULL;
}
