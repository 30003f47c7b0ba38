/* Times MPI_Allreduce of float32 sums, the sizes in bytes being its arguments: what package dist is compared with. With
 * "test" in front of them it calls MPI_Iallreduce, and MPI_Test until that is done.
 *
 *     mpicc_abi -O2 -o allreduce allreduce.c && mpiexec -n 2 ./allreduce 1024 1048576
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(int count, char **sizes) {
	int level, rank, test = count > 1 && strcmp(sizes[1], "test") == 0;
	MPI_Init_thread(0, 0, MPI_THREAD_SERIALIZED, &level);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	for (int i = 1 + test; i < count; i++) {
		long n = atol(sizes[i]) / 4, reps = (1L << 20) / (n * 4);
		float *from = malloc(n * 4), *to = malloc(n * 4);
		for (long k = 0; k < n; k++) from[k] = k % 7;
		reps = reps < 1 ? 1 : reps > 100 ? 100 : reps;
		double best = 1e9;
		for (int group = 0; group < 300; group++) { /* short ones, the least of which others of the machine have left alone */
			MPI_Barrier(MPI_COMM_WORLD);
			double t = MPI_Wtime();
			for (long k = 0; k < reps; k++) {
				if (!test) {
					MPI_Allreduce(from, to, n, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
					continue;
				}
				MPI_Request r;
				MPI_Iallreduce(from, to, n, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD, &r);
				for (int done = 0; !done;) MPI_Test(&r, &done, MPI_STATUS_IGNORE);
			}
			t = (MPI_Wtime() - t) / reps;
			if (group > 0 && t < best) best = t;
		}
		if (rank == 0) printf("C%s %10ld bytes %10.2f us\n", test ? ", tested" : "        ", n * 4, best * 1e6);
		free(from);
		free(to);
	}
	MPI_Finalize();
	return 0;
}
