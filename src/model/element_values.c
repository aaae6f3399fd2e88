// One number for each element of a body, from a text file: numbers apart by blanks or lines, `#` begins a comment.
#include "model/model.h"

#include "base/file.h"
#include "mesh/text_reader.h"

flx_status flx__element_values(flx_context* ctx, const char* path, int32_t count, const char* what, double** out)
{
    flx_status status = FLX_OK;
    char*      data   = NULL;
    double*    value  = NULL;
    flx_text   t      = {0};
    flx_word   word;
    int64_t    bytes = 0, found = 0;
    *out = NULL;
    FLX_TRY(flx__file_read_all(ctx, path, &data, &bytes));
    FLX_TRY(flx__text_begin(&t, ctx, path, data, bytes));
    t.comment = '#';
    FLX_NEW(ctx, value, count);
    while (flx__text_word(&t, &word))
    {
        double v;
        t.item = found + 1;
        FLX_TRY(flx__word_real(&t, word, "value of element", &v));
        if (!(v > 0))
            FLX_TRY(flx__text_fail(&t, "the value of element %lld is %g; it must be above 0", (long long)found + 1, v));
        if (found == count)
            FLX_TRY(flx__text_fail(&t, "more than %d values, but %s has %d elements", count, what, count));
        value[found++] = v;
    }
    if (found < count)
        FLX_TRY(flx__text_fail(&t, "the file ends after %lld values, but %s has %d elements", (long long)found, what,
                               count));
    *out  = value;
    value = NULL;
done:
    flx__text_end(&t);
    flx__free(ctx, value);
    flx__free(ctx, data);
    return status;
}
