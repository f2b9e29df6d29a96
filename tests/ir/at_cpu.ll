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
  %r42 = getelementptr inbounds i64, i64* %words, i64 16
  %r43 = load i64, i64* %r42, align 8
  br label %L3
L3:
  %r44 = icmp slt i64 0, %r21
  br i1 %r44, label %L4, label %L6
L4:
  %i4 = phi i64 [ 0, %L3 ], [ %next4, %L5 ]
  %r45 = mul i64 %i4, %r25
  %r46 = getelementptr inbounds float, float* %r8, i64 %r45
  %r47 = mul i64 %i4, %r29
  %r48 = getelementptr inbounds float, float* %r11, i64 %r47
  %r49 = mul i64 %i4, %r33
  %r50 = getelementptr inbounds float, float* %r14, i64 %r49
  %r51 = mul i64 %i4, %r37
  %r52 = getelementptr inbounds i64, i64* %r17, i64 %r51
  %r53 = and i64 %r19, -64
  br label %L7
L7:
  %r54 = icmp slt i64 0, %r53
  br i1 %r54, label %L8, label %L10
L8:
  %i8 = phi i64 [ 0, %L7 ], [ %next8, %L9 ]
  %r55 = getelementptr inbounds float, float* %r48, i64 %i8
  %r56 = getelementptr inbounds i64, i64* %r52, i64 %i8
  %r57 = sub i64 %r39, 1
  %r58 = bitcast i64* %r56 to <8 x i64>*
  %r59 = insertelement <8 x i64> undef, i64 %r57, i32 0
  %r60 = shufflevector <8 x i64> %r59, <8 x i64> undef, <8 x i32> zeroinitializer
  %r61 = getelementptr <8 x i64>, <8 x i64>* %r58, i64 0
  %r62 = load <8 x i64>, <8 x i64>* %r61, align 8
  %r63 = icmp ugt <8 x i64> %r62, %r60
  %r64 = getelementptr <8 x i64>, <8 x i64>* %r58, i64 1
  %r65 = load <8 x i64>, <8 x i64>* %r64, align 8
  %r66 = icmp ugt <8 x i64> %r65, %r60
  %r67 = or <8 x i1> %r63, %r66
  %r68 = getelementptr <8 x i64>, <8 x i64>* %r58, i64 2
  %r69 = load <8 x i64>, <8 x i64>* %r68, align 8
  %r70 = icmp ugt <8 x i64> %r69, %r60
  %r71 = or <8 x i1> %r67, %r70
  %r72 = getelementptr <8 x i64>, <8 x i64>* %r58, i64 3
  %r73 = load <8 x i64>, <8 x i64>* %r72, align 8
  %r74 = icmp ugt <8 x i64> %r73, %r60
  %r75 = or <8 x i1> %r71, %r74
  %r76 = getelementptr <8 x i64>, <8 x i64>* %r58, i64 4
  %r77 = load <8 x i64>, <8 x i64>* %r76, align 8
  %r78 = icmp ugt <8 x i64> %r77, %r60
  %r79 = or <8 x i1> %r75, %r78
  %r80 = getelementptr <8 x i64>, <8 x i64>* %r58, i64 5
  %r81 = load <8 x i64>, <8 x i64>* %r80, align 8
  %r82 = icmp ugt <8 x i64> %r81, %r60
  %r83 = or <8 x i1> %r79, %r82
  %r84 = getelementptr <8 x i64>, <8 x i64>* %r58, i64 6
  %r85 = load <8 x i64>, <8 x i64>* %r84, align 8
  %r86 = icmp ugt <8 x i64> %r85, %r60
  %r87 = or <8 x i1> %r83, %r86
  %r88 = getelementptr <8 x i64>, <8 x i64>* %r58, i64 7
  %r89 = load <8 x i64>, <8 x i64>* %r88, align 8
  %r90 = icmp ugt <8 x i64> %r89, %r60
  %r91 = or <8 x i1> %r87, %r90
  %r92 = bitcast <8 x i1> %r91 to i8
  %r93 = icmp eq i8 %r92, 0
  br i1 %r93, label %L11, label %L12
L11:
  br label %L14
L14:
  br label %L15
L15:
  %i15 = phi i64 [ 0, %L14 ], [ %next15, %L16 ]
  %r94 = getelementptr inbounds float, float* %r55, i64 %i15
  %r95 = getelementptr inbounds i64, i64* %r56, i64 %i15
  %r96 = load i64, i64* %r95, align 8
  %r97 = mul i64 %r96, %r41
  %r98 = icmp ult i64 %r96, %r39
  %r99 = getelementptr inbounds float, float* %r46, i64 %r97
  %r100 = load float, float* %r99, align 4
  %r101 = load float, float* %r94, align 4
  %r102 = call { float } @kernel(float %r100, float %r101)
  %r103 = extractvalue { float } %r102, 0
  store float %r103, float* %r99, align 4
  br label %L16
L16:
  %next15 = add nuw nsw i64 %i15, 1
  %r104 = icmp slt i64 %next15, 64
  br i1 %r104, label %L15, label %L17, !llvm.loop !2
L17:
  br label %L13
L12:
  br label %L18
L18:
  br label %L19
L19:
  %i19 = phi i64 [ 0, %L18 ], [ %next19, %L20 ]
  %r105 = getelementptr inbounds float, float* %r55, i64 %i19
  %r106 = getelementptr inbounds i64, i64* %r56, i64 %i19
  %r107 = load i64, i64* %r106, align 8
  %r108 = icmp slt i64 %r107, 0
  %r109 = select i1 %r108, i64 %r39, i64 0
  %r110 = add i64 %r107, %r109
  %r111 = mul i64 %r110, %r41
  %r112 = icmp ult i64 %r110, %r39
  br i1 %r112, label %L23, label %L22
L22:
  %r113 = inttoptr i64 %r43 to i64*
  store i64 1, i64* %r113
  ret void
L23:
  %r114 = getelementptr inbounds float, float* %r46, i64 %r111
  %r115 = load float, float* %r114, align 4
  %r116 = load float, float* %r105, align 4
  %r117 = call { float } @kernel(float %r115, float %r116)
  %r118 = extractvalue { float } %r117, 0
  store float %r118, float* %r114, align 4
  br label %L20
L20:
  %next19 = add nuw nsw i64 %i19, 1
  %r119 = icmp slt i64 %next19, 64
  br i1 %r119, label %L19, label %L21, !llvm.loop !4
L21:
  br label %L13
L13:
  br label %L9
L9:
  %next8 = add nuw nsw i64 %i8, 64
  %r120 = icmp slt i64 %next8, %r53
  br i1 %r120, label %L8, label %L10, !llvm.loop !6
L10:
  %r121 = getelementptr inbounds float, float* %r48, i64 %r53
  %r122 = getelementptr inbounds i64, i64* %r52, i64 %r53
  %r123 = sub i64 %r19, %r53
  br label %L24
L24:
  %r124 = icmp slt i64 0, %r123
  br i1 %r124, label %L25, label %L27
L25:
  %i25 = phi i64 [ 0, %L24 ], [ %next25, %L26 ]
  %r125 = getelementptr inbounds float, float* %r121, i64 %i25
  %r126 = getelementptr inbounds i64, i64* %r122, i64 %i25
  %r127 = load i64, i64* %r126, align 8
  %r128 = icmp slt i64 %r127, 0
  %r129 = select i1 %r128, i64 %r39, i64 0
  %r130 = add i64 %r127, %r129
  %r131 = mul i64 %r130, %r41
  %r132 = icmp ult i64 %r130, %r39
  br i1 %r132, label %L29, label %L28
L28:
  %r133 = inttoptr i64 %r43 to i64*
  store i64 1, i64* %r133
  ret void
L29:
  %r134 = getelementptr inbounds float, float* %r46, i64 %r131
  %r135 = load float, float* %r134, align 4
  %r136 = load float, float* %r125, align 4
  %r137 = call { float } @kernel(float %r135, float %r136)
  %r138 = extractvalue { float } %r137, 0
  store float %r138, float* %r134, align 4
  br label %L26
L26:
  %next25 = add nuw nsw i64 %i25, 1
  %r139 = icmp slt i64 %next25, %r123
  br i1 %r139, label %L25, label %L27, !llvm.loop !8
L27:
  br label %L5
L5:
  %next4 = add nuw nsw i64 %i4, 1
  %r140 = icmp slt i64 %next4, %r21
  br i1 %r140, label %L4, label %L6, !llvm.loop !10
L6:
  ret void
}
!1 = !{!"llvm.loop.unroll.count", i32 8}
!2 = distinct !{!2, !1}
!3 = !{!"llvm.loop.unroll.disable"}
!4 = distinct !{!4, !3}
!5 = !{!"llvm.loop.unroll.disable"}
!6 = distinct !{!6, !5}
!7 = !{!"llvm.loop.unroll.disable"}
!8 = distinct !{!8, !7}
!9 = !{!"llvm.loop.unroll.disable"}
!10 = distinct !{!10, !9}
