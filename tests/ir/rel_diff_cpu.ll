; rel_diff_cpu

define internal { float } @kernel(float %p0, float %p1) nounwind alwaysinline {
L2:
  %v0 = alloca float
  %v1 = alloca float
  %v2 = alloca float
  store float %p0, float* %v0
  store float %p1, float* %v1
  store float zeroinitializer, float* %v2
  %r1 = load float, float* %v0
  %r2 = load float, float* %v1
  %r3 = fsub float %r1, %r2
  %r4 = fmul float 0x4000000000000000, %r3
  %r5 = load float, float* %v0
  %r6 = load float, float* %v1
  %r7 = fadd float %r5, %r6
  %r8 = fdiv float %r4, %r7
  store float %r8, float* %v2
  br label %L1
L1:
  %r9 = load float, float* %v2
  %r10 = insertvalue { float } undef, float %r9, 0
  ret { float } %r10
}

