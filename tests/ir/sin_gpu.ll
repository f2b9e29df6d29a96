; sin_gpu
target datalayout = "e-p:64:64:64-i1:8:8-i8:8:8-i16:16:16-i32:32:32-i64:64:64-i128:128:128-f32:32:32-f64:64:64-v16:16:16-v32:32:32-v64:64:64-v128:128:128-n16:32:64"
target triple = "nvptx64-nvidia-cuda"

define internal { i16 } @kernel(i16 %p0) nounwind alwaysinline {
L2:
  %v0 = alloca i16
  %v1 = alloca i16
  store i16 %p0, i16* %v0
  store i16 zeroinitializer, i16* %v1
  %r1 = load i16, i16* %v0
  %r2 = bitcast i16 %r1 to half
  %r3 = fpext half %r2 to float
  %r4 = call float @__nv_sinf(float %r3)
  %r5 = fptrunc float %r4 to half
  %r6 = bitcast half %r5 to i16
  store i16 %r6, i16* %v1
  br label %L1
L1:
  %r7 = load i16, i16* %v1
  %r8 = insertvalue { i16 } undef, i16 %r7, 0
  ret { i16 } %r8
}

declare float @__nv_sinf(float) nounwind readnone

!nvvmir.version = !{!1}
!1 = !{i32 2, i32 0, i32 3, i32 1}
