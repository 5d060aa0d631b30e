# SPDX-License-Identifier: MIT
# The Spack package: copy it as packages/regather/package.py into your own repository (spack repo create).
from spack.package import *


class Regather(MakefilePackage):
    """Papers on GPU imaging kernels, reproduced, checked and timed."""

    git = "file:///path/of/your/clone"

    license("MIT")
    version("main", branch="main")

    variant("cuda", default=False, description="variants for GPUs of compute capability 8.0 and later")
    variant("mpi", default=False, description="jobs over several processes")

    depends_on("c", type="build")
    depends_on("cxx", type="build")
    depends_on("gmake", type="build")
    depends_on("fftw@3: precision=float,double +openmp")
    depends_on("libpng")
    depends_on("libdeflate")
    depends_on("libtiff")
    depends_on("zlib-api")
    depends_on("nlopt")
    depends_on("hwloc")
    depends_on("gnuplot", type="run")
    depends_on("cuda@13:", when="+cuda")
    depends_on("mpi", when="+mpi")

    @property
    def build_targets(self):
        return [f"HAVE_CUDA={int(self.spec.satisfies('+cuda'))}"]

    @property
    def install_targets(self):
        return ["install", f"PREFIX={self.prefix}", *self.build_targets]
