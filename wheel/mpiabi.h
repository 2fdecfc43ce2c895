/* SPDX-License-Identifier: BSD-3-Clause */
/* mpiabi.h - what the mpi.h of an MPI has and that of the standard's interface has not.  Handles of
 * Fortran are integers there too, by other names (MPI-5.0, section 20.3). */
typedef int MPI_Fint;

#define PMPI_Comm_f2c PMPI_Comm_fromint
#define PMPI_Comm_c2f PMPI_Comm_toint
#define PMPI_File_f2c PMPI_File_fromint
#define PMPI_Info_f2c PMPI_Info_fromint
#define PMPI_Op_f2c PMPI_Op_fromint
#define PMPI_Request_f2c PMPI_Request_fromint
#define PMPI_Request_c2f PMPI_Request_toint
#define PMPI_Type_f2c PMPI_Type_fromint
#define PMPI_Type_c2f PMPI_Type_toint
#define PMPI_Win_f2c PMPI_Win_fromint
