// One table a verb drives parsing, help and completion.
#include "cli.h"

#include <errno.h>
#include <getopt.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

const cli_option cli_common[] = {
    {0, "threads", "N", "workers that compute; 0 = all cores (default)"},
    {0, "isa", "auto|scalar|sse2|avx2|avx512|neon", "instruction set of the kernels"},
    {0, "json", NULL, "machine-readable output on stdout"},
    {0, "progress", "auto|bar|lines|none", "how progress is shown on stderr"},
    {0, "color", "auto|always|never", "colours on stderr; NO_COLOR turns them off too"},
    {'q', "quiet", NULL, "errors only"},
    {'v', "verbose", NULL, "more talk; twice: everything"},
    {'h', "help", NULL, "this text"},
    {0, NULL, NULL, NULL},
};

static int count_options(const cli_option* table)
{
    int n = 0;
    while (table && table[n].name) ++n;
    return n;
}

static void print_options(const cli_option* table, FILE* out)
{
    for (const cli_option* o = table; o && o->name; ++o)
    {
        char left[128], letter[8] = "    ";
        if (o->letter) snprintf(letter, sizeof letter, "-%c, ", o->letter);
        snprintf(left, sizeof left, "%s--%s%s%s", letter, o->name, o->argument ? " " : "",
                 o->argument ? o->argument : "");
        const int wide = (int)strlen(left);
        if (wide < 26)
            fprintf(out, "  %-26s%s\n", left, o->help);
        else
            fprintf(out, "  %s\n  %26s%s\n", left, "", o->help);
    }
}

void cli_help(const cli* c, const cli_verb* verb, FILE* out)
{
    (void)c;
    fprintf(out, "flexor %s %s\n\n%s\n", verb->name, verb->operands, verb->summary);
    if (verb->details) fprintf(out, "\n%s\n", verb->details);
    if (count_options(verb->options) > 0)
    {
        fprintf(out, "\nOptions:\n");
        print_options(verb->options, out);
    }
    fprintf(out, "\nOptions of every verb:\n");
    print_options(cli_common, out);
}

static void complete_words(const cli_option* table, FILE* out)
{
    for (const cli_option* o = table; o && o->name; ++o) fprintf(out, " --%s", o->name);
}

void cli_completion(FILE* out)
{
    fprintf(out, "# bash completion for flexor; made from the option tables: eval \"$(flexor --completion)\"\n"
                 "_flexor()\n{\n    local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]}\n"
                 "    COMPREPLY=()\n    case $before in\n");
    for (const cli_option* o = cli_common; o->name; ++o)
    {
        if (!o->argument || !strchr(o->argument, '|')) continue;
        fprintf(out, "    --%s) COMPREPLY=($(compgen -W '", o->name);
        for (const char* p = o->argument; *p; ++p) fputc(*p == '|' ? ' ' : *p, out);
        fprintf(out, "' -- \"$word\")); return ;;\n");
    }
    fprintf(out, "    esac\n    if [ $COMP_CWORD = 1 ]; then\n        COMPREPLY=($(compgen -f -W '");
    for (int i = 0; cli_verbs[i]; ++i) fprintf(out, "%s%s", i ? " " : "", cli_verbs[i]->name);
    fprintf(out, " --help --version' -- \"$word\"))\n        return\n    fi\n    case ${COMP_WORDS[1]} in\n");
    for (int i = 0; cli_verbs[i]; ++i)
    {
        fprintf(out, "    %s) COMPREPLY=($(compgen -f -W '", cli_verbs[i]->name);
        complete_words(cli_verbs[i]->options, out);
        complete_words(cli_common, out);
        fprintf(out, "' -- \"$word\")) ;;\n");
    }
    fprintf(out, "    esac\n}\ncomplete -o filenames -F _flexor flexor\n");
}

// --- parsing --------------------------------------------------------------------------------------------------

static const cli_option* option_at(const cli_verb* verb, int index)
{
    const int own = count_options(verb->options);
    return index < own ? &verb->options[index] : &cli_common[index - own];
}

static int wrong_option(cli* c, int what, const char* word, const struct option* all)
{
    const char* name = word;
    while (*name == '-') ++name;
    if (what == ':')
    {
        cli_error(c, CODE_USAGE, "%s needs a value", word);
        return CODE_USAGE;
    }
    const char* names[64];
    int         n = 0;
    for (; all[n].name && n < 63; ++n) names[n] = all[n].name;
    names[n] = NULL;

    char plain[64];
    snprintf(plain, sizeof plain, "%.*s", (int)strcspn(name, "="), name);
    const char* near = word[0] == '-' && word[1] == '-' ? cli_nearest(plain, names) : NULL;
    for (int i = 0; i < n; ++i)
        if (strcmp(plain, names[i]) == 0 && strchr(name, '='))
        {
            cli_error(c, CODE_USAGE, "--%s takes no value", plain);
            return CODE_USAGE;
        }
    if (near)
        cli_error(c, CODE_USAGE, "%s: no such option; did you mean --%s?", word, near);
    else
        cli_error(c, CODE_USAGE, "%s: no such option; flexor %s --help lists them", word, c->verb->name);
    return CODE_USAGE;
}

/// Words of an argument like "A|B": is `value` one of them?
static bool is_word_of(const char* words, const char* value)
{
    const size_t n = strlen(value);
    for (const char* at = words; at; at = strchr(at, '|') ? strchr(at, '|') + 1 : NULL)
        if (strcspn(at, "|") == n && strncmp(at, value, n) == 0) return true;
    return false;
}

int cli_parse(cli* c, const cli_verb* verb, int argc, char** argv)
{
    c->verb         = verb;
    const int count = count_options(verb->options) + count_options(cli_common);

    struct option* all     = calloc((size_t)count + 1, sizeof *all);
    char*          letters = calloc(2 * (size_t)count + 3, 1);
    c->found               = calloc((size_t)argc + 1, sizeof *c->found);
    c->operand             = calloc((size_t)argc + 1, sizeof *c->operand);
    int code               = -1;
    if (!all || !letters || !c->found || !c->operand)
    {
        cli_error(c, CODE_INTERNAL, "out of memory");
        code = CODE_INTERNAL;
        goto done;
    }
    char* l = letters;
    *l++    = ':'; // missing values are told apart, and getopt itself is silent
    for (int i = 0; i < count; ++i)
    {
        const cli_option* o = option_at(verb, i);
        all[i] = (struct option){.name = o->name, .has_arg = o->argument ? required_argument : no_argument};
        if (!o->letter) continue;
        *l++ = o->letter;
        if (o->argument) *l++ = ':';
    }

    opterr = 0;
    optind = 1;
    for (;;)
    {
        int       index = -1;
        const int at    = optind;
        const int got   = getopt_long(argc, argv, letters, all, &index);
        if (got == -1) break;
        if (got == '?' || got == ':')
        {
            char        letter[3] = {'-', (char)optopt, 0};
            const char* word      = optind - 1 >= at && argv[optind - 1][0] == '-' && argv[optind - 1][1] == '-'
                                        ? argv[optind - 1]
                                    : optopt ? letter
                                             : argv[at];
            code                  = wrong_option(c, got, word, all);
            goto done;
        }
        if (got != 0)
            for (int i = 0; i < count; ++i)
                if (option_at(verb, i)->letter == (char)got) index = i;
        const cli_option* o = option_at(verb, index);
        if (o->argument && strchr(o->argument, '|') && !is_word_of(o->argument, optarg))
        {
            cli_error(c, CODE_USAGE, "--%s %s: must be one of %s", o->name, optarg, o->argument);
            code = CODE_USAGE;
            goto done;
        }
        c->found[c->found_count++] = (cli_found){.name = o->name, .value = o->argument ? optarg : NULL};
    }
    while (optind < argc) c->operand[c->operand_count++] = argv[optind++];

    if (cli_flag(c, "help"))
    {
        cli_help(c, verb, stdout);
        code = CODE_FINE;
    }
    else if (c->operand_count < verb->operands_min || c->operand_count > verb->operands_max)
    {
        if (c->operand_count < verb->operands_min)
            cli_error(c, CODE_USAGE, "what? The form is: flexor %s %s", verb->name, verb->operands);
        else
            cli_error(c, CODE_USAGE, "%s: one too many. The form is: flexor %s %s", c->operand[verb->operands_max],
                      verb->name, verb->operands);
        code = CODE_USAGE;
    }
done:
    free(all);
    free(letters);
    return code;
}

bool cli_flag(const cli* c, const char* name)
{
    for (int i = 0; i < c->found_count; ++i)
        if (strcmp(c->found[i].name, name) == 0) return true;
    return false;
}

const char* cli_text(const cli* c, const char* name, const char* otherwise)
{
    for (int i = c->found_count - 1; i >= 0; --i)
        if (strcmp(c->found[i].name, name) == 0) return c->found[i].value;
    return otherwise;
}

bool parse_real(const char* text, double* out)
{
    char* end = NULL;
    errno     = 0;
    *out      = strtod(text, &end);
    return end != text && *end == 0 && errno == 0 && isfinite(*out);
}

bool cli_real(cli* c, const char* name, double low, double high, double* value)
{
    const char* text = cli_text(c, name, NULL);
    if (!text) return true;
    double v;
    if (parse_real(text, &v) && v >= low && v <= high)
    {
        *value = v;
        return true;
    }
    cli_error(c, CODE_USAGE, "--%s %s: must be a number from %g to %g", name, text, low, high);
    return false;
}

static bool parse_integer(const char* text, int32_t* out)
{
    char* end = NULL;
    errno     = 0;
    long v    = strtol(text, &end, 10);
    *out      = (int32_t)v;
    return end != text && *end == 0 && errno == 0 && v >= INT32_MIN && v <= INT32_MAX;
}

bool cli_integer(cli* c, const char* name, int32_t low, int32_t high, int32_t* value)
{
    const char* text = cli_text(c, name, NULL);
    if (!text) return true;
    int32_t v;
    if (parse_integer(text, &v) && v >= low && v <= high)
    {
        *value = v;
        return true;
    }
    cli_error(c, CODE_USAGE, "--%s %s: must be a whole number from %d to %d", name, text, low, high);
    return false;
}

bool cli_integers(cli* c, const char* name, const char* text, int32_t** values, int32_t* count)
{
    char*    copy = strdup(text);
    int32_t* v    = calloc(strlen(text) + 1, sizeof *v);
    int32_t  n    = 0;
    bool     good = copy && v;
    char*    rest = NULL;
    for (char* word = good ? strtok_r(copy, ",", &rest) : NULL; word && good; word = strtok_r(NULL, ",", &rest))
        good = parse_integer(word, &v[n++]);
    free(copy);
    if (!good || n == 0)
    {
        free(v);
        cli_error(c, CODE_USAGE, "--%s %s: must be whole numbers with commas, such as 0,22,44", name, text);
        return false;
    }
    *values = v;
    *count  = n;
    return true;
}

bool cli_triple(const char* text, double out[3])
{
    int used = 0;
    return sscanf(text, "%lf:%lf:%lf%n", &out[0], &out[1], &out[2], &used) == 3 && text[used] == 0 &&
           isfinite(out[0]) && isfinite(out[1]) && isfinite(out[2]);
}

/// Levenshtein distance with one row; words here are short.
static int word_distance(const char* a, const char* b)
{
    const int n = (int)strlen(b);
    int       row[64];
    if (n >= 63) return 99;
    for (int j = 0; j <= n; ++j) row[j] = j;
    for (int i = 1; a[i - 1]; ++i)
    {
        int corner = row[0];
        row[0]     = i;
        for (int j = 1; j <= n; ++j)
        {
            const int change = corner + (a[i - 1] != b[j - 1]);
            corner           = row[j];
            const int grow   = (row[j] < row[j - 1] ? row[j] : row[j - 1]) + 1;
            row[j]           = change < grow ? change : grow;
        }
    }
    return row[n];
}

const char* cli_nearest(const char* word, const char* const* names)
{
    const char* best  = NULL;
    int         least = (int)strlen(word) / 3 + 1;
    for (int i = 0; names[i]; ++i)
    {
        const int d = word_distance(word, names[i]);
        if (d <= least && d < (int)strlen(names[i]))
        {
            least = d - 1; // the first of the nearest
            best  = names[i];
        }
    }
    return best;
}
