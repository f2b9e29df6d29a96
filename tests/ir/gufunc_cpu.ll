; matvec

define internal { } @kernel(float* %p0, float* %p1, float* %p2, i64 %s0, i64 %s1, i64 %s2, i64 %s3, i64 %s4, i64 %s5) nounwind alwaysinline {
L2:
  %v3 = alloca i64
  %v4 = alloca i64
  %a1 = alloca float
  store i64 zeroinitializer, i64* %v3
  store i64 zeroinitializer, i64* %v4
  br label %L3
L3:
  %r1 = icmp slt i64 0, %s0
  br i1 %r1, label %L4, label %L6
L4:
  %i4 = phi i64 [ 0, %L3 ], [ %next4, %L5 ]
  %r2 = getelementptr inbounds float, float* %p2, i64 %i4
  store float 0x0000000000000000, float* %a1
  br label %L7
L7:
  %r3 = icmp slt i64 0, %s1
  br i1 %r3, label %L8, label %L10
L8:
  %i8 = phi i64 [ 0, %L7 ], [ %next8, %L9 ]
  %r4 = load float, float* %a1
  %r5 = mul i64 %i4, %s2
  %r6 = add i64 %r5, %i8
  %r7 = getelementptr inbounds float, float* %p0, i64 %r6
  %r8 = load float, float* %r7, align 4
  %r9 = getelementptr inbounds float, float* %p1, i64 %i8
  %r10 = load float, float* %r9, align 4
  %r11 = fmul contract float %r8, %r10
  %r12 = fadd reassoc contract float %r4, %r11
  store float %r12, float* %a1
  br label %L9
L9:
  %next8 = add nuw nsw i64 %i8, 1
  %r13 = icmp slt i64 %next8, %s1
  br i1 %r13, label %L8, label %L10
L10:
  %r14 = load float, float* %a1
  store float %r14, float* %r2, align 4
  br label %L5
L5:
  %next4 = add nuw nsw i64 %i4, 1
  %r15 = icmp slt i64 %next4, %s0
  br i1 %r15, label %L4, label %L6, !llvm.loop !2
L6:
  br label %L1
L1:
  ret { } undef
}

define void @uf_matvec_gufunc_f32(i64* %words) nounwind "prefer-vector-width"="256" {
  %r16 = getelementptr inbounds i64, i64* %words, i64 0
  %r17 = bitcast i64* %r16 to float**
  %r18 = load float*, float** %r17, align 8
  %r19 = getelementptr inbounds i64, i64* %words, i64 1
  %r20 = bitcast i64* %r19 to float**
  %r21 = load float*, float** %r20, align 8
  %r22 = getelementptr inbounds i64, i64* %words, i64 2
  %r23 = bitcast i64* %r22 to float**
  %r24 = load float*, float** %r23, align 8
  %r25 = getelementptr inbounds i64, i64* %words, i64 3
  %r26 = load i64, i64* %r25, align 8
  %r27 = getelementptr inbounds i64, i64* %words, i64 4
  %r28 = load i64, i64* %r27, align 8
  %r29 = getelementptr inbounds i64, i64* %words, i64 5
  %r30 = load i64, i64* %r29, align 8
  %r31 = getelementptr inbounds i64, i64* %words, i64 6
  %r32 = load i64, i64* %r31, align 8
  %r33 = getelementptr inbounds i64, i64* %words, i64 7
  %r34 = load i64, i64* %r33, align 8
  %r35 = getelementptr inbounds i64, i64* %words, i64 8
  %r36 = load i64, i64* %r35, align 8
  %r37 = getelementptr inbounds i64, i64* %words, i64 9
  %r38 = load i64, i64* %r37, align 8
  %r39 = getelementptr inbounds i64, i64* %words, i64 10
  %r40 = load i64, i64* %r39, align 8
  %r41 = getelementptr inbounds i64, i64* %words, i64 11
  %r42 = load i64, i64* %r41, align 8
  %r43 = getelementptr inbounds i64, i64* %words, i64 12
  %r44 = load i64, i64* %r43, align 8
  %r45 = getelementptr inbounds i64, i64* %words, i64 13
  %r46 = load i64, i64* %r45, align 8
  %r47 = getelementptr inbounds i64, i64* %words, i64 14
  %r48 = load i64, i64* %r47, align 8
  %r49 = getelementptr inbounds i64, i64* %words, i64 15
  %r50 = load i64, i64* %r49, align 8
  %r51 = getelementptr inbounds i64, i64* %words, i64 16
  %r52 = load i64, i64* %r51, align 8
  br label %L11
L11:
  %r53 = icmp slt i64 0, %r28
  br i1 %r53, label %L12, label %L14
L12:
  %i12 = phi i64 [ 0, %L11 ], [ %next12, %L13 ]
  %r54 = mul i64 %i12, %r32
  %r55 = getelementptr inbounds float, float* %r18, i64 %r54
  %r56 = mul i64 %i12, %r36
  %r57 = getelementptr inbounds float, float* %r21, i64 %r56
  %r58 = mul i64 %i12, %r40
  %r59 = getelementptr inbounds float, float* %r24, i64 %r58
  br label %L15
L15:
  %r60 = icmp slt i64 0, %r26
  br i1 %r60, label %L16, label %L18
L16:
  %i16 = phi i64 [ 0, %L15 ], [ %next16, %L17 ]
  %r61 = mul i64 %i16, %r30
  %r62 = getelementptr inbounds float, float* %r55, i64 %r61
  %r63 = mul i64 %i16, %r34
  %r64 = getelementptr inbounds float, float* %r57, i64 %r63
  %r65 = mul i64 %i16, %r38
  %r66 = getelementptr inbounds float, float* %r59, i64 %r65
  %r67 = call { } @kernel(float* %r62, float* %r64, float* %r66, i64 %r42, i64 %r44, i64 %r46, i64 %r48, i64 %r50, i64 %r52)
  br label %L17
L17:
  %next16 = add nuw nsw i64 %i16, 1
  %r68 = icmp slt i64 %next16, %r26
  br i1 %r68, label %L16, label %L18, !llvm.loop !4
L18:
  br label %L13
L13:
  %next12 = add nuw nsw i64 %i12, 1
  %r69 = icmp slt i64 %next12, %r28
  br i1 %r69, label %L12, label %L14
L14:
  ret void
}
!1 = !{!"llvm.loop.vectorize.enable", i1 false}
!2 = distinct !{!2, !1}
!3 = !{!"llvm.loop.vectorize.enable", i1 false}
!4 = distinct !{!4, !3}
