// What a program outside of this tree does with an installed Flexor: include it, link it, call into every room.
#include <flexor/flexor.h>

#include <stdio.h>
#include <string.h>

int main(void)
{
    flx_context* ctx    = NULL;
    char*        schema = NULL;
    flx_scene*   scene  = NULL;
    if (strcmp(flx_version(), FLX_VERSION) != 0) return 1; // header and library of the same version
    if (flx_context_create(NULL, &ctx) != FLX_OK) return 2;
    if (flx_scene_schema(ctx, false, &schema) != FLX_OK || strlen(schema) < 1000) return 3;
    if (flx_scene_read(ctx, "there-is-no-such-scene.yaml", NULL, &scene) != FLX_ERR_IO || scene) return 4;
    printf("flexor %s, %d workers, %s\n", flx_version(), flx_context_worker_count(ctx), flx_context_isa(ctx));
    flx_text_free(ctx, schema);
    flx_context_destroy(ctx);
    return 0;
}
