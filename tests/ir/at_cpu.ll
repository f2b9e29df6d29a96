; at

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
  %r3 = fadd float %r1, %r2
  store float %r3, float* %v2
  br label %L1
L1:
  %r4 = load float, float* %v2
  %r5 = insertvalue { float } undef, float %r4, 0
  ret { float } %r5
}

define void @uf_at_at_f32(i64* %words) nounwind "prefer-vector-width"="256" {
  %r6 = getelementptr inbounds i64, i64* %words, i64 0
  %r7 = bitcast i64* %r6 to float**
  %r8 = load float*, float** %r7, align 8
  %r9 = getelementptr inbounds i64, i64* %words, i64 1
  %r10 = bitcast i64* %r9 to float**
  %r11 = load float*, float** %r10, align 8
  %r12 = getelementptr inbounds i64, i64* %words, i64 2
  %r13 = bitcast i64* %r12 to float**
  %r14 = load float*, float** %r13, align 8
  %r15 = getelementptr inbounds i64, i64* %words, i64 3
  %r16 = bitcast i64* %r15 to i64**
  %r17 = load i64*, i64** %r16, align 8
  %r18 = getelementptr inbounds i64, i64* %words, i64 4
  %r19 = load i64, i64* %r18, align 8
  %r20 = getelementptr inbounds i64, i64* %words, i64 5
  %r21 = load i64, i64* %r20, align 8
  %r22 = getelementptr inbounds i64, i64* %words, i64 6
  %r23 = load i64, i64* %r22, align 8
  %r24 = getelementptr inbounds i64, i64* %words, i64 7
  %r25 = load i64, i64* %r24, align 8
  %r26 = getelementptr inbounds i64, i64* %words, i64 8
  %r27 = load i64, i64* %r26, align 8
  %r28 = getelementptr inbounds i64, i64* %words, i64 9
  %r29 = load i64, i64* %r28, align 8
  %r30 = getelementptr inbounds i64, i64* %words, i64 10
  %r31 = load i64, i64* %r30, align 8
  %r32 = getelementptr inbounds i64, i64* %words, i64 11
  %r33 = load i64, i64* %r32, align 8
  %r34 = getelementptr inbounds i64, i64* %words, i64 12
  %r35 = load i64, i64* %r34, align 8
  %r36 = getelementptr inbounds i64, i64* %words, i64 13
  %r37 = load i64, i64* %r36, align 8
  %r38 = getelementptr inbounds i64, i64* %words, i64 14
  %r39 = load i64, i64* %r38, align 8
  %r40 = getelementptr inbounds i64, i64* %words, i64 15
  %r41 = load i64, i64* %r40, align 8
  br label %L3
L3:
  %r42 = icmp slt i64 0, %r21
  br i1 %r42, label %L4, label %L6
L4:
  %i4 = phi i64 [ 0, %L3 ], [ %next4, %L5 ]
  %r43 = mul i64 %i4, %r25
  %r44 = getelementptr inbounds float, float* %r8, i64 %r43
  %r45 = mul i64 %i4, %r29
  %r46 = getelementptr inbounds float, float* %r11, i64 %r45
  %r47 = mul i64 %i4, %r33
  %r48 = getelementptr inbounds float, float* %r14, i64 %r47
  %r49 = mul i64 %i4, %r37
  %r50 = getelementptr inbounds i64, i64* %r17, i64 %r49
  br label %L7
L7:
  %r51 = icmp slt i64 0, %r19
  br i1 %r51, label %L8, label %L10
L8:
  %i8 = phi i64 [ 0, %L7 ], [ %next8, %L9 ]
  %r52 = getelementptr inbounds float, float* %r46, i64 %i8
  %r53 = getelementptr inbounds i64, i64* %r50, i64 %i8
  %r54 = load i64, i64* %r53, align 8
  %r55 = icmp slt i64 %r54, 0
  %r56 = select i1 %r55, i64 %r39, i64 0
  %r57 = add i64 %r54, %r56
  %r58 = mul i64 %r57, %r41
  %r59 = getelementptr inbounds float, float* %r44, i64 %r58
  %r60 = load float, float* %r59, align 4
  %r61 = load float, float* %r52, align 4
  %r62 = call { float } @kernel(float %r60, float %r61)
  %r63 = extractvalue { float } %r62, 0
  store float %r63, float* %r59, align 4
  br label %L9
L9:
  %next8 = add nuw nsw i64 %i8, 1
  %r64 = icmp slt i64 %next8, %r19
  br i1 %r64, label %L8, label %L10
L10:
  br label %L5
L5:
  %next4 = add nuw nsw i64 %i4, 1
  %r65 = icmp slt i64 %next4, %r21
  br i1 %r65, label %L4, label %L6
L6:
  ret void
}
