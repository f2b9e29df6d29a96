; f

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

define void @uf_f_flat_f32(i64* %words) nounwind "prefer-vector-width"="256" {
  %r11 = getelementptr inbounds i64, i64* %words, i64 0
  %r12 = bitcast i64* %r11 to float**
  %r13 = load float*, float** %r12, align 8
  %r14 = getelementptr inbounds i64, i64* %words, i64 1
  %r15 = bitcast i64* %r14 to float**
  %r16 = load float*, float** %r15, align 8
  %r17 = getelementptr inbounds i64, i64* %words, i64 2
  %r18 = bitcast i64* %r17 to float**
  %r19 = load float*, float** %r18, align 8
  %r20 = getelementptr inbounds i64, i64* %words, i64 3
  %r21 = load i64, i64* %r20, align 8
  br label %L3
L3:
  %r22 = icmp slt i64 0, %r21
  br i1 %r22, label %L4, label %L6
L4:
  %i4 = phi i64 [ 0, %L3 ], [ %next4, %L5 ]
  %r23 = getelementptr inbounds float, float* %r13, i64 %i4
  %r24 = load float, float* %r23, align 4, !llvm.access.group !1
  %r25 = getelementptr inbounds float, float* %r16, i64 %i4
  %r26 = load float, float* %r25, align 4, !llvm.access.group !1
  %r27 = getelementptr inbounds float, float* %r19, i64 %i4
  %r28 = call { float } @kernel(float %r24, float %r26)
  %r29 = extractvalue { float } %r28, 0
  store float %r29, float* %r27, align 4, !llvm.access.group !1
  br label %L5
L5:
  %next4 = add nuw nsw i64 %i4, 1
  %r30 = icmp slt i64 %next4, %r21
  br i1 %r30, label %L4, label %L6, !llvm.loop !3
L6:
  ret void
}
!1 = distinct !{}
!2 = !{!"llvm.loop.parallel_accesses", !1}
!3 = distinct !{!3, !2}
