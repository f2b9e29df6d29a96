; mean

define internal { double } @combine(double %p0, double %p1) nounwind alwaysinline {
L2:
  %v0 = alloca double
  %v1 = alloca double
  %v2 = alloca double
  store double %p0, double* %v0
  store double %p1, double* %v1
  store double zeroinitializer, double* %v2
  %r1 = load double, double* %v0
  %r2 = load double, double* %v1
  %r3 = fadd double %r1, %r2
  store double %r3, double* %v2
  br label %L1
L1:
  %r4 = load double, double* %v2
  %r5 = insertvalue { double } undef, double %r4, 0
  ret { double } %r5
}

define internal { double } @finish(double %p0, i64 %p1) nounwind alwaysinline {
L4:
  %v0 = alloca double
  %v1 = alloca i64
  %v2 = alloca double
  store double %p0, double* %v0
  store i64 %p1, i64* %v1
  store double zeroinitializer, double* %v2
  %r6 = load double, double* %v0
  %r7 = load i64, i64* %v1
  %r8 = sitofp i64 %r7 to double
  %r9 = fdiv double %r6, %r8
  store double %r9, double* %v2
  br label %L3
L3:
  %r10 = load double, double* %v2
  %r11 = insertvalue { double } undef, double %r10, 0
  ret { double } %r11
}

define void @uf_mean(i64* %words) nounwind "prefer-vector-width"="256" {
  %r12 = getelementptr inbounds i64, i64* %words, i64 0
  %r13 = bitcast i64* %r12 to double**
  %r14 = load double*, double** %r13, align 8
  %r15 = getelementptr inbounds i64, i64* %words, i64 1
  %r16 = bitcast i64* %r15 to double**
  %r17 = load double*, double** %r16, align 8
  %r18 = getelementptr inbounds i64, i64* %words, i64 2
  %r19 = load i64, i64* %r18, align 8
  %r20 = getelementptr inbounds i64, i64* %words, i64 3
  %r21 = load i64, i64* %r20, align 8
  %r22 = getelementptr inbounds i64, i64* %words, i64 4
  %r23 = load i64, i64* %r22, align 8
  %r24 = getelementptr inbounds i64, i64* %words, i64 5
  %r25 = load i64, i64* %r24, align 8
  %r26 = getelementptr inbounds i64, i64* %words, i64 6
  %r27 = load i64, i64* %r26, align 8
  %r28 = getelementptr inbounds i64, i64* %words, i64 7
  %r29 = load i64, i64* %r28, align 8
  %r30 = getelementptr inbounds i64, i64* %words, i64 8
  %r31 = load i64, i64* %r30, align 8
  %r32 = getelementptr inbounds i64, i64* %words, i64 9
  %r33 = load i64, i64* %r32, align 8
  %r34 = inttoptr i64 %r33 to i8*
  %r35 = getelementptr inbounds i64, i64* %words, i64 10
  %r36 = load i64, i64* %r35, align 8
  %r37 = icmp ne i64 %r36, 0
  %r38 = getelementptr inbounds i64, i64* %words, i64 11
  %r39 = load i64, i64* %r38, align 8
  %r40 = icmp ne i64 %r39, 0
  %r41 = alloca double
  %r42 = alloca double
  %r43 = alloca i64
  %r44 = alloca double
  %r45 = alloca double
  %r46 = alloca double
  %r47 = alloca double
  %r48 = alloca double
  %r49 = alloca double
  %r50 = alloca double
  %r51 = alloca double
  %r52 = alloca [512 x double], align 64
  %r53 = getelementptr [512 x double], [512 x double]* %r52, i64 0, i64 0
  %r54 = icmp eq i64 %r39, 2
  br i1 %r54, label %L5, label %L6
L5:
  %r55 = getelementptr i8, i8* %r34, i64 0
  %r56 = bitcast i8* %r55 to double*
  %r57 = load double, double* %r56, align 8
  %r58 = getelementptr i8, i8* %r34, i64 256
  %r59 = bitcast i8* %r58 to double*
  %r60 = load double, double* %r59, align 8
  %r61 = call { double } @combine(double %r57, double %r60)
  %r62 = extractvalue { double } %r61, 0
  %r63 = getelementptr i8, i8* %r34, i64 256
  %r64 = bitcast i8* %r63 to double*
  store double %r62, double* %r64, align 8
  br label %L7
L6:
  br label %L8
L8:
  %r65 = icmp slt i64 0, %r19
  br i1 %r65, label %L9, label %L11
L9:
  %i9 = phi i64 [ 0, %L8 ], [ %next9, %L10 ]
  %r66 = mul i64 %i9, %r21
  %r67 = getelementptr inbounds double, double* %r14, i64 %r66
  %r68 = mul i64 %i9, %r23
  %r69 = getelementptr inbounds double, double* %r17, i64 %r68
  %r70 = load double, double* %r67, align 8
  store double %r70, double* %r41
  store double %r70, double* %r42
  br i1 %r37, label %L12, label %L13
L12:
  %r71 = getelementptr i8, i8* %r34, i64 0
  %r72 = bitcast i8* %r71 to double*
  %r73 = load double, double* %r72, align 8
  %r74 = call { double } @combine(double %r73, double %r70)
  %r75 = extractvalue { double } %r74, 0
  store double %r75, double* %r42
  br label %L13
L13:
  %r76 = xor i1 %r40, true
  br i1 %r76, label %L14, label %L15
L14:
  %r77 = load double, double* %r42
  %r78 = add i64 %r27, 0
  %r79 = add i64 %r78, 1
  %r80 = call { double } @finish(double %r77, i64 %r79)
  %r81 = extractvalue { double } %r80, 0
  store double %r81, double* %r69, align 8
  br label %L15
L15:
  store i64 1, i64* %r43
  %r82 = sub i64 %r25, 15
  br label %L16
L16:
  %r83 = load i64, i64* %r43
  %r84 = icmp slt i64 %r83, %r82
  br i1 %r84, label %L17, label %L18
L17:
  %r85 = sub i64 %r25, %r83
  %r86 = udiv i64 %r85, 8
  %r87 = icmp slt i64 %r86, 64
  %r88 = select i1 %r87, i64 %r86, i64 64
  %r89 = mul i64 %r88, 0
  %r90 = add i64 %r83, %r89
  %r91 = getelementptr inbounds double, double* %r67, i64 %r90
  %r92 = load double, double* %r91, align 8
  store double %r92, double* %r44
  %r93 = getelementptr inbounds double, double* %r53, i64 %r89
  store double %r92, double* %r93, align 8
  %r94 = mul i64 %r88, 1
  %r95 = add i64 %r83, %r94
  %r96 = getelementptr inbounds double, double* %r67, i64 %r95
  %r97 = load double, double* %r96, align 8
  store double %r97, double* %r45
  %r98 = getelementptr inbounds double, double* %r53, i64 %r94
  store double %r97, double* %r98, align 8
  %r99 = mul i64 %r88, 2
  %r100 = add i64 %r83, %r99
  %r101 = getelementptr inbounds double, double* %r67, i64 %r100
  %r102 = load double, double* %r101, align 8
  store double %r102, double* %r46
  %r103 = getelementptr inbounds double, double* %r53, i64 %r99
  store double %r102, double* %r103, align 8
  %r104 = mul i64 %r88, 3
  %r105 = add i64 %r83, %r104
  %r106 = getelementptr inbounds double, double* %r67, i64 %r105
  %r107 = load double, double* %r106, align 8
  store double %r107, double* %r47
  %r108 = getelementptr inbounds double, double* %r53, i64 %r104
  store double %r107, double* %r108, align 8
  %r109 = mul i64 %r88, 4
  %r110 = add i64 %r83, %r109
  %r111 = getelementptr inbounds double, double* %r67, i64 %r110
  %r112 = load double, double* %r111, align 8
  store double %r112, double* %r48
  %r113 = getelementptr inbounds double, double* %r53, i64 %r109
  store double %r112, double* %r113, align 8
  %r114 = mul i64 %r88, 5
  %r115 = add i64 %r83, %r114
  %r116 = getelementptr inbounds double, double* %r67, i64 %r115
  %r117 = load double, double* %r116, align 8
  store double %r117, double* %r49
  %r118 = getelementptr inbounds double, double* %r53, i64 %r114
  store double %r117, double* %r118, align 8
  %r119 = mul i64 %r88, 6
  %r120 = add i64 %r83, %r119
  %r121 = getelementptr inbounds double, double* %r67, i64 %r120
  %r122 = load double, double* %r121, align 8
  store double %r122, double* %r50
  %r123 = getelementptr inbounds double, double* %r53, i64 %r119
  store double %r122, double* %r123, align 8
  %r124 = mul i64 %r88, 7
  %r125 = add i64 %r83, %r124
  %r126 = getelementptr inbounds double, double* %r67, i64 %r125
  %r127 = load double, double* %r126, align 8
  store double %r127, double* %r51
  %r128 = getelementptr inbounds double, double* %r53, i64 %r124
  store double %r127, double* %r128, align 8
  br label %L19
L19:
  %r129 = icmp slt i64 1, %r88
  br i1 %r129, label %L20, label %L22
L20:
  %i20 = phi i64 [ 1, %L19 ], [ %next20, %L21 ]
  %r130 = add i64 %r89, %i20
  %r131 = add i64 %r83, %r130
  %r132 = getelementptr inbounds double, double* %r67, i64 %r131
  %r133 = load double, double* %r132, align 8
  %r134 = add i64 %r94, %i20
  %r135 = add i64 %r83, %r134
  %r136 = getelementptr inbounds double, double* %r67, i64 %r135
  %r137 = load double, double* %r136, align 8
  %r138 = add i64 %r99, %i20
  %r139 = add i64 %r83, %r138
  %r140 = getelementptr inbounds double, double* %r67, i64 %r139
  %r141 = load double, double* %r140, align 8
  %r142 = add i64 %r104, %i20
  %r143 = add i64 %r83, %r142
  %r144 = getelementptr inbounds double, double* %r67, i64 %r143
  %r145 = load double, double* %r144, align 8
  %r146 = add i64 %r109, %i20
  %r147 = add i64 %r83, %r146
  %r148 = getelementptr inbounds double, double* %r67, i64 %r147
  %r149 = load double, double* %r148, align 8
  %r150 = add i64 %r114, %i20
  %r151 = add i64 %r83, %r150
  %r152 = getelementptr inbounds double, double* %r67, i64 %r151
  %r153 = load double, double* %r152, align 8
  %r154 = add i64 %r119, %i20
  %r155 = add i64 %r83, %r154
  %r156 = getelementptr inbounds double, double* %r67, i64 %r155
  %r157 = load double, double* %r156, align 8
  %r158 = add i64 %r124, %i20
  %r159 = add i64 %r83, %r158
  %r160 = getelementptr inbounds double, double* %r67, i64 %r159
  %r161 = load double, double* %r160, align 8
  %r162 = load double, double* %r44
  %r163 = call { double } @combine(double %r162, double %r133)
  %r164 = extractvalue { double } %r163, 0
  store double %r164, double* %r44
  %r165 = getelementptr inbounds double, double* %r53, i64 %r130
  store double %r164, double* %r165, align 8
  %r166 = load double, double* %r45
  %r167 = call { double } @combine(double %r166, double %r137)
  %r168 = extractvalue { double } %r167, 0
  store double %r168, double* %r45
  %r169 = getelementptr inbounds double, double* %r53, i64 %r134
  store double %r168, double* %r169, align 8
  %r170 = load double, double* %r46
  %r171 = call { double } @combine(double %r170, double %r141)
  %r172 = extractvalue { double } %r171, 0
  store double %r172, double* %r46
  %r173 = getelementptr inbounds double, double* %r53, i64 %r138
  store double %r172, double* %r173, align 8
  %r174 = load double, double* %r47
  %r175 = call { double } @combine(double %r174, double %r145)
  %r176 = extractvalue { double } %r175, 0
  store double %r176, double* %r47
  %r177 = getelementptr inbounds double, double* %r53, i64 %r142
  store double %r176, double* %r177, align 8
  %r178 = load double, double* %r48
  %r179 = call { double } @combine(double %r178, double %r149)
  %r180 = extractvalue { double } %r179, 0
  store double %r180, double* %r48
  %r181 = getelementptr inbounds double, double* %r53, i64 %r146
  store double %r180, double* %r181, align 8
  %r182 = load double, double* %r49
  %r183 = call { double } @combine(double %r182, double %r153)
  %r184 = extractvalue { double } %r183, 0
  store double %r184, double* %r49
  %r185 = getelementptr inbounds double, double* %r53, i64 %r150
  store double %r184, double* %r185, align 8
  %r186 = load double, double* %r50
  %r187 = call { double } @combine(double %r186, double %r157)
  %r188 = extractvalue { double } %r187, 0
  store double %r188, double* %r50
  %r189 = getelementptr inbounds double, double* %r53, i64 %r154
  store double %r188, double* %r189, align 8
  %r190 = load double, double* %r51
  %r191 = call { double } @combine(double %r190, double %r161)
  %r192 = extractvalue { double } %r191, 0
  store double %r192, double* %r51
  %r193 = getelementptr inbounds double, double* %r53, i64 %r158
  store double %r192, double* %r193, align 8
  br label %L21
L21:
  %next20 = add nuw nsw i64 %i20, 1
  %r194 = icmp slt i64 %next20, %r88
  br i1 %r194, label %L20, label %L22, !llvm.loop !2
L22:
  %r195 = mul i64 %r88, 8
  br label %L23
L23:
  %r196 = icmp slt i64 0, %r195
  br i1 %r196, label %L24, label %L26
L24:
  %i24 = phi i64 [ 0, %L23 ], [ %next24, %L25 ]
  %r197 = add i64 %i24, %r88
  %r198 = sub i64 %r197, 1
  %r199 = xor i1 %r40, true
  br i1 %r199, label %L27, label %L28
L27:
  %r200 = load double, double* %r42
  br label %L29
L29:
  %r201 = icmp slt i64 %i24, %r197
  br i1 %r201, label %L30, label %L32
L30:
  %i30 = phi i64 [ %i24, %L29 ], [ %next30, %L31 ]
  %r202 = getelementptr inbounds double, double* %r53, i64 %i30
  %r203 = load double, double* %r202, align 8, !llvm.access.group !3
  %r204 = call { double } @combine(double %r200, double %r203)
  %r205 = extractvalue { double } %r204, 0
  %r206 = add i64 %r83, %i30
  %r207 = add i64 %r27, %r206
  %r208 = add i64 %r207, 1
  %r209 = call { double } @finish(double %r205, i64 %r208)
  %r210 = extractvalue { double } %r209, 0
  %r211 = getelementptr inbounds double, double* %r69, i64 %r206
  store double %r210, double* %r211, align 8, !llvm.access.group !3
  br label %L31
L31:
  %next30 = add nuw nsw i64 %i30, 1
  %r212 = icmp slt i64 %next30, %r197
  br i1 %r212, label %L30, label %L32, !llvm.loop !5
L32:
  br label %L28
L28:
  %r213 = getelementptr inbounds double, double* %r53, i64 %r198
  %r214 = load double, double* %r213, align 8
  %r215 = load double, double* %r41
  %r216 = call { double } @combine(double %r215, double %r214)
  %r217 = extractvalue { double } %r216, 0
  store double %r217, double* %r41
  store double %r217, double* %r42
  br i1 %r37, label %L33, label %L34
L33:
  %r218 = getelementptr i8, i8* %r34, i64 0
  %r219 = bitcast i8* %r218 to double*
  %r220 = load double, double* %r219, align 8
  %r221 = call { double } @combine(double %r220, double %r217)
  %r222 = extractvalue { double } %r221, 0
  store double %r222, double* %r42
  br label %L34
L34:
  br label %L25
L25:
  %next24 = add nuw nsw i64 %i24, %r88
  %r223 = icmp slt i64 %next24, %r195
  br i1 %r223, label %L24, label %L26, !llvm.loop !7
L26:
  %r224 = add i64 %r83, %r195
  store i64 %r224, i64* %r43
  br label %L16
L18:
  br label %L35
L35:
  %r225 = icmp slt i64 %r83, %r25
  br i1 %r225, label %L36, label %L38
L36:
  %i36 = phi i64 [ %r83, %L35 ], [ %next36, %L37 ]
  %r226 = getelementptr inbounds double, double* %r67, i64 %i36
  %r227 = load double, double* %r226, align 8
  %r228 = load double, double* %r41
  %r229 = load double, double* %r42
  %r230 = call { double } @combine(double %r228, double %r227)
  %r231 = extractvalue { double } %r230, 0
  %r232 = call { double } @combine(double %r229, double %r227)
  %r233 = extractvalue { double } %r232, 0
  store double %r231, double* %r41
  store double %r233, double* %r42
  %r234 = xor i1 %r40, true
  br i1 %r234, label %L39, label %L40
L39:
  %r235 = load double, double* %r42
  %r236 = add i64 %r27, %i36
  %r237 = add i64 %r236, 1
  %r238 = call { double } @finish(double %r235, i64 %r237)
  %r239 = extractvalue { double } %r238, 0
  %r240 = getelementptr inbounds double, double* %r69, i64 %i36
  store double %r239, double* %r240, align 8
  br label %L40
L40:
  br label %L37
L37:
  %next36 = add nuw nsw i64 %i36, 1
  %r241 = icmp slt i64 %next36, %r25
  br i1 %r241, label %L36, label %L38, !llvm.loop !9
L38:
  %r242 = icmp ne i8* %r34, null
  br i1 %r242, label %L41, label %L42
L41:
  %r243 = load double, double* %r41
  store double %r243, double* %r41
  store double %r243, double* %r42
  br i1 %r37, label %L43, label %L44
L43:
  %r244 = getelementptr i8, i8* %r34, i64 0
  %r245 = bitcast i8* %r244 to double*
  %r246 = load double, double* %r245, align 8
  %r247 = call { double } @combine(double %r246, double %r243)
  %r248 = extractvalue { double } %r247, 0
  store double %r248, double* %r42
  br label %L44
L44:
  %r249 = load double, double* %r42
  %r250 = getelementptr i8, i8* %r34, i64 0
  %r251 = bitcast i8* %r250 to double*
  store double %r249, double* %r251, align 8
  br label %L42
L42:
  br label %L10
L10:
  %next9 = add nuw nsw i64 %i9, 1
  %r252 = icmp slt i64 %next9, %r19
  br i1 %r252, label %L9, label %L11, !llvm.loop !11
L11:
  br label %L7
L7:
  ret void
}
!1 = !{!"llvm.loop.unroll.disable"}
!2 = distinct !{!2, !1}
!3 = distinct !{}
!4 = !{!"llvm.loop.parallel_accesses", !3}
!5 = distinct !{!5, !4}
!6 = !{!"llvm.loop.unroll.disable"}
!7 = distinct !{!7, !6}
!8 = !{!"llvm.loop.unroll.disable"}
!9 = distinct !{!9, !8}
!10 = !{!"llvm.loop.unroll.disable"}
!11 = distinct !{!11, !10}
