# SPDX-License-Identifier: MIT
# selftest.gp: A against A: false differences that the method itself makes, one point a pair.
load PLOTS."/style.gp"
eval heading("A/A self-test: differences found where there are none", MACHINE)
