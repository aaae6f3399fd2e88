#include "report.h"

#include <stdarg.h>
#include <string.h>
#include <unistd.h>

static FILE* append(const char* path, const char* header)
{
    FILE* file = fopen(path, "a");
    if (!file)
        perror(path);
    else if (fseek(file, 0, SEEK_END) == 0 && ftell(file) == 0)
        fputs(header, file);
    return file;
}

int report_open(report* r, const char* csv, const char* markdown)
{
    *r = (report){0};
    if (csv)
        r->csv = append(csv, "race,yardstick,first_ms,second_ms,together_ms,min_ms,q1_ms,q3_ms,max_ms,runs,times_ours,"
                             "residual,difference_from_ours,note\n");
    if (markdown) r->markdown = append(markdown, "");
    return (!csv || r->csv) && (!markdown || r->markdown) ? 0 : -1;
}

void report_close(report* r)
{
    if (r->csv) fclose(r->csv);
    if (r->markdown) fclose(r->markdown);
    *r = (report){0};
}

void report_line(const report* r, const char* format, ...)
{
    FILE* const file[] = {stdout, r->markdown};
    for (int i = 0; i < 2; ++i)
    {
        if (!file[i]) continue;
        va_list list;
        va_start(list, format);
        vfprintf(file[i], format, list);
        va_end(list);
        fputs(file[i] == stdout ? "\n" : "\n\n", file[i]);
        fflush(file[i]);
    }
}

/// The value of the first line `key<separator>value`, without quotes.
static void find_line(const char* path, const char* key, char* out, size_t size)
{
    char  line[512];
    FILE* file = fopen(path, "r");
    snprintf(out, size, "unknown");
    while (file && fgets(line, sizeof line, file))
    {
        if (strncmp(line, key, strlen(key)) != 0) continue;
        const char* value = line + strlen(key);
        value += strspn(value, " \t:=\"");
        snprintf(out, size, "%.*s", (int)strcspn(value, "\"\n"), value);
        break;
    }
    if (file) fclose(file);
}

void report_machine(const report* r)
{
    char cpu[128], system[128];
    find_line("/proc/cpuinfo", "model name", cpu, sizeof cpu);
    find_line("/etc/os-release", "PRETTY_NAME", system, sizeof system);
    report_line(r, "Machine: %s, %ld cores; %s; compiler %s.", cpu, sysconf(_SC_NPROCESSORS_ONLN), system, __VERSION__);
}

static void print_number(FILE* file, const char* format, const char* none, double value, int there)
{
    if (there)
        fprintf(file, format, value);
    else
        fputs(none, file);
}

static double times(const report_row* ours, const report_row* row)
{
    const double m = median(&ours->together);
    return m > 0 ? median(&row->together) / m : 0;
}

static void race_csv(FILE* file, const char* race, const report_row* rows, int count)
{
    for (int i = 0; i < count; ++i)
    {
        const report_row* w = &rows[i];
        const samples*    t = &w->together;
        fprintf(file, "%s,\"%s\",", race, w->who);
        print_number(file, "%.3f,", ",", median(&w->first), w->first.count > 0);
        print_number(file, "%.3f,", ",", median(&w->second), w->second.count > 0);
        if (t->count > 0)
            fprintf(file, "%.3f,%.3f,%.3f,%.3f,%.3f,%d,%.3f,", median(t), quantile(t, 0), quantile(t, 0.25),
                    quantile(t, 0.75), quantile(t, 1), t->count, times(rows, w));
        else
            fputs(",,,,,0,,", file);
        print_number(file, "%.2e,", ",", w->residual, w->residual >= 0);
        print_number(file, "%.2e,", ",", w->difference, w->difference >= 0);
        fprintf(file, "\"%s\"\n", w->note);
    }
    fflush(file);
}

static void race_table(FILE* file, const char* first, const char* second, const report_row* rows, int count)
{
    const char* const line = "| %-52s | %10s | %10s | %9s | %32s | %10s | %8s | %10s | %s |\n";
    fprintf(file, line, "median ms", first, second, "together", "min / q1 / q3 / max", "times ours", "residual",
            "difference", "note");
    fputs("|---|---|---|---|---|---|---|---|---|\n", file);
    for (int i = 0; i < count; ++i)
    {
        const report_row* w = &rows[i];
        const samples*    t = &w->together;
        char              cell[6][64];
        memset(cell, 0, sizeof cell);
        if (w->first.count > 0) snprintf(cell[0], sizeof cell[0], "%.2f", median(&w->first));
        if (w->second.count > 0) snprintf(cell[1], sizeof cell[1], "%.2f", median(&w->second));
        if (t->count > 0)
        {
            snprintf(cell[2], sizeof cell[2], "%.2f", median(t));
            snprintf(cell[3], sizeof cell[3], "%.4g / %.4g / %.4g / %.4g", quantile(t, 0), quantile(t, 0.25),
                     quantile(t, 0.75), quantile(t, 1));
            snprintf(cell[4], sizeof cell[4], "%.2f", times(rows, w));
        }
        if (w->residual >= 0) snprintf(cell[5], sizeof cell[5], "%.1e", w->residual);
        char difference[64] = "";
        if (w->difference >= 0) snprintf(difference, sizeof difference, "%.1e", w->difference);
        fprintf(file, line, w->who, cell[0], cell[1], cell[2], cell[3], cell[4], cell[5], difference, w->note);
    }
    fputs("\n", file);
    fflush(file);
}

void report_race(const report* r, const char* race, const char* title, const char* first, const char* second,
                 const report_row* rows, int count)
{
    report_line(r, "## %s", title);
    race_table(stdout, first, second, rows, count);
    if (r->markdown) race_table(r->markdown, first, second, rows, count);
    if (r->csv) race_csv(r->csv, race, rows, count);
}

void report_targets(const report* r, const report_target* target, int count)
{
    FILE* const file[] = {stdout, r->markdown};
    for (int k = 0; k < 2; ++k)
    {
        if (!file[k]) continue;
        fprintf(file[k], "| %-84s | at least | measured | |\n|---|---|---|---|\n", "goal");
        for (int i = 0; i < count; ++i)
            if (target[i].got > 0)
                fprintf(file[k], "| %-84s | %8.2f | %8.2f | %s |\n", target[i].what, target[i].want, target[i].got,
                        target[i].got >= target[i].want ? "met" : "not met");
            else
                fprintf(file[k], "| %-84s | %8.2f | %8s | not measured |\n", target[i].what, target[i].want, "");
        fputs("\n", file[k]);
        fflush(file[k]);
    }
}
