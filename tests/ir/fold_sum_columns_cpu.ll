; sum

define internal { float } @combine(float %p0, float %p1) nounwind alwaysinline {
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

define internal { float } @identity() nounwind alwaysinline {
L4:
  %v0 = alloca float
  store float zeroinitializer, float* %v0
  store float 0x0000000000000000, float* %v0
  br label %L3
L3:
  %r6 = load float, float* %v0
  %r7 = insertvalue { float } undef, float %r6, 0
  ret { float } %r7
}

define void @uf_sum(i64* %words) nounwind "prefer-vector-width"="512" {
  %r8 = getelementptr inbounds i64, i64* %words, i64 0
  %r9 = bitcast i64* %r8 to float**
  %r10 = load float*, float** %r9, align 8
  %r11 = getelementptr inbounds i64, i64* %words, i64 1
  %r12 = bitcast i64* %r11 to float**
  %r13 = load float*, float** %r12, align 8
  %r14 = getelementptr inbounds i64, i64* %words, i64 2
  %r15 = load i64, i64* %r14, align 8
  %r16 = getelementptr inbounds i64, i64* %words, i64 3
  %r17 = load i64, i64* %r16, align 8
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
  %r28 = alloca [65536 x float], align 64
  %r29 = getelementptr [65536 x float], [65536 x float]* %r28, i64 0, i64 0
  %r30 = alloca i64
  %r31 = alloca i64
  %r32 = alloca i64
  %r33 = alloca i64
  %r34 = alloca i64
  br label %L5
L5:
  %r35 = icmp slt i64 0, %r15
  br i1 %r35, label %L6, label %L8
L6:
  %i6 = phi i64 [ 0, %L5 ], [ %next6, %L7 ]
  %r36 = sub i64 %r15, %i6
  %r37 = icmp slt i64 %r36, 4096
  %r38 = select i1 %r37, i64 %r36, i64 4096
  %r39 = mul i64 %i6, %r17
  %r40 = getelementptr inbounds float, float* %r10, i64 %r39
  store i64 0, i64* %r30
  store i64 0, i64* %r32
  store i64 0, i64* %r31
  %r41 = mul i64 %r23, %r27
  %r42 = getelementptr inbounds float, float* %r40, i64 %r41
  %r43 = sub i64 %r25, %r23
  %r44 = icmp sgt i64 0, 0
  %r45 = zext i1 %r44 to i64
  %r46 = add i64 %r43, %r45
  store i64 0, i64* %r33
  br label %L9
L9:
  %r47 = load i64, i64* %r33
  %r48 = icmp slt i64 %r47, %r46
  br i1 %r48, label %L10, label %L11
L10:
  %r49 = load i64, i64* %r31
  %r50 = icmp sge i64 %r49, 16
  %r51 = load i64, i64* %r33
  %r52 = icmp slt i64 %r51, %r43
  %r53 = and i1 %r50, %r52
  br i1 %r53, label %L14, label %L15
L14:
  %r54 = load i64, i64* %r32
  br label %L19
L19:
  br label %L16
L16:
  %ones16 = phi i64 [ %r54, %L19 ], [ %left16, %L17 ]
  %r55 = load i64, i64* %r30
  %r56 = trunc i64 %ones16 to i1
  %r57 = icmp sgt i64 %r55, 0
  %r58 = icmp eq i64 %r55, 15
  %r59 = and i1 %r56, %r57
  %r60 = or i1 %r59, %r58
  br i1 %r60, label %L20, label %L18
L20:
  %r61 = load i64, i64* %r30
  %r62 = sub i64 %r61, 1
  %r63 = mul i64 %r62, 4096
  %r64 = getelementptr inbounds float, float* %r29, i64 %r63
  %r65 = mul i64 %r61, 4096
  %r66 = getelementptr inbounds float, float* %r29, i64 %r65
  call void @join(float* %r64, float* %r66, i64 %r38)
  store i64 %r62, i64* %r30
  br label %L17
L17:
  %left16 = lshr i64 %ones16, 1
  br label %L16
L18:
  %r76 = add i64 %r54, 1
  store i64 %r76, i64* %r32
  %r77 = load i64, i64* %r30
  %r78 = add i64 %r77, 1
  store i64 %r78, i64* %r30
  store i64 0, i64* %r31
  br label %L15
L15:
  %r79 = load i64, i64* %r33
  %r80 = sub i64 %r43, %r79
  %r81 = load i64, i64* %r31
  %r82 = sub i64 16, %r81
  %r83 = sdiv i64 %r80, 8
  %r84 = icmp slt i64 %r83, %r82
  %r85 = select i1 %r84, i64 %r83, i64 %r82
  %r86 = icmp sgt i64 %r85, 0
  br i1 %r86, label %L12, label %L13
L12:
  %r87 = load i64, i64* %r30
  %r88 = mul i64 %r87, 4096
  %r89 = getelementptr inbounds float, float* %r29, i64 %r88
  %r90 = load i64, i64* %r31
  %r91 = load i64, i64* %r33
  %r92 = mul i64 %r85, 8
  %r93 = add i64 %r91, %r92
  br label %L25
L25:
  %r94 = icmp slt i64 %r91, %r93
  br i1 %r94, label %L26, label %L28
L26:
  %i26 = phi i64 [ %r91, %L25 ], [ %next26, %L27 ]
  %r95 = mul i64 %i26, %r27
  %r96 = getelementptr inbounds float, float* %r42, i64 %r95
  %r97 = icmp eq i64 %r90, 0
  %r98 = icmp eq i64 %i26, %r91
  %r99 = and i1 %r97, %r98
  %r100 = mul i64 1, %r27
  %r101 = getelementptr inbounds float, float* %r96, i64 %r100
  %r102 = mul i64 2, %r27
  %r103 = getelementptr inbounds float, float* %r96, i64 %r102
  %r104 = mul i64 3, %r27
  %r105 = getelementptr inbounds float, float* %r96, i64 %r104
  %r106 = mul i64 4, %r27
  %r107 = getelementptr inbounds float, float* %r96, i64 %r106
  %r108 = mul i64 5, %r27
  %r109 = getelementptr inbounds float, float* %r96, i64 %r108
  %r110 = mul i64 6, %r27
  %r111 = getelementptr inbounds float, float* %r96, i64 %r110
  %r112 = mul i64 7, %r27
  %r113 = getelementptr inbounds float, float* %r96, i64 %r112
  br label %L29
L29:
  %r114 = icmp slt i64 0, %r38
  br i1 %r114, label %L30, label %L32
L30:
  %i30 = phi i64 [ 0, %L29 ], [ %next30, %L31 ]
  %r115 = getelementptr inbounds float, float* %r96, i64 %i30
  %r116 = load float, float* %r115, align 4, !llvm.access.group !5
  %r117 = getelementptr inbounds float, float* %r101, i64 %i30
  %r118 = load float, float* %r117, align 4, !llvm.access.group !5
  %r119 = getelementptr inbounds float, float* %r103, i64 %i30
  %r120 = load float, float* %r119, align 4, !llvm.access.group !5
  %r121 = getelementptr inbounds float, float* %r105, i64 %i30
  %r122 = load float, float* %r121, align 4, !llvm.access.group !5
  %r123 = getelementptr inbounds float, float* %r107, i64 %i30
  %r124 = load float, float* %r123, align 4, !llvm.access.group !5
  %r125 = getelementptr inbounds float, float* %r109, i64 %i30
  %r126 = load float, float* %r125, align 4, !llvm.access.group !5
  %r127 = getelementptr inbounds float, float* %r111, i64 %i30
  %r128 = load float, float* %r127, align 4, !llvm.access.group !5
  %r129 = getelementptr inbounds float, float* %r113, i64 %i30
  %r130 = load float, float* %r129, align 4, !llvm.access.group !5
  %r131 = call { float } @combine(float %r116, float %r118)
  %r132 = extractvalue { float } %r131, 0
  %r133 = call { float } @combine(float %r120, float %r122)
  %r134 = extractvalue { float } %r133, 0
  %r135 = call { float } @combine(float %r124, float %r126)
  %r136 = extractvalue { float } %r135, 0
  %r137 = call { float } @combine(float %r128, float %r130)
  %r138 = extractvalue { float } %r137, 0
  %r139 = call { float } @combine(float %r132, float %r134)
  %r140 = extractvalue { float } %r139, 0
  %r141 = call { float } @combine(float %r136, float %r138)
  %r142 = extractvalue { float } %r141, 0
  %r143 = call { float } @combine(float %r140, float %r142)
  %r144 = extractvalue { float } %r143, 0
  %r145 = getelementptr inbounds float, float* %r89, i64 %i30
  %r146 = load float, float* %r145, align 4, !llvm.access.group !5
  %r147 = select i1 %r99, float %r144, float %r146
  %r148 = call { float } @combine(float %r147, float %r144)
  %r149 = extractvalue { float } %r148, 0
  %r150 = select i1 %r99, float %r144, float %r149
  %r151 = getelementptr inbounds float, float* %r89, i64 %i30
  store float %r150, float* %r151, align 4, !llvm.access.group !5
  br label %L31
L31:
  %next30 = add nuw nsw i64 %i30, 1
  %r152 = icmp slt i64 %next30, %r38
  br i1 %r152, label %L30, label %L32, !llvm.loop !9
L32:
  br label %L27
L27:
  %next26 = add nuw nsw i64 %i26, 8
  %r153 = icmp slt i64 %next26, %r93
  br i1 %r153, label %L26, label %L28, !llvm.loop !11
L28:
  %r154 = load i64, i64* %r31
  %r155 = add i64 %r154, %r85
  store i64 %r155, i64* %r31
  store i64 %r93, i64* %r33
  br label %L9
L13:
  %r156 = load i64, i64* %r30
  %r157 = mul i64 %r156, 4096
  %r158 = getelementptr inbounds float, float* %r29, i64 %r157
  %r159 = load i64, i64* %r33
  %r160 = icmp slt i64 %r159, %r43
  %r161 = mul i64 %r159, %r27
  %r162 = getelementptr inbounds float, float* %r42, i64 %r161
  %r163 = load i64, i64* %r31
  %r164 = icmp eq i64 %r163, 0
  %r165 = select i1 %r160, i64 %r38, i64 0
  br label %L33
L33:
  %r166 = icmp slt i64 0, %r165
  br i1 %r166, label %L34, label %L36
L34:
  %i34 = phi i64 [ 0, %L33 ], [ %next34, %L35 ]
  %r167 = getelementptr inbounds float, float* %r162, i64 %i34
  %r168 = load float, float* %r167, align 4, !llvm.access.group !12
  %r169 = getelementptr inbounds float, float* %r158, i64 %i34
  %r170 = load float, float* %r169, align 4, !llvm.access.group !12
  %r171 = select i1 %r164, float %r168, float %r170
  %r172 = call { float } @combine(float %r171, float %r168)
  %r173 = extractvalue { float } %r172, 0
  %r174 = select i1 %r164, float %r168, float %r173
  %r175 = getelementptr inbounds float, float* %r158, i64 %i34
  store float %r174, float* %r175, align 4, !llvm.access.group !12
  br label %L35
L35:
  %next34 = add nuw nsw i64 %i34, 1
  %r176 = icmp slt i64 %next34, %r165
  br i1 %r176, label %L34, label %L36, !llvm.loop !16
L36:
  %r177 = load i64, i64* %r31
  %r178 = add i64 %r177, 1
  store i64 %r178, i64* %r31
  %r179 = load i64, i64* %r33
  %r180 = add i64 %r179, 1
  store i64 %r180, i64* %r33
  br label %L9
L11:
  br label %L37
L37:
  %r181 = load i64, i64* %r30
  %r182 = icmp sgt i64 %r181, 0
  br i1 %r182, label %L38, label %L39
L38:
  %r183 = load i64, i64* %r30
  %r184 = sub i64 %r183, 1
  %r185 = mul i64 %r184, 4096
  %r186 = getelementptr inbounds float, float* %r29, i64 %r185
  %r187 = mul i64 %r183, 4096
  %r188 = getelementptr inbounds float, float* %r29, i64 %r187
  call void @join(float* %r186, float* %r188, i64 %r38)
  store i64 %r184, i64* %r30
  br label %L37
L39:
  br label %L40
L40:
  %r189 = icmp slt i64 0, %r38
  br i1 %r189, label %L41, label %L43
L41:
  %i41 = phi i64 [ 0, %L40 ], [ %next41, %L42 ]
  %r190 = getelementptr inbounds float, float* %r29, i64 %i41
  %r191 = load float, float* %r190, align 4, !llvm.access.group !17
  %r192 = add i64 %i6, %i41
  %r193 = call { float } @identity()
  %r194 = extractvalue { float } %r193, 0
  %r195 = call { float } @combine(float %r194, float %r191)
  %r196 = extractvalue { float } %r195, 0
  %r197 = getelementptr inbounds float, float* %r13, i64 %r192
  store float %r196, float* %r197, align 4, !llvm.access.group !17
  br label %L42
L42:
  %next41 = add nuw nsw i64 %i41, 1
  %r198 = icmp slt i64 %next41, %r38
  br i1 %r198, label %L41, label %L43, !llvm.loop !20
L43:
  br label %L7
L7:
  %next6 = add nuw nsw i64 %i6, 4096
  %r199 = icmp slt i64 %next6, %r15
  br i1 %r199, label %L6, label %L8, !llvm.loop !22
L8:
  ret void
}
define internal void @join(float* %a0, float* %b0, i64 %width) nounwind noinline "prefer-vector-width"="512" {
  br label %L21
L21:
  %r67 = icmp slt i64 0, %width
  br i1 %r67, label %L22, label %L24
L22:
  %i22 = phi i64 [ 0, %L21 ], [ %next22, %L23 ]
  %r68 = getelementptr inbounds float, float* %a0, i64 %i22
  %r69 = load float, float* %r68, align 4, !llvm.access.group !1
  %r70 = getelementptr inbounds float, float* %b0, i64 %i22
  %r71 = load float, float* %r70, align 4, !llvm.access.group !1
  %r72 = call { float } @combine(float %r69, float %r71)
  %r73 = extractvalue { float } %r72, 0
  %r74 = getelementptr inbounds float, float* %a0, i64 %i22
  store float %r73, float* %r74, align 4, !llvm.access.group !1
  br label %L23
L23:
  %next22 = add nuw nsw i64 %i22, 1
  %r75 = icmp slt i64 %next22, %width
  br i1 %r75, label %L22, label %L24, !llvm.loop !4
L24:
  ret void
}


!1 = distinct !{}
!2 = !{!"llvm.loop.parallel_accesses", !1}
!3 = !{!"llvm.loop.unroll.disable"}
!4 = distinct !{!4, !2, !3}
!5 = distinct !{}
!6 = !{!"llvm.loop.parallel_accesses", !5}
!7 = !{!"llvm.loop.unroll.disable"}
!8 = !{!"llvm.loop.vectorize.predicate.enable", i1 true}
!9 = distinct !{!9, !6, !7, !8}
!10 = !{!"llvm.loop.unroll.disable"}
!11 = distinct !{!11, !10}
!12 = distinct !{}
!13 = !{!"llvm.loop.parallel_accesses", !12}
!14 = !{!"llvm.loop.unroll.disable"}
!15 = !{!"llvm.loop.vectorize.predicate.enable", i1 true}
!16 = distinct !{!16, !13, !14, !15}
!17 = distinct !{}
!18 = !{!"llvm.loop.parallel_accesses", !17}
!19 = !{!"llvm.loop.unroll.disable"}
!20 = distinct !{!20, !18, !19}
!21 = !{!"llvm.loop.unroll.disable"}
!22 = distinct !{!22, !21}
