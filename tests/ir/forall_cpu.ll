; points

define internal { } @kernel(float* noalias %p0, float* noalias %p1, float %p2, i64 %p3, i64 %p4, i64 %s0, i64 %s1, i64 %s2, i64 %s3, i64 %s4, i64 %s5, i64 %s6, i64 %s7, i64 %s8, i64 %s9) nounwind alwaysinline {
L2:
  %v2 = alloca float
  %v3 = alloca i64
  %v4 = alloca i64
  store float %p2, float* %v2
  store i64 %p3, i64* %v3
  store i64 %p4, i64* %v4
  %r1 = load i64, i64* %v3
  %r2 = mul i64 %r1, %s8
  %r3 = load i64, i64* %v4
  %r4 = add i64 %r2, %r3
  %r5 = getelementptr inbounds float, float* %p1, i64 %r4
  %r6 = load float, float* %v2
  %r7 = load i64, i64* %v3
  %r8 = mul i64 %r7, %s6
  %r9 = load i64, i64* %v4
  %r10 = add i64 %r8, %r9
  %r11 = getelementptr inbounds float, float* %p0, i64 %r10
  %r12 = load float, float* %r11, align 4, !llvm.access.group !1, !invariant.load !2
  %r13 = fmul float %r6, %r12
  %r14 = load i64, i64* %v3
  %r15 = mul i64 %r14, %s8
  %r16 = load i64, i64* %v4
  %r17 = add i64 %r15, %r16
  %r18 = getelementptr inbounds float, float* %p1, i64 %r17
  %r19 = load float, float* %r18, align 4, !llvm.access.group !1
  %r20 = fadd float %r13, %r19
  store float %r20, float* %r5, align 4, !llvm.access.group !1
  br label %L1
L1:
  ret { } undef
}

define void @uf_points_forall_f32(i64* %words) nounwind "prefer-vector-width"="256" {
  %r21 = getelementptr inbounds i64, i64* %words, i64 0
  %r22 = bitcast i64* %r21 to float**
  %r23 = load float*, float** %r22, align 8
  %r24 = getelementptr inbounds i64, i64* %words, i64 1
  %r25 = bitcast i64* %r24 to float**
  %r26 = load float*, float** %r25, align 8
  %r27 = getelementptr inbounds i64, i64* %words, i64 2
  %r28 = load i64, i64* %r27, align 8
  %r29 = trunc i64 %r28 to i32
  %r30 = bitcast i32 %r29 to float
  %r31 = getelementptr inbounds i64, i64* %words, i64 3
  %r32 = load i64, i64* %r31, align 8
  %r33 = getelementptr inbounds i64, i64* %words, i64 4
  %r34 = load i64, i64* %r33, align 8
  %r35 = getelementptr inbounds i64, i64* %words, i64 5
  %r36 = load i64, i64* %r35, align 8
  %r37 = getelementptr inbounds i64, i64* %words, i64 6
  %r38 = load i64, i64* %r37, align 8
  %r39 = getelementptr inbounds i64, i64* %words, i64 7
  %r40 = load i64, i64* %r39, align 8
  %r41 = getelementptr inbounds i64, i64* %words, i64 8
  %r42 = load i64, i64* %r41, align 8
  %r43 = getelementptr inbounds i64, i64* %words, i64 9
  %r44 = load i64, i64* %r43, align 8
  %r45 = getelementptr inbounds i64, i64* %words, i64 10
  %r46 = load i64, i64* %r45, align 8
  %r47 = getelementptr inbounds i64, i64* %words, i64 11
  %r48 = load i64, i64* %r47, align 8
  %r49 = getelementptr inbounds i64, i64* %words, i64 12
  %r50 = load i64, i64* %r49, align 8
  %r51 = getelementptr inbounds i64, i64* %words, i64 13
  %r52 = load i64, i64* %r51, align 8
  %r53 = getelementptr inbounds i64, i64* %words, i64 14
  %r54 = load i64, i64* %r53, align 8
  %r55 = getelementptr inbounds i64, i64* %words, i64 15
  %r56 = load i64, i64* %r55, align 8
  %r57 = getelementptr inbounds i64, i64* %words, i64 16
  %r58 = load i64, i64* %r57, align 8
  %r59 = icmp sgt i64 %r52, -4611686018427387904
  %r60 = select i1 %r59, i64 %r52, i64 -4611686018427387904
  %r61 = icmp sgt i64 %r56, -4611686018427387904
  %r62 = select i1 %r61, i64 %r56, i64 -4611686018427387904
  %r63 = add i64 %r38, %r36
  br label %L3
L3:
  %r64 = icmp slt i64 %r38, %r63
  br i1 %r64, label %L4, label %L6
L4:
  %i4 = phi i64 [ %r38, %L3 ], [ %next4, %L5 ]
  br label %L7
L7:
  %r65 = icmp slt i64 %r32, %r34
  br i1 %r65, label %L8, label %L10
L8:
  %i8 = phi i64 [ %r32, %L7 ], [ %next8, %L9 ]
  %r66 = call { } @kernel(float* %r23, float* %r26, float %r30, i64 %i4, i64 %i8, i64 %r40, i64 %r42, i64 %r44, i64 %r46, i64 %r48, i64 %r50, i64 %r60, i64 %r54, i64 %r62, i64 %r58)
  br label %L9
L9:
  %next8 = add nuw nsw i64 %i8, 1
  %r67 = icmp slt i64 %next8, %r34
  br i1 %r67, label %L8, label %L10, !llvm.loop !4
L10:
  br label %L5
L5:
  %next4 = add nuw nsw i64 %i4, 1
  %r68 = icmp slt i64 %next4, %r63
  br i1 %r68, label %L4, label %L6
L6:
  ret void
}
!1 = distinct !{}
!2 = !{}
!3 = !{!"llvm.loop.parallel_accesses", !1}
!4 = distinct !{!4, !3}
