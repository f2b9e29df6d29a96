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
  %r51 = and i64 %r19, -64
  br label %L7
L7:
  %r52 = icmp slt i64 0, %r51
  br i1 %r52, label %L8, label %L10
L8:
  %i8 = phi i64 [ 0, %L7 ], [ %next8, %L9 ]
  %r53 = getelementptr inbounds float, float* %r46, i64 %i8
  %r54 = getelementptr inbounds i64, i64* %r50, i64 %i8
  %r55 = sub i64 %r39, 1
  %r56 = bitcast i64* %r54 to <8 x i64>*
  %r57 = insertelement <8 x i64> undef, i64 %r55, i32 0
  %r58 = shufflevector <8 x i64> %r57, <8 x i64> undef, <8 x i32> zeroinitializer
  %r59 = getelementptr <8 x i64>, <8 x i64>* %r56, i64 0
  %r60 = load <8 x i64>, <8 x i64>* %r59, align 8
  %r61 = icmp ugt <8 x i64> %r60, %r58
  %r62 = getelementptr <8 x i64>, <8 x i64>* %r56, i64 1
  %r63 = load <8 x i64>, <8 x i64>* %r62, align 8
  %r64 = icmp ugt <8 x i64> %r63, %r58
  %r65 = or <8 x i1> %r61, %r64
  %r66 = getelementptr <8 x i64>, <8 x i64>* %r56, i64 2
  %r67 = load <8 x i64>, <8 x i64>* %r66, align 8
  %r68 = icmp ugt <8 x i64> %r67, %r58
  %r69 = or <8 x i1> %r65, %r68
  %r70 = getelementptr <8 x i64>, <8 x i64>* %r56, i64 3
  %r71 = load <8 x i64>, <8 x i64>* %r70, align 8
  %r72 = icmp ugt <8 x i64> %r71, %r58
  %r73 = or <8 x i1> %r69, %r72
  %r74 = getelementptr <8 x i64>, <8 x i64>* %r56, i64 4
  %r75 = load <8 x i64>, <8 x i64>* %r74, align 8
  %r76 = icmp ugt <8 x i64> %r75, %r58
  %r77 = or <8 x i1> %r73, %r76
  %r78 = getelementptr <8 x i64>, <8 x i64>* %r56, i64 5
  %r79 = load <8 x i64>, <8 x i64>* %r78, align 8
  %r80 = icmp ugt <8 x i64> %r79, %r58
  %r81 = or <8 x i1> %r77, %r80
  %r82 = getelementptr <8 x i64>, <8 x i64>* %r56, i64 6
  %r83 = load <8 x i64>, <8 x i64>* %r82, align 8
  %r84 = icmp ugt <8 x i64> %r83, %r58
  %r85 = or <8 x i1> %r81, %r84
  %r86 = getelementptr <8 x i64>, <8 x i64>* %r56, i64 7
  %r87 = load <8 x i64>, <8 x i64>* %r86, align 8
  %r88 = icmp ugt <8 x i64> %r87, %r58
  %r89 = or <8 x i1> %r85, %r88
  %r90 = bitcast <8 x i1> %r89 to i8
  %r91 = icmp eq i8 %r90, 0
  br i1 %r91, label %L11, label %L12
L11:
  br label %L14
L14:
  %r92 = icmp slt i64 0, 64
  br i1 %r92, label %L15, label %L17
L15:
  %i15 = phi i64 [ 0, %L14 ], [ %next15, %L16 ]
  %r93 = getelementptr inbounds float, float* %r53, i64 %i15
  %r94 = getelementptr inbounds i64, i64* %r54, i64 %i15
  %r95 = load i64, i64* %r94, align 8
  %r96 = mul i64 %r95, %r41
  %r97 = getelementptr inbounds float, float* %r44, i64 %r96
  %r98 = load float, float* %r97, align 4
  %r99 = load float, float* %r93, align 4
  %r100 = call { float } @kernel(float %r98, float %r99)
  %r101 = extractvalue { float } %r100, 0
  store float %r101, float* %r97, align 4
  br label %L16
L16:
  %next15 = add nuw nsw i64 %i15, 1
  %r102 = icmp slt i64 %next15, 64
  br i1 %r102, label %L15, label %L17, !llvm.loop !2
L17:
  br label %L13
L12:
  br label %L18
L18:
  %r103 = icmp slt i64 0, 64
  br i1 %r103, label %L19, label %L21
L19:
  %i19 = phi i64 [ 0, %L18 ], [ %next19, %L20 ]
  %r104 = getelementptr inbounds float, float* %r53, i64 %i19
  %r105 = getelementptr inbounds i64, i64* %r54, i64 %i19
  %r106 = load i64, i64* %r105, align 8
  %r107 = icmp slt i64 %r106, 0
  %r108 = select i1 %r107, i64 %r39, i64 0
  %r109 = add i64 %r106, %r108
  %r110 = mul i64 %r109, %r41
  %r111 = getelementptr inbounds float, float* %r44, i64 %r110
  %r112 = load float, float* %r111, align 4
  %r113 = load float, float* %r104, align 4
  %r114 = call { float } @kernel(float %r112, float %r113)
  %r115 = extractvalue { float } %r114, 0
  store float %r115, float* %r111, align 4
  br label %L20
L20:
  %next19 = add nuw nsw i64 %i19, 1
  %r116 = icmp slt i64 %next19, 64
  br i1 %r116, label %L19, label %L21, !llvm.loop !4
L21:
  br label %L13
L13:
  br label %L9
L9:
  %next8 = add nuw nsw i64 %i8, 64
  %r117 = icmp slt i64 %next8, %r51
  br i1 %r117, label %L8, label %L10, !llvm.loop !6
L10:
  %r118 = getelementptr inbounds float, float* %r46, i64 %r51
  %r119 = getelementptr inbounds i64, i64* %r50, i64 %r51
  %r120 = sub i64 %r19, %r51
  br label %L22
L22:
  %r121 = icmp slt i64 0, %r120
  br i1 %r121, label %L23, label %L25
L23:
  %i23 = phi i64 [ 0, %L22 ], [ %next23, %L24 ]
  %r122 = getelementptr inbounds float, float* %r118, i64 %i23
  %r123 = getelementptr inbounds i64, i64* %r119, i64 %i23
  %r124 = load i64, i64* %r123, align 8
  %r125 = icmp slt i64 %r124, 0
  %r126 = select i1 %r125, i64 %r39, i64 0
  %r127 = add i64 %r124, %r126
  %r128 = mul i64 %r127, %r41
  %r129 = getelementptr inbounds float, float* %r44, i64 %r128
  %r130 = load float, float* %r129, align 4
  %r131 = load float, float* %r122, align 4
  %r132 = call { float } @kernel(float %r130, float %r131)
  %r133 = extractvalue { float } %r132, 0
  store float %r133, float* %r129, align 4
  br label %L24
L24:
  %next23 = add nuw nsw i64 %i23, 1
  %r134 = icmp slt i64 %next23, %r120
  br i1 %r134, label %L23, label %L25, !llvm.loop !8
L25:
  br label %L5
L5:
  %next4 = add nuw nsw i64 %i4, 1
  %r135 = icmp slt i64 %next4, %r21
  br i1 %r135, label %L4, label %L6, !llvm.loop !10
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
