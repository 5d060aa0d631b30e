// SPDX-License-Identifier: MIT
// ranks.c: the processes of one job, as mpirun or srun started them. Each takes a block of the rows; their sums are added
// up by rank 0, which makes and writes the maps.
#include "reconstruct.h"

#include <stdlib.h>

// What launchers tell a process about how many there are: Open MPI; MPICH, Intel MPI and srun --mpi=pmi2; srun.
static int launched(void)
{
    static const char *const name[] = {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "SLURM_STEP_NUM_TASKS"};
    for (int i = 0; i < RG_COUNT(name); i++) {
        const char *text = getenv(name[i]);
        if (text)
            return atoi(text);
    }
    return getenv("PMIX_RANK") ? 2 : 1; // PMIx tells the number only to MPI itself
}

#if HAVE_MPI
#include <mpi.h>

int gr_ranks_begin(gr_job *job)
{
    job->ranks = 1;
    if (launched() == 1)
        return RG_GOOD;
    int began = 0;
    MPI_Initialized(&began);
    if (!began && MPI_Init(NULL, NULL) != MPI_SUCCESS)
        return rg_fail(RG_LACKS, "MPI does not start");
    MPI_Comm_rank(MPI_COMM_WORLD, &job->rank);
    MPI_Comm_size(MPI_COMM_WORLD, &job->ranks);
    if (job->ranks == 1) // each would make the whole map and write it over the others'
        return rg_fail(RG_LACKS, "one of several processes that MPI does not know of each other (srun --mpi=pmix, or mpirun)");
    return RG_GOOD;
}

int gr_ranks_agree(const gr_job *job, int code)
{
    if (job->ranks > 1)
        MPI_Allreduce(MPI_IN_PLACE, &code, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    return code;
}

int gr_ranks_host(void)
{
    MPI_Comm host;
    int rank = 0, began = 0;
    MPI_Initialized(&began);
    if (!began)
        return 0;
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &host);
    MPI_Comm_rank(host, &rank);
    MPI_Comm_free(&host);
    return rank;
}

// In pieces: a count is an int, and a piece is all that MPI holds twice.
static void sum(const gr_job *job, float *values, int64_t n)
{
    enum { PIECE = 1 << 24 };
    for (int64_t at = 0; at < n; at += PIECE) {
        int count = (int)(n - at < PIECE ? n - at : PIECE);
        MPI_Reduce(job->rank ? values + at : MPI_IN_PLACE, job->rank ? NULL : values + at, count, MPI_FLOAT, MPI_SUM, 0,
                   MPI_COMM_WORLD);
    }
}

int gr_ranks_sum(gr_job *job)
{
    const double since_s = rg_seconds();
    int code = RG_GOOD, put = RG_GOOD;
    for (int i = 0; i < 2 * job->halves && code == RG_GOOD; i++) {
        rg_buffer *b = &job->sum[i];
        float *values = gr_on_gpu(job) ? rg_alloc(b->bytes) : b->base;
        code = gr_ranks_agree(job, gr_on_gpu(job) ? pl_failed(job->team.member, "copying the sums", rg_buffer_get(b, values))
                                                  : RG_GOOD);
        if (code == RG_GOOD)
            sum(job, values, (int64_t)(b->bytes / sizeof *values));
        if (code == RG_GOOD && gr_on_gpu(job) && !job->rank && put == RG_GOOD)
            put = pl_failed(job->team.member, "copying the sums", rg_buffer_put(b, values));
        if (gr_on_gpu(job))
            free(values);
    }
    MPI_Reduce(job->rank ? job->ctf2 : MPI_IN_PLACE, job->ctf2, 2, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    pl_lap(job->team.member, PL_MERGE, since_s);
    return code == RG_GOOD ? put : code;
}

void gr_ranks_end(void)
{
    int began = 0, ended = 0;
    MPI_Initialized(&began);
    MPI_Finalized(&ended);
    if (began && !ended)
        MPI_Finalize();
}

#else

int gr_ranks_begin(gr_job *job)
{
    job->ranks = 1;
    if (launched() == 1)
        return RG_GOOD;
    return rg_fail(RG_LACKS, "one of several processes of mpirun or srun, but built without MPI (see regather doctor)");
}

int gr_ranks_agree(const gr_job *job, int code) { return (void)job, code; }
int gr_ranks_host(void) { return 0; }
int gr_ranks_sum(gr_job *job) { return (void)job, RG_GOOD; }
void gr_ranks_end(void) {}
#endif
