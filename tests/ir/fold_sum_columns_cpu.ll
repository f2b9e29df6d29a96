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
  %r28 = call noalias align 64 i8* @uf_thread_scratch(i64 0)
  %r29 = bitcast i8* %r28 to float*
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
  store i64 1, i64* %r31
  %r41 = call { float } @identity()
  %r42 = extractvalue { float } %r41, 0
  br label %L9
L9:
  %r43 = icmp slt i64 0, %r38
  br i1 %r43, label %L10, label %L12
L10:
  %i10 = phi i64 [ 0, %L9 ], [ %next10, %L11 ]
  %r44 = getelementptr inbounds float, float* %r29, i64 %i10
  store float %r42, float* %r44, align 4, !llvm.access.group !1
  br label %L11
L11:
  %next10 = add nuw nsw i64 %i10, 1
  %r45 = icmp slt i64 %next10, %r38
  br i1 %r45, label %L10, label %L12, !llvm.loop !4
L12:
  %r46 = mul i64 %r23, %r27
  %r47 = getelementptr inbounds float, float* %r40, i64 %r46
  %r48 = sub i64 %r25, %r23
  %r49 = icmp sgt i64 0, 0
  %r50 = zext i1 %r49 to i64
  %r51 = add i64 %r48, %r50
  store i64 0, i64* %r33
  br label %L13
L13:
  %r52 = load i64, i64* %r33
  %r53 = icmp slt i64 %r52, %r51
  br i1 %r53, label %L14, label %L15
L14:
  %r54 = load i64, i64* %r31
  %r55 = icmp sge i64 %r54, 16
  %r56 = load i64, i64* %r33
  %r57 = icmp slt i64 %r56, %r48
  %r58 = and i1 %r55, %r57
  br i1 %r58, label %L18, label %L19
L18:
  %r59 = load i64, i64* %r32
  br label %L23
L23:
  br label %L20
L20:
  %ones20 = phi i64 [ %r59, %L23 ], [ %left20, %L21 ]
  %r60 = load i64, i64* %r30
  %r61 = trunc i64 %ones20 to i1
  %r62 = icmp sgt i64 %r60, 0
  %r63 = icmp eq i64 %r60, 15
  %r64 = and i1 %r61, %r62
  %r65 = or i1 %r64, %r63
  br i1 %r65, label %L24, label %L22
L24:
  %r66 = load i64, i64* %r30
  %r67 = sub i64 %r66, 1
  %r68 = mul i64 %r67, 4096
  %r69 = getelementptr inbounds float, float* %r29, i64 %r68
  %r70 = mul i64 %r66, 4096
  %r71 = getelementptr inbounds float, float* %r29, i64 %r70
  call void @join(float* %r69, float* %r71, i64 %r38)
  store i64 %r67, i64* %r30
  br label %L21
L21:
  %left20 = lshr i64 %ones20, 1
  br label %L20
L22:
  %r81 = add i64 %r59, 1
  store i64 %r81, i64* %r32
  %r82 = load i64, i64* %r30
  %r83 = add i64 %r82, 1
  store i64 %r83, i64* %r30
  store i64 0, i64* %r31
  br label %L19
L19:
  %r84 = load i64, i64* %r33
  %r85 = sub i64 %r48, %r84
  %r86 = load i64, i64* %r31
  %r87 = sub i64 16, %r86
  %r88 = sdiv i64 %r85, 8
  %r89 = icmp slt i64 %r88, %r87
  %r90 = select i1 %r89, i64 %r88, i64 %r87
  %r91 = icmp sgt i64 %r90, 0
  br i1 %r91, label %L16, label %L17
L16:
  %r92 = load i64, i64* %r30
  %r93 = mul i64 %r92, 4096
  %r94 = getelementptr inbounds float, float* %r29, i64 %r93
  %r95 = load i64, i64* %r31
  %r96 = load i64, i64* %r33
  %r97 = mul i64 %r90, 8
  %r98 = add i64 %r96, %r97
  br label %L29
L29:
  %r99 = icmp slt i64 %r96, %r98
  br i1 %r99, label %L30, label %L32
L30:
  %i30 = phi i64 [ %r96, %L29 ], [ %next30, %L31 ]
  %r100 = mul i64 %i30, %r27
  %r101 = getelementptr inbounds float, float* %r47, i64 %r100
  %r102 = icmp eq i64 %r95, 0
  %r103 = icmp eq i64 %i30, %r96
  %r104 = and i1 %r102, %r103
  %r105 = mul i64 1, %r27
  %r106 = getelementptr inbounds float, float* %r101, i64 %r105
  %r107 = mul i64 2, %r27
  %r108 = getelementptr inbounds float, float* %r101, i64 %r107
  %r109 = mul i64 3, %r27
  %r110 = getelementptr inbounds float, float* %r101, i64 %r109
  %r111 = mul i64 4, %r27
  %r112 = getelementptr inbounds float, float* %r101, i64 %r111
  %r113 = mul i64 5, %r27
  %r114 = getelementptr inbounds float, float* %r101, i64 %r113
  %r115 = mul i64 6, %r27
  %r116 = getelementptr inbounds float, float* %r101, i64 %r115
  %r117 = mul i64 7, %r27
  %r118 = getelementptr inbounds float, float* %r101, i64 %r117
  br label %L33
L33:
  %r119 = icmp slt i64 0, %r38
  br i1 %r119, label %L34, label %L36
L34:
  %i34 = phi i64 [ 0, %L33 ], [ %next34, %L35 ]
  %r120 = getelementptr inbounds float, float* %r101, i64 %i34
  %r121 = load float, float* %r120, align 4, !llvm.access.group !9
  %r122 = getelementptr inbounds float, float* %r106, i64 %i34
  %r123 = load float, float* %r122, align 4, !llvm.access.group !9
  %r124 = getelementptr inbounds float, float* %r108, i64 %i34
  %r125 = load float, float* %r124, align 4, !llvm.access.group !9
  %r126 = getelementptr inbounds float, float* %r110, i64 %i34
  %r127 = load float, float* %r126, align 4, !llvm.access.group !9
  %r128 = getelementptr inbounds float, float* %r112, i64 %i34
  %r129 = load float, float* %r128, align 4, !llvm.access.group !9
  %r130 = getelementptr inbounds float, float* %r114, i64 %i34
  %r131 = load float, float* %r130, align 4, !llvm.access.group !9
  %r132 = getelementptr inbounds float, float* %r116, i64 %i34
  %r133 = load float, float* %r132, align 4, !llvm.access.group !9
  %r134 = getelementptr inbounds float, float* %r118, i64 %i34
  %r135 = load float, float* %r134, align 4, !llvm.access.group !9
  %r136 = call { float } @combine(float %r121, float %r123)
  %r137 = extractvalue { float } %r136, 0
  %r138 = call { float } @combine(float %r125, float %r127)
  %r139 = extractvalue { float } %r138, 0
  %r140 = call { float } @combine(float %r129, float %r131)
  %r141 = extractvalue { float } %r140, 0
  %r142 = call { float } @combine(float %r133, float %r135)
  %r143 = extractvalue { float } %r142, 0
  %r144 = call { float } @combine(float %r137, float %r139)
  %r145 = extractvalue { float } %r144, 0
  %r146 = call { float } @combine(float %r141, float %r143)
  %r147 = extractvalue { float } %r146, 0
  %r148 = call { float } @combine(float %r145, float %r147)
  %r149 = extractvalue { float } %r148, 0
  %r150 = getelementptr inbounds float, float* %r94, i64 %i34
  %r151 = load float, float* %r150, align 4, !llvm.access.group !9
  %r152 = select i1 %r104, float %r149, float %r151
  %r153 = call { float } @combine(float %r152, float %r149)
  %r154 = extractvalue { float } %r153, 0
  %r155 = select i1 %r104, float %r149, float %r154
  %r156 = getelementptr inbounds float, float* %r94, i64 %i34
  store float %r155, float* %r156, align 4, !llvm.access.group !9
  br label %L35
L35:
  %next34 = add nuw nsw i64 %i34, 1
  %r157 = icmp slt i64 %next34, %r38
  br i1 %r157, label %L34, label %L36, !llvm.loop !13
L36:
  br label %L31
L31:
  %next30 = add nuw nsw i64 %i30, 8
  %r158 = icmp slt i64 %next30, %r98
  br i1 %r158, label %L30, label %L32, !llvm.loop !15
L32:
  %r159 = load i64, i64* %r31
  %r160 = add i64 %r159, %r90
  store i64 %r160, i64* %r31
  store i64 %r98, i64* %r33
  br label %L13
L17:
  %r161 = load i64, i64* %r30
  %r162 = mul i64 %r161, 4096
  %r163 = getelementptr inbounds float, float* %r29, i64 %r162
  %r164 = load i64, i64* %r33
  %r165 = icmp slt i64 %r164, %r48
  %r166 = mul i64 %r164, %r27
  %r167 = getelementptr inbounds float, float* %r47, i64 %r166
  %r168 = load i64, i64* %r31
  %r169 = icmp eq i64 %r168, 0
  %r170 = select i1 %r165, i64 %r38, i64 0
  br label %L37
L37:
  %r171 = icmp slt i64 0, %r170
  br i1 %r171, label %L38, label %L40
L38:
  %i38 = phi i64 [ 0, %L37 ], [ %next38, %L39 ]
  %r172 = getelementptr inbounds float, float* %r167, i64 %i38
  %r173 = load float, float* %r172, align 4, !llvm.access.group !16
  %r174 = getelementptr inbounds float, float* %r163, i64 %i38
  %r175 = load float, float* %r174, align 4, !llvm.access.group !16
  %r176 = select i1 %r169, float %r173, float %r175
  %r177 = call { float } @combine(float %r176, float %r173)
  %r178 = extractvalue { float } %r177, 0
  %r179 = select i1 %r169, float %r173, float %r178
  %r180 = getelementptr inbounds float, float* %r163, i64 %i38
  store float %r179, float* %r180, align 4, !llvm.access.group !16
  br label %L39
L39:
  %next38 = add nuw nsw i64 %i38, 1
  %r181 = icmp slt i64 %next38, %r170
  br i1 %r181, label %L38, label %L40, !llvm.loop !20
L40:
  %r182 = load i64, i64* %r31
  %r183 = add i64 %r182, 1
  store i64 %r183, i64* %r31
  %r184 = load i64, i64* %r33
  %r185 = add i64 %r184, 1
  store i64 %r185, i64* %r33
  br label %L13
L15:
  br label %L41
L41:
  %r186 = load i64, i64* %r30
  %r187 = icmp sgt i64 %r186, 0
  br i1 %r187, label %L42, label %L43
L42:
  %r188 = load i64, i64* %r30
  %r189 = sub i64 %r188, 1
  %r190 = mul i64 %r189, 4096
  %r191 = getelementptr inbounds float, float* %r29, i64 %r190
  %r192 = mul i64 %r188, 4096
  %r193 = getelementptr inbounds float, float* %r29, i64 %r192
  call void @join(float* %r191, float* %r193, i64 %r38)
  store i64 %r189, i64* %r30
  br label %L41
L43:
  br label %L44
L44:
  %r194 = icmp slt i64 0, %r38
  br i1 %r194, label %L45, label %L47
L45:
  %i45 = phi i64 [ 0, %L44 ], [ %next45, %L46 ]
  %r195 = getelementptr inbounds float, float* %r29, i64 %i45
  %r196 = load float, float* %r195, align 4, !llvm.access.group !21
  %r197 = add i64 %i6, %i45
  %r198 = getelementptr inbounds float, float* %r13, i64 %r197
  store float %r196, float* %r198, align 4, !llvm.access.group !21
  br label %L46
L46:
  %next45 = add nuw nsw i64 %i45, 1
  %r199 = icmp slt i64 %next45, %r38
  br i1 %r199, label %L45, label %L47, !llvm.loop !24
L47:
  br label %L7
L7:
  %next6 = add nuw nsw i64 %i6, 4096
  %r200 = icmp slt i64 %next6, %r15
  br i1 %r200, label %L6, label %L8, !llvm.loop !26
L8:
  ret void
}
declare noalias i8* @uf_thread_scratch(i64)
define internal void @join(float* %a0, float* %b0, i64 %width) nounwind noinline "prefer-vector-width"="512" {
  br label %L25
L25:
  %r72 = icmp slt i64 0, %width
  br i1 %r72, label %L26, label %L28
L26:
  %i26 = phi i64 [ 0, %L25 ], [ %next26, %L27 ]
  %r73 = getelementptr inbounds float, float* %a0, i64 %i26
  %r74 = load float, float* %r73, align 4, !llvm.access.group !5
  %r75 = getelementptr inbounds float, float* %b0, i64 %i26
  %r76 = load float, float* %r75, align 4, !llvm.access.group !5
  %r77 = call { float } @combine(float %r74, float %r76)
  %r78 = extractvalue { float } %r77, 0
  %r79 = getelementptr inbounds float, float* %a0, i64 %i26
  store float %r78, float* %r79, align 4, !llvm.access.group !5
  br label %L27
L27:
  %next26 = add nuw nsw i64 %i26, 1
  %r80 = icmp slt i64 %next26, %width
  br i1 %r80, label %L26, label %L28, !llvm.loop !8
L28:
  ret void
}


!1 = distinct !{}
!2 = !{!"llvm.loop.parallel_accesses", !1}
!3 = !{!"llvm.loop.unroll.disable"}
!4 = distinct !{!4, !2, !3}
!5 = distinct !{}
!6 = !{!"llvm.loop.parallel_accesses", !5}
!7 = !{!"llvm.loop.unroll.disable"}
!8 = distinct !{!8, !6, !7}
!9 = distinct !{}
!10 = !{!"llvm.loop.parallel_accesses", !9}
!11 = !{!"llvm.loop.unroll.disable"}
!12 = !{!"llvm.loop.vectorize.predicate.enable", i1 true}
!13 = distinct !{!13, !10, !11, !12}
!14 = !{!"llvm.loop.unroll.disable"}
!15 = distinct !{!15, !14}
!16 = distinct !{}
!17 = !{!"llvm.loop.parallel_accesses", !16}
!18 = !{!"llvm.loop.unroll.disable"}
!19 = !{!"llvm.loop.vectorize.predicate.enable", i1 true}
!20 = distinct !{!20, !17, !18, !19}
!21 = distinct !{}
!22 = !{!"llvm.loop.parallel_accesses", !21}
!23 = !{!"llvm.loop.unroll.disable"}
!24 = distinct !{!24, !22, !23}
!25 = !{!"llvm.loop.unroll.disable"}
!26 = distinct !{!26, !25}
