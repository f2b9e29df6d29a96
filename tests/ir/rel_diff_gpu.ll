; rel_diff_gpu
target datalayout = "e-p:64:64:64-i1:8:8-i8:8:8-i16:16:16-i32:32:32-i64:64:64-i128:128:128-f32:32:32-f64:64:64-v16:16:16-v32:32:32-v64:64:64-v128:128:128-n16:32:64"
target triple = "nvptx64-nvidia-cuda"

define internal { float } @kernel(float %p0, float %p1) nounwind alwaysinline !dbg !5 {
L2:
  %v0 = alloca float
  %v1 = alloca float
  %v2 = alloca float
  store float %p0, float* %v0, !dbg !6
  store float %p1, float* %v1, !dbg !6
  store float zeroinitializer, float* %v2, !dbg !6
  %r1 = load float, float* %v0, !dbg !7
  %r2 = load float, float* %v1, !dbg !7
  %r3 = fsub contract float %r1, %r2, !dbg !7
  %r4 = fmul contract float 0x4000000000000000, %r3, !dbg !7
  %r5 = load float, float* %v0, !dbg !7
  %r6 = load float, float* %v1, !dbg !7
  %r7 = fadd contract float %r5, %r6, !dbg !7
  %r8 = fdiv float %r4, %r7, !dbg !7
  store float %r8, float* %v2, !dbg !7
  br label %L1, !dbg !7
L1:
  %r9 = load float, float* %v2, !dbg !7
  %r10 = insertvalue { float } undef, float %r9, 0, !dbg !7
  ret { float } %r10, !dbg !7
}

!nvvmir.version = !{!8}
!llvm.dbg.cu = !{!2}
!llvm.module.flags = !{!9}
!1 = !DIFile(filename: "rel_diff_gpu", directory: ".")
!2 = distinct !DICompileUnit(language: DW_LANG_C99, file: !1, producer: "libufunc", isOptimized: true, runtimeVersion: 0, emissionKind: DebugDirectivesOnly)
!3 = !{null}
!4 = !DISubroutineType(types: !3)
!5 = distinct !DISubprogram(name: "kernel", scope: !1, file: !1, line: 7, type: !4, isLocal: false, isDefinition: true, scopeLine: 7, isOptimized: true, unit: !2)
!6 = !DILocation(line: 7, scope: !5)
!7 = !DILocation(line: 2, scope: !5)
!8 = !{i32 2, i32 0, i32 3, i32 1}
!9 = !{i32 2, !"Debug Info Version", i32 3}
