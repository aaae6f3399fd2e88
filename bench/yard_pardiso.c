// Loads the module that has MKL in it (pardiso_module.c).
#include "yards.h"

#ifndef FLX_PARDISO_MODULE

bool yard_pardiso(int32_t workers, bool single, bool partial, bool helped, yard* out)
{
    (void)workers;
    (void)single;
    (void)partial;
    (void)helped;
    (void)out;
    return false;
}

#else

#include <dlfcn.h>
#include <stdio.h>

typedef bool (*open_fn)(int32_t workers, bool single, bool partial, yard* out);

bool yard_pardiso(int32_t workers, bool single, bool partial, bool helped, yard* out)
{
    static const char* const name[2][2][2] = {
        {{"PARDISO double, plain", "PARDISO double, plain, helped"},
         {"PARDISO double, Schur", "PARDISO double, Schur, helped"}},
        {{"PARDISO single, plain", "PARDISO single, plain, helped"},
         {"PARDISO single, Schur", "PARDISO single, Schur, helped"}},
    };
    void* module = dlopen(helped ? FLX_PARDISO_HELPED_MODULE : FLX_PARDISO_MODULE, RTLD_NOW | RTLD_LOCAL);
    if (!module)
    {
        fprintf(stderr, "%s\n", dlerror());
        return false;
    }
    open_fn open;
    *(void**)&open = dlsym(module, "yard_pardiso_open"); // stays loaded until the program ends
    if (!open || !open(workers, single, partial, out)) return false;
    out->name = name[single][partial][helped];
    return true;
}

#endif
