// The page as a whole: head, sections in order, foot.
#include "study/page.h"

#include <math.h>
#include <string.h>

// --- text and numbers -------------------------------------------------------------------------------------------

void flx__page_text(flx_page* page, const char* format, ...)
{
    char    text[4096];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    flx__file_write(page->file, text, (int64_t)strlen(text));
}

void flx__page_format(double value, char text[32])
{
    char raw[32];
    if (!isfinite(value))
    {
        snprintf(text, 32, "%s", isnan(value) ? "-" : "inf");
        return;
    }
    if (value == floor(value) && fabs(value) < 1e5)
        flx__print_c(raw, sizeof raw, "%.0f", value);
    else if (fabs(value) >= 100 && fabs(value) < 1e4)
        flx__print_c(raw, sizeof raw, "%.0f", value);
    else
        flx__print_c(raw, sizeof raw, fabs(value) < 0.01 ? "%.1e" : "%.2g", value);
    char* e = strchr(raw, 'e'); // 1.2e-05 -> 1.2e-5
    if (!e)
    {
        snprintf(text, 32, "%s", raw);
        return;
    }
    const char* digits = e + 2;
    while (*digits == '0' && digits[1]) ++digits;
    snprintf(text, 32, "%.*se%s%s", (int)(e - raw), raw, e[1] == '-' ? "-" : "", digits);
}

static flx_status keep_claim(flx_page* page, const flx_study_claim* claim)
{
    flx_status status = FLX_OK;
    flx_study* s      = page->s;
    FLX_RESERVE(s->ctx, s->claim, s->claim_capacity, s->claim_count + 1);
    s->claim[s->claim_count++] = *claim;
done:
    return status;
}

void flx__page_number(flx_page* page, double value, const char* key, ...)
{
    flx_study_claim claim = {.value = value};
    va_list         args;
    va_start(args, key);
    vsnprintf(claim.key, sizeof claim.key, key, args);
    va_end(args);
    snprintf(claim.figure, sizeof claim.figure, "%s", page->figure);
    flx__page_format(value, claim.text);
    flx__page_text(page, "<b>%s</b>", claim.text);
    if (page->status == FLX_OK) page->status = keep_claim(page, &claim);
}

void flx__page_sentence(flx_page* page, const char* who, const double* value, const char* text)
{
    for (const char* open; (open = strchr(text, '{')); text = strchr(open, '}') + 1)
    {
        const int length = (int)strcspn(open + 1, "}");
        flx__file_write(page->file, text, open - text);
        flx__page_number(page, *value++, "%s%s%.*s", who ? who : "", who ? " " : "", length, open + 1);
    }
    flx__file_write(page->file, text, (int64_t)strlen(text));
}

void flx__page_section(flx_page* page, const char* figure, const char* title)
{
    page->figure = figure;
    flx__page_text(page, "<h2 id='%s'>%s</h2>\n", figure, title);
}

// --- head ---------------------------------------------------------------------------------------------------------

static const char style[] =
    "<style>:root{--bg:#fcfcfa;--fg:#1d1f24;--dim:#6a6e78;--line:#d9dae0;--ok:#d8efd9;--odd:#fdebc8;--bad:#f7d0ce;"
    "--s0:#2b6cb0;--s1:#c05621;--s2:#2f855a;--s3:#9b2c8a;--s4:#7b6a00;--s5:#0e8aa0;--s6:#b83246;--s7:#555b66;--s8:#"
    "5a4fcf;--s9:#3f6f1f;--s10:#8a5a2b}"
    "@media(prefers-color-scheme:dark){:root{--bg:#16181d;--fg:#e4e6eb;--dim:#9aa0ac;--line:#353a45;--ok:#1f4a2b;"
    "--odd:#5a4512;--bad:#642626;--s0:#6fb1f5;--s1:#f39a5c;--s2:#6fd196;--s3:#e08ad2;--s4:#d8c64a;--s5:#5ed3e6;"
    "--s6:#ff8092;--s7:#aab0bc;--s8:#a9a1ff;--s9:#a6d36b;--s10:#d0a070}}"
    "body{background:var(--bg);color:var(--fg);font:16px/1.5 system-ui,sans-serif;max-width:1180px;margin:0 auto;"
    "padding:1.2rem}h1{font-size:1.7rem;margin:.2em 0}h2{font-size:1.2rem;margin:2.2em 0 .4em;border-top:1px solid "
    "var(--line);padding-top:.8em}p{max-width:75ch}.grid{display:grid;grid-template-columns:repeat(auto-fill,"
    "minmax(310px,1fr));gap:.6rem}.four{grid-template-columns:repeat(auto-fill,minmax(255px,1fr))}figure{margin:0}"
    "figcaption{font-size:.82rem;color:var(--dim)}img{width:100%;"
    "border-radius:4px;display:block}svg{width:100%;display:block;font:10px system-ui,sans-serif}svg text{fill:"
    "var(--dim)}svg .t{fill:var(--fg);font-weight:600;font-size:12px}svg .g{stroke:var(--line);stroke-width:.6}svg .b{"
    "fill:none;stroke:var(--dim);stroke-width:.8}.legend{font-size:.85rem;max-width:none}.legend span{display:"
    "inline-block;margin-right:1.1em}.legend svg{width:26px;display:inline-block;vertical-align:middle;margin-right:"
    ".35em}.wide{overflow-x:auto}table{border-collapse:collapse;font-size:.82rem;font-variant-numeric:tabular-nums}"
    "th,td{padding:.18em .55em;border-bottom:1px solid var(--line);text-align:right;white-space:nowrap}th:first-child,"
    "td:first-child{text-align:left}td.o{background:var(--ok)}td.d{background:var(--odd)}td.x{background:var(--bad)}"
    ".dim{color:var(--dim)}nav a{margin-right:1em;white-space:nowrap;color:var(--s0)}";

static void write_styles(flx_page* page)
{
    flx__page_text(page, "%s", style);
    for (int k = 0; k < flx__study_method_count; ++k)
        flx__page_text(page, ".l%d{fill:none;stroke:var(--s%d);stroke-width:1.6}.p%d{fill:var(--s%d);fill-opacity:.75}",
                       k, k, k, k);
    flx__page_text(page, "</style>");
}

static void write_head(flx_page* page)
{
    const flx_study* s = page->s;
    flx__page_text(page, "<!doctype html>\n<html lang='en'><head><meta charset='utf-8'><meta name='viewport' "
                         "content='width=device-width,initial-scale=1'><title>DEIM for Projective Dynamics</title>\n");
    write_styles(page);
    flx__page_text(page,
                   "</head><body>\n<h1>Can the forces of Projective Dynamics be reduced by DEIM?</h1>\n"
                   "<p>Every figure of the feasibility study [MPB], derived again, and the same for methods that work. "
                   "%lld trials on %d experiments, cloths of %d x %d vertices, %d rounds a frame; made by <code>flexor "
                   "study deim</code> in %.0f s. Every number in a sentence is computed from the trials and stands in "
                   "the JSON file beside this page; every trial in the CSV file.</p>\n",
                   (long long)s->trial_count, s->experiment_count, s->side, s->side, FLX_LAB_ROUNDS, s->seconds);
    flx__page_text(
        page,
        "<p class='dim'>e(t): root mean square distance of the vertices from the full order, over the diagonal of "
        "the rest pose; tables give its largest value over the frames. E: largest elastic and kinetic energy by "
        "all true constraints, over the full order's. <b>Exploded</b>: e &gt; 1 or not finite. <b>Distorted</b>: "
        "e &gt; 0.5 or E &gt; 3. <b>3x</b>: the training load for three times as long. <b>Unseen</b>: another "
        "load for as long. r: modes of each constraint; m: elements whose projections are computed.</p>\n");
}

flx_status flx__study_write_page(flx_study* s, const char* path, bool overwrite)
{
    flx_status status = FLX_OK;
    flx_page   page   = {.s = s, .path = path};
    FLX_TRY(flx__file_begin(s->ctx, path, overwrite, &page.file));
    s->claim_count = 0;
    write_head(&page);
    flx__page_scoreboard(&page);
    flx__page_targets(&page);
    FLX_TRY(flx__page_poses(&page));
    flx__page_decay(&page);
    flx__page_reconstruction(&page);
    flx__page_one_at_a_time(&page);
    flx__page_failures(&page);
    flx__page_energy(&page);
    flx__page_others(&page);
    flx__page_unseen(&page);
    flx__page_cause(&page);
    flx__page_speed(&page);
    flx__page_table(&page);
    flx__page_text(&page, "</body></html>\n");
    FLX_TRY(page.status);
    status    = flx__file_commit(page.file);
    page.file = NULL;
done:
    flx__file_abort(page.file);
    return status;
}
