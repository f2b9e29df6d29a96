; argmax

define internal { float, i64 } @map(float %p0, i64 %p1) nounwind alwaysinline {
L2:
  %v0 = alloca float
  %v1 = alloca i64
  %v2 = alloca float
  %v3 = alloca i64
  store float %p0, float* %v0
  store i64 %p1, i64* %v1
  store float zeroinitializer, float* %v2
  store i64 zeroinitializer, i64* %v3
  %r1 = load float, float* %v0
  store float %r1, float* %v2
  %r2 = load i64, i64* %v1
  store i64 %r2, i64* %v3
  br label %L1
L1:
  %r3 = load float, float* %v2
  %r4 = insertvalue { float, i64 } undef, float %r3, 0
  %r5 = load i64, i64* %v3
  %r6 = insertvalue { float, i64 } %r4, i64 %r5, 1
  ret { float, i64 } %r6
}

define internal { float, i64 } @combine(float %p0, i64 %p1, float %p2, i64 %p3) nounwind alwaysinline {
L4:
  %v0 = alloca float
  %v1 = alloca i64
  %v2 = alloca float
  %v3 = alloca i64
  %v4 = alloca float
  %v5 = alloca i64
  %v6 = alloca i1
  store float %p0, float* %v0
  store i64 %p1, i64* %v1
  store float %p2, float* %v2
  store i64 %p3, i64* %v3
  store float zeroinitializer, float* %v4
  store i64 zeroinitializer, i64* %v5
  store i1 zeroinitializer, i1* %v6
  %r7 = load i64, i64* %v3
  %r8 = icmp slt i64 %r7, 0
  br i1 %r8, label %L6, label %L5
L5:
  %r9 = load i64, i64* %v1
  %r10 = icmp sge i64 %r9, 0
  br i1 %r10, label %L7, label %L8
L7:
  %r11 = load float, float* %v0
  %r12 = load float, float* %v2
  %r13 = fcmp ogt float %r11, %r12
  %r14 = load float, float* %v0
  %r15 = load float, float* %v2
  %r16 = fcmp oeq float %r14, %r15
  %r17 = load i64, i64* %v1
  %r18 = load i64, i64* %v3
  %r19 = icmp slt i64 %r17, %r18
  %r20 = and i1 %r16, %r19
  %r21 = or i1 %r13, %r20
  br label %L8
L8:
  %r22 = phi i1 [ false, %L5 ], [ %r21, %L7 ]
  br label %L6
L6:
  %r23 = phi i1 [ true, %L4 ], [ %r22, %L8 ]
  store i1 %r23, i1* %v6
  %r24 = load i1, i1* %v6
  %r25 = load float, float* %v0
  %r26 = load float, float* %v2
  %r27 = select i1 %r24, float %r25, float %r26
  store float %r27, float* %v4
  %r28 = load i1, i1* %v6
  %r29 = load i64, i64* %v1
  %r30 = load i64, i64* %v3
  %r31 = select i1 %r28, i64 %r29, i64 %r30
  store i64 %r31, i64* %v5
  br label %L3
L3:
  %r32 = load float, float* %v4
  %r33 = insertvalue { float, i64 } undef, float %r32, 0
  %r34 = load i64, i64* %v5
  %r35 = insertvalue { float, i64 } %r33, i64 %r34, 1
  ret { float, i64 } %r35
}

define void @uf_argmax(i64* %words) nounwind "prefer-vector-width"="512" {
  %r36 = getelementptr inbounds i64, i64* %words, i64 0
  %r37 = bitcast i64* %r36 to float**
  %r38 = load float*, float** %r37, align 8
  %r39 = getelementptr inbounds i64, i64* %words, i64 1
  %r40 = bitcast i64* %r39 to float**
  %r41 = load float*, float** %r40, align 8
  %r42 = getelementptr inbounds i64, i64* %words, i64 2
  %r43 = bitcast i64* %r42 to i64**
  %r44 = load i64*, i64** %r43, align 8
  %r45 = getelementptr inbounds i64, i64* %words, i64 3
  %r46 = load i64, i64* %r45, align 8
  %r47 = getelementptr inbounds i64, i64* %words, i64 4
  %r48 = load i64, i64* %r47, align 8
  %r49 = getelementptr inbounds i64, i64* %words, i64 5
  %r50 = load i64, i64* %r49, align 8
  %r51 = getelementptr inbounds i64, i64* %words, i64 6
  %r52 = load i64, i64* %r51, align 8
  %r53 = getelementptr inbounds i64, i64* %words, i64 7
  %r54 = load i64, i64* %r53, align 8
  %r55 = getelementptr inbounds i64, i64* %words, i64 8
  %r56 = load i64, i64* %r55, align 8
  %r57 = getelementptr inbounds i64, i64* %words, i64 9
  %r58 = load i64, i64* %r57, align 8
  %r59 = getelementptr inbounds i64, i64* %words, i64 10
  %r60 = load i64, i64* %r59, align 8
  %r61 = getelementptr inbounds i64, i64* %words, i64 11
  %r62 = load i64, i64* %r61, align 8
  %r63 = getelementptr inbounds i64, i64* %words, i64 12
  %r64 = load i64, i64* %r63, align 8
  %r65 = getelementptr inbounds i64, i64* %words, i64 13
  %r66 = load i64, i64* %r65, align 8
  %r67 = alloca [1024 x float], align 64
  %r68 = getelementptr [1024 x float], [1024 x float]* %r67, i64 0, i64 0
  %r69 = alloca [1024 x i32], align 64
  %r70 = getelementptr [1024 x i32], [1024 x i32]* %r69, i64 0, i64 0
  %r71 = alloca i64
  %r72 = alloca i64
  %r73 = alloca i64
  %r74 = alloca i64
  %r75 = alloca i64
  br label %L9
L9:
  %r76 = icmp slt i64 0, %r48
  br i1 %r76, label %L10, label %L12
L10:
  %i10 = phi i64 [ 0, %L9 ], [ %next10, %L11 ]
  %r77 = mul i64 %i10, %r50
  %r78 = getelementptr inbounds float, float* %r38, i64 %r77
  %r79 = sub i64 %r62, %r60
  %r80 = mul i64 %r60, %r64
  %r81 = getelementptr inbounds float, float* %r78, i64 %r80
  %r82 = mul i64 %r60, 1
  %r83 = add i64 %r46, %r82
  %r84 = call i64 asm sideeffect "", "=r,0"(i64 %r79)
  %r85 = icmp sle i64 %r84, 1024
  br i1 %r85, label %L13, label %L14
L13:
  %r86 = udiv i64 %r84, 16
  %r87 = urem i64 %r84, 16
  %r88 = icmp sgt i64 %r86, 0
  %r89 = icmp eq i64 %r86, 0
  %r90 = sub i64 %r86, 0
  %r91 = and i64 %r90, -8
  %r92 = add i64 0, %r91
  br label %L16
L16:
  %r93 = icmp slt i64 0, %r92
  br i1 %r93, label %L17, label %L19
L17:
  %i17 = phi i64 [ 0, %L16 ], [ %next17, %L18 ]
  %r94 = mul i64 %i17, 16
  %r95 = getelementptr inbounds float, float* %r81, i64 %r94
  %r96 = mul i64 %i17, 16
  %r97 = add i64 %r83, %r96
  %r98 = icmp eq i64 %i17, 0
  br label %L20
L20:
  %r99 = icmp slt i64 0, 16
  br i1 %r99, label %L21, label %L23
L21:
  %i21 = phi i64 [ 0, %L20 ], [ %next21, %L22 ]
  %r100 = getelementptr inbounds float, float* %r95, i64 %i21
  %r101 = mul i64 %i21, 1
  %r102 = add i64 %r97, %r101
  %r103 = load float, float* %r100, align 4, !llvm.access.group !1
  %r104 = trunc i64 %r97 to i32
  %r105 = trunc i64 %i21 to i32
  %r106 = add nsw i32 %r104, %r105
  %r107 = add nsw i32 %r106, 0
  %r108 = sext i32 %r107 to i64
  %r109 = call { float, i64 } @map(float %r103, i64 %r108)
  %r110 = extractvalue { float, i64 } %r109, 0
  %r111 = extractvalue { float, i64 } %r109, 1
  %r112 = getelementptr inbounds float, float* %r95, i64 %i21
  %r113 = mul i64 %i21, 1
  %r114 = add i64 %r97, %r113
  %r115 = getelementptr inbounds float, float* %r112, i64 16
  %r116 = load float, float* %r115, align 4, !llvm.access.group !1
  %r117 = trunc i64 %r97 to i32
  %r118 = trunc i64 %i21 to i32
  %r119 = add nsw i32 %r117, %r118
  %r120 = add nsw i32 %r119, 16
  %r121 = sext i32 %r120 to i64
  %r122 = call { float, i64 } @map(float %r116, i64 %r121)
  %r123 = extractvalue { float, i64 } %r122, 0
  %r124 = extractvalue { float, i64 } %r122, 1
  %r125 = getelementptr inbounds float, float* %r95, i64 %i21
  %r126 = mul i64 %i21, 1
  %r127 = add i64 %r97, %r126
  %r128 = getelementptr inbounds float, float* %r125, i64 32
  %r129 = load float, float* %r128, align 4, !llvm.access.group !1
  %r130 = trunc i64 %r97 to i32
  %r131 = trunc i64 %i21 to i32
  %r132 = add nsw i32 %r130, %r131
  %r133 = add nsw i32 %r132, 32
  %r134 = sext i32 %r133 to i64
  %r135 = call { float, i64 } @map(float %r129, i64 %r134)
  %r136 = extractvalue { float, i64 } %r135, 0
  %r137 = extractvalue { float, i64 } %r135, 1
  %r138 = getelementptr inbounds float, float* %r95, i64 %i21
  %r139 = mul i64 %i21, 1
  %r140 = add i64 %r97, %r139
  %r141 = getelementptr inbounds float, float* %r138, i64 48
  %r142 = load float, float* %r141, align 4, !llvm.access.group !1
  %r143 = trunc i64 %r97 to i32
  %r144 = trunc i64 %i21 to i32
  %r145 = add nsw i32 %r143, %r144
  %r146 = add nsw i32 %r145, 48
  %r147 = sext i32 %r146 to i64
  %r148 = call { float, i64 } @map(float %r142, i64 %r147)
  %r149 = extractvalue { float, i64 } %r148, 0
  %r150 = extractvalue { float, i64 } %r148, 1
  %r151 = getelementptr inbounds float, float* %r95, i64 %i21
  %r152 = mul i64 %i21, 1
  %r153 = add i64 %r97, %r152
  %r154 = getelementptr inbounds float, float* %r151, i64 64
  %r155 = load float, float* %r154, align 4, !llvm.access.group !1
  %r156 = trunc i64 %r97 to i32
  %r157 = trunc i64 %i21 to i32
  %r158 = add nsw i32 %r156, %r157
  %r159 = add nsw i32 %r158, 64
  %r160 = sext i32 %r159 to i64
  %r161 = call { float, i64 } @map(float %r155, i64 %r160)
  %r162 = extractvalue { float, i64 } %r161, 0
  %r163 = extractvalue { float, i64 } %r161, 1
  %r164 = getelementptr inbounds float, float* %r95, i64 %i21
  %r165 = mul i64 %i21, 1
  %r166 = add i64 %r97, %r165
  %r167 = getelementptr inbounds float, float* %r164, i64 80
  %r168 = load float, float* %r167, align 4, !llvm.access.group !1
  %r169 = trunc i64 %r97 to i32
  %r170 = trunc i64 %i21 to i32
  %r171 = add nsw i32 %r169, %r170
  %r172 = add nsw i32 %r171, 80
  %r173 = sext i32 %r172 to i64
  %r174 = call { float, i64 } @map(float %r168, i64 %r173)
  %r175 = extractvalue { float, i64 } %r174, 0
  %r176 = extractvalue { float, i64 } %r174, 1
  %r177 = getelementptr inbounds float, float* %r95, i64 %i21
  %r178 = mul i64 %i21, 1
  %r179 = add i64 %r97, %r178
  %r180 = getelementptr inbounds float, float* %r177, i64 96
  %r181 = load float, float* %r180, align 4, !llvm.access.group !1
  %r182 = trunc i64 %r97 to i32
  %r183 = trunc i64 %i21 to i32
  %r184 = add nsw i32 %r182, %r183
  %r185 = add nsw i32 %r184, 96
  %r186 = sext i32 %r185 to i64
  %r187 = call { float, i64 } @map(float %r181, i64 %r186)
  %r188 = extractvalue { float, i64 } %r187, 0
  %r189 = extractvalue { float, i64 } %r187, 1
  %r190 = getelementptr inbounds float, float* %r95, i64 %i21
  %r191 = mul i64 %i21, 1
  %r192 = add i64 %r97, %r191
  %r193 = getelementptr inbounds float, float* %r190, i64 112
  %r194 = load float, float* %r193, align 4, !llvm.access.group !1
  %r195 = trunc i64 %r97 to i32
  %r196 = trunc i64 %i21 to i32
  %r197 = add nsw i32 %r195, %r196
  %r198 = add nsw i32 %r197, 112
  %r199 = sext i32 %r198 to i64
  %r200 = call { float, i64 } @map(float %r194, i64 %r199)
  %r201 = extractvalue { float, i64 } %r200, 0
  %r202 = extractvalue { float, i64 } %r200, 1
  %r203 = call { float, i64 } @combine(float %r110, i64 %r111, float %r123, i64 %r124)
  %r204 = extractvalue { float, i64 } %r203, 0
  %r205 = extractvalue { float, i64 } %r203, 1
  %r206 = call { float, i64 } @combine(float %r136, i64 %r137, float %r149, i64 %r150)
  %r207 = extractvalue { float, i64 } %r206, 0
  %r208 = extractvalue { float, i64 } %r206, 1
  %r209 = call { float, i64 } @combine(float %r162, i64 %r163, float %r175, i64 %r176)
  %r210 = extractvalue { float, i64 } %r209, 0
  %r211 = extractvalue { float, i64 } %r209, 1
  %r212 = call { float, i64 } @combine(float %r188, i64 %r189, float %r201, i64 %r202)
  %r213 = extractvalue { float, i64 } %r212, 0
  %r214 = extractvalue { float, i64 } %r212, 1
  %r215 = call { float, i64 } @combine(float %r204, i64 %r205, float %r207, i64 %r208)
  %r216 = extractvalue { float, i64 } %r215, 0
  %r217 = extractvalue { float, i64 } %r215, 1
  %r218 = call { float, i64 } @combine(float %r210, i64 %r211, float %r213, i64 %r214)
  %r219 = extractvalue { float, i64 } %r218, 0
  %r220 = extractvalue { float, i64 } %r218, 1
  %r221 = call { float, i64 } @combine(float %r216, i64 %r217, float %r219, i64 %r220)
  %r222 = extractvalue { float, i64 } %r221, 0
  %r223 = extractvalue { float, i64 } %r221, 1
  %r224 = getelementptr inbounds float, float* %r68, i64 %i21
  %r225 = load float, float* %r224, align 4, !llvm.access.group !1
  %r226 = getelementptr inbounds i32, i32* %r70, i64 %i21
  %r227 = load i32, i32* %r226, align 4, !llvm.access.group !1
  %r228 = sext i32 %r227 to i64
  %r229 = select i1 %r98, float %r222, float %r225
  %r230 = trunc i64 %r228 to i32
  %r231 = trunc i64 %r223 to i32
  %r232 = select i1 %r98, i32 %r231, i32 %r230
  %r233 = sext i32 %r232 to i64
  %r234 = call { float, i64 } @combine(float %r229, i64 %r233, float %r222, i64 %r223)
  %r235 = extractvalue { float, i64 } %r234, 0
  %r236 = extractvalue { float, i64 } %r234, 1
  %r237 = select i1 %r98, float %r222, float %r235
  %r238 = trunc i64 %r236 to i32
  %r239 = trunc i64 %r223 to i32
  %r240 = select i1 %r98, i32 %r239, i32 %r238
  %r241 = sext i32 %r240 to i64
  %r242 = getelementptr inbounds float, float* %r68, i64 %i21
  store float %r237, float* %r242, align 4, !llvm.access.group !1
  %r243 = getelementptr inbounds i32, i32* %r70, i64 %i21
  %r244 = trunc i64 %r241 to i32
  store i32 %r244, i32* %r243, align 4, !llvm.access.group !1
  br label %L22
L22:
  %next21 = add nuw nsw i64 %i21, 1
  %r245 = icmp slt i64 %next21, 16
  br i1 %r245, label %L21, label %L23, !llvm.loop !4
L23:
  br label %L18
L18:
  %next17 = add nuw nsw i64 %i17, 8
  %r246 = icmp slt i64 %next17, %r92
  br i1 %r246, label %L17, label %L19, !llvm.loop !6
L19:
  %r247 = sub i64 %r86, %r92
  %r248 = add i64 %r92, %r247
  br label %L24
L24:
  %r249 = icmp slt i64 %r92, %r248
  br i1 %r249, label %L25, label %L27
L25:
  %i25 = phi i64 [ %r92, %L24 ], [ %next25, %L26 ]
  %r250 = mul i64 %i25, 16
  %r251 = getelementptr inbounds float, float* %r81, i64 %r250
  %r252 = mul i64 %i25, 16
  %r253 = add i64 %r83, %r252
  %r254 = icmp eq i64 %i25, 0
  br label %L28
L28:
  %r255 = icmp slt i64 0, 16
  br i1 %r255, label %L29, label %L31
L29:
  %i29 = phi i64 [ 0, %L28 ], [ %next29, %L30 ]
  %r256 = getelementptr inbounds float, float* %r251, i64 %i29
  %r257 = mul i64 %i29, 1
  %r258 = add i64 %r253, %r257
  %r259 = load float, float* %r256, align 4, !llvm.access.group !7
  %r260 = trunc i64 %r253 to i32
  %r261 = trunc i64 %i29 to i32
  %r262 = add nsw i32 %r260, %r261
  %r263 = add nsw i32 %r262, 0
  %r264 = sext i32 %r263 to i64
  %r265 = call { float, i64 } @map(float %r259, i64 %r264)
  %r266 = extractvalue { float, i64 } %r265, 0
  %r267 = extractvalue { float, i64 } %r265, 1
  %r268 = getelementptr inbounds float, float* %r68, i64 %i29
  %r269 = load float, float* %r268, align 4, !llvm.access.group !7
  %r270 = getelementptr inbounds i32, i32* %r70, i64 %i29
  %r271 = load i32, i32* %r270, align 4, !llvm.access.group !7
  %r272 = sext i32 %r271 to i64
  %r273 = select i1 %r254, float %r266, float %r269
  %r274 = trunc i64 %r272 to i32
  %r275 = trunc i64 %r267 to i32
  %r276 = select i1 %r254, i32 %r275, i32 %r274
  %r277 = sext i32 %r276 to i64
  %r278 = call { float, i64 } @combine(float %r273, i64 %r277, float %r266, i64 %r267)
  %r279 = extractvalue { float, i64 } %r278, 0
  %r280 = extractvalue { float, i64 } %r278, 1
  %r281 = select i1 %r254, float %r266, float %r279
  %r282 = trunc i64 %r280 to i32
  %r283 = trunc i64 %r267 to i32
  %r284 = select i1 %r254, i32 %r283, i32 %r282
  %r285 = sext i32 %r284 to i64
  %r286 = getelementptr inbounds float, float* %r68, i64 %i29
  store float %r281, float* %r286, align 4, !llvm.access.group !7
  %r287 = getelementptr inbounds i32, i32* %r70, i64 %i29
  %r288 = trunc i64 %r285 to i32
  store i32 %r288, i32* %r287, align 4, !llvm.access.group !7
  br label %L30
L30:
  %next29 = add nuw nsw i64 %i29, 1
  %r289 = icmp slt i64 %next29, 16
  br i1 %r289, label %L29, label %L31, !llvm.loop !10
L31:
  br label %L26
L26:
  %next25 = add nuw nsw i64 %i25, 1
  %r290 = icmp slt i64 %next25, %r248
  br i1 %r290, label %L25, label %L27, !llvm.loop !12
L27:
  %r291 = mul i64 %r86, 16
  %r292 = getelementptr inbounds float, float* %r81, i64 %r291
  %r293 = mul i64 %r86, 16
  %r294 = add i64 %r83, %r293
  br label %L32
L32:
  %r295 = icmp slt i64 0, %r87
  br i1 %r295, label %L33, label %L35
L33:
  %i33 = phi i64 [ 0, %L32 ], [ %next33, %L34 ]
  %r296 = getelementptr inbounds float, float* %r292, i64 %i33
  %r297 = mul i64 %i33, 1
  %r298 = add i64 %r294, %r297
  %r299 = load float, float* %r296, align 4, !llvm.access.group !13
  %r300 = trunc i64 %r294 to i32
  %r301 = trunc i64 %i33 to i32
  %r302 = add nsw i32 %r300, %r301
  %r303 = add nsw i32 %r302, 0
  %r304 = sext i32 %r303 to i64
  %r305 = call { float, i64 } @map(float %r299, i64 %r304)
  %r306 = extractvalue { float, i64 } %r305, 0
  %r307 = extractvalue { float, i64 } %r305, 1
  %r308 = getelementptr inbounds float, float* %r68, i64 %i33
  %r309 = load float, float* %r308, align 4, !llvm.access.group !13
  %r310 = getelementptr inbounds i32, i32* %r70, i64 %i33
  %r311 = load i32, i32* %r310, align 4, !llvm.access.group !13
  %r312 = sext i32 %r311 to i64
  %r313 = select i1 %r89, float %r306, float %r309
  %r314 = trunc i64 %r312 to i32
  %r315 = trunc i64 %r307 to i32
  %r316 = select i1 %r89, i32 %r315, i32 %r314
  %r317 = sext i32 %r316 to i64
  %r318 = call { float, i64 } @combine(float %r313, i64 %r317, float %r306, i64 %r307)
  %r319 = extractvalue { float, i64 } %r318, 0
  %r320 = extractvalue { float, i64 } %r318, 1
  %r321 = select i1 %r89, float %r306, float %r319
  %r322 = trunc i64 %r320 to i32
  %r323 = trunc i64 %r307 to i32
  %r324 = select i1 %r89, i32 %r323, i32 %r322
  %r325 = sext i32 %r324 to i64
  %r326 = getelementptr inbounds float, float* %r68, i64 %i33
  store float %r321, float* %r326, align 4, !llvm.access.group !13
  %r327 = getelementptr inbounds i32, i32* %r70, i64 %i33
  %r328 = trunc i64 %r325 to i32
  store i32 %r328, i32* %r327, align 4, !llvm.access.group !13
  br label %L34
L34:
  %next33 = add nuw nsw i64 %i33, 1
  %r329 = icmp slt i64 %next33, %r87
  br i1 %r329, label %L33, label %L35, !llvm.loop !16
L35:
  %r330 = select i1 %r88, i64 16, i64 %r87
  store i64 %r330, i64* %r75
  br label %L36
L36:
  %r331 = load i64, i64* %r75
  %r332 = icmp sgt i64 %r331, 1
  br i1 %r332, label %L37, label %L38
L37:
  %r333 = lshr i64 %r331, 1
  %r334 = sub i64 %r331, %r333
  %r335 = getelementptr inbounds float, float* %r68, i64 %r334
  %r336 = getelementptr inbounds i32, i32* %r70, i64 %r334
  call void @join(float* %r68, i32* %r70, float* %r335, i32* %r336, i64 %r333)
  store i64 %r334, i64* %r75
  br label %L36
L38:
  br label %L15
L14:
  store i64 0, i64* %r71
  store i64 0, i64* %r73
  store i64 0, i64* %r72
  %r355 = urem i64 %r84, 64
  %r356 = udiv i64 %r84, 64
  %r357 = icmp sgt i64 %r355, 0
  %r358 = zext i1 %r357 to i64
  %r359 = add i64 %r356, %r358
  store i64 0, i64* %r74
  br label %L43
L43:
  %r360 = load i64, i64* %r74
  %r361 = icmp slt i64 %r360, %r359
  br i1 %r361, label %L44, label %L45
L44:
  %r362 = load i64, i64* %r72
  %r363 = icmp sge i64 %r362, 16
  %r364 = load i64, i64* %r74
  %r365 = icmp slt i64 %r364, %r356
  %r366 = and i1 %r363, %r365
  br i1 %r366, label %L48, label %L49
L48:
  %r367 = load i64, i64* %r73
  br label %L53
L53:
  br label %L50
L50:
  %ones50 = phi i64 [ %r367, %L53 ], [ %left50, %L51 ]
  %r368 = load i64, i64* %r71
  %r369 = trunc i64 %ones50 to i1
  %r370 = icmp sgt i64 %r368, 0
  %r371 = icmp eq i64 %r368, 15
  %r372 = and i1 %r369, %r370
  %r373 = or i1 %r372, %r371
  br i1 %r373, label %L54, label %L52
L54:
  %r374 = load i64, i64* %r71
  %r375 = sub i64 %r374, 1
  %r376 = mul i64 %r375, 64
  %r377 = getelementptr inbounds float, float* %r68, i64 %r376
  %r378 = getelementptr inbounds i32, i32* %r70, i64 %r376
  %r379 = mul i64 %r374, 64
  %r380 = getelementptr inbounds float, float* %r68, i64 %r379
  %r381 = getelementptr inbounds i32, i32* %r70, i64 %r379
  call void @join(float* %r377, i32* %r378, float* %r380, i32* %r381, i64 64)
  store i64 %r375, i64* %r71
  br label %L51
L51:
  %left50 = lshr i64 %ones50, 1
  br label %L50
L52:
  %r382 = add i64 %r367, 1
  store i64 %r382, i64* %r73
  %r383 = load i64, i64* %r71
  %r384 = add i64 %r383, 1
  store i64 %r384, i64* %r71
  store i64 0, i64* %r72
  br label %L49
L49:
  %r385 = load i64, i64* %r74
  %r386 = sub i64 %r356, %r385
  %r387 = load i64, i64* %r72
  %r388 = sub i64 16, %r387
  %r389 = sdiv i64 %r386, 8
  %r390 = icmp slt i64 %r389, %r388
  %r391 = select i1 %r390, i64 %r389, i64 %r388
  %r392 = icmp sgt i64 %r391, 0
  br i1 %r392, label %L46, label %L47
L46:
  %r393 = load i64, i64* %r71
  %r394 = mul i64 %r393, 64
  %r395 = getelementptr inbounds float, float* %r68, i64 %r394
  %r396 = getelementptr inbounds i32, i32* %r70, i64 %r394
  %r397 = load i64, i64* %r72
  %r398 = load i64, i64* %r74
  %r399 = mul i64 %r391, 8
  %r400 = add i64 %r398, %r399
  br label %L55
L55:
  %r401 = icmp slt i64 %r398, %r400
  br i1 %r401, label %L56, label %L58
L56:
  %i56 = phi i64 [ %r398, %L55 ], [ %next56, %L57 ]
  %r402 = mul i64 %i56, 64
  %r403 = getelementptr inbounds float, float* %r81, i64 %r402
  %r404 = mul i64 %i56, 64
  %r405 = add i64 %r83, %r404
  %r406 = icmp eq i64 %r397, 0
  %r407 = icmp eq i64 %i56, %r398
  %r408 = and i1 %r406, %r407
  br label %L59
L59:
  %r409 = icmp slt i64 0, 64
  br i1 %r409, label %L60, label %L62
L60:
  %i60 = phi i64 [ 0, %L59 ], [ %next60, %L61 ]
  %r410 = getelementptr inbounds float, float* %r403, i64 %i60
  %r411 = mul i64 %i60, 1
  %r412 = add i64 %r405, %r411
  %r413 = load float, float* %r410, align 4, !llvm.access.group !21
  %r414 = trunc i64 %r405 to i32
  %r415 = trunc i64 %i60 to i32
  %r416 = add nsw i32 %r414, %r415
  %r417 = add nsw i32 %r416, 0
  %r418 = sext i32 %r417 to i64
  %r419 = call { float, i64 } @map(float %r413, i64 %r418)
  %r420 = extractvalue { float, i64 } %r419, 0
  %r421 = extractvalue { float, i64 } %r419, 1
  %r422 = getelementptr inbounds float, float* %r403, i64 %i60
  %r423 = mul i64 %i60, 1
  %r424 = add i64 %r405, %r423
  %r425 = getelementptr inbounds float, float* %r422, i64 64
  %r426 = load float, float* %r425, align 4, !llvm.access.group !21
  %r427 = trunc i64 %r405 to i32
  %r428 = trunc i64 %i60 to i32
  %r429 = add nsw i32 %r427, %r428
  %r430 = add nsw i32 %r429, 64
  %r431 = sext i32 %r430 to i64
  %r432 = call { float, i64 } @map(float %r426, i64 %r431)
  %r433 = extractvalue { float, i64 } %r432, 0
  %r434 = extractvalue { float, i64 } %r432, 1
  %r435 = getelementptr inbounds float, float* %r403, i64 %i60
  %r436 = mul i64 %i60, 1
  %r437 = add i64 %r405, %r436
  %r438 = getelementptr inbounds float, float* %r435, i64 128
  %r439 = load float, float* %r438, align 4, !llvm.access.group !21
  %r440 = trunc i64 %r405 to i32
  %r441 = trunc i64 %i60 to i32
  %r442 = add nsw i32 %r440, %r441
  %r443 = add nsw i32 %r442, 128
  %r444 = sext i32 %r443 to i64
  %r445 = call { float, i64 } @map(float %r439, i64 %r444)
  %r446 = extractvalue { float, i64 } %r445, 0
  %r447 = extractvalue { float, i64 } %r445, 1
  %r448 = getelementptr inbounds float, float* %r403, i64 %i60
  %r449 = mul i64 %i60, 1
  %r450 = add i64 %r405, %r449
  %r451 = getelementptr inbounds float, float* %r448, i64 192
  %r452 = load float, float* %r451, align 4, !llvm.access.group !21
  %r453 = trunc i64 %r405 to i32
  %r454 = trunc i64 %i60 to i32
  %r455 = add nsw i32 %r453, %r454
  %r456 = add nsw i32 %r455, 192
  %r457 = sext i32 %r456 to i64
  %r458 = call { float, i64 } @map(float %r452, i64 %r457)
  %r459 = extractvalue { float, i64 } %r458, 0
  %r460 = extractvalue { float, i64 } %r458, 1
  %r461 = getelementptr inbounds float, float* %r403, i64 %i60
  %r462 = mul i64 %i60, 1
  %r463 = add i64 %r405, %r462
  %r464 = getelementptr inbounds float, float* %r461, i64 256
  %r465 = load float, float* %r464, align 4, !llvm.access.group !21
  %r466 = trunc i64 %r405 to i32
  %r467 = trunc i64 %i60 to i32
  %r468 = add nsw i32 %r466, %r467
  %r469 = add nsw i32 %r468, 256
  %r470 = sext i32 %r469 to i64
  %r471 = call { float, i64 } @map(float %r465, i64 %r470)
  %r472 = extractvalue { float, i64 } %r471, 0
  %r473 = extractvalue { float, i64 } %r471, 1
  %r474 = getelementptr inbounds float, float* %r403, i64 %i60
  %r475 = mul i64 %i60, 1
  %r476 = add i64 %r405, %r475
  %r477 = getelementptr inbounds float, float* %r474, i64 320
  %r478 = load float, float* %r477, align 4, !llvm.access.group !21
  %r479 = trunc i64 %r405 to i32
  %r480 = trunc i64 %i60 to i32
  %r481 = add nsw i32 %r479, %r480
  %r482 = add nsw i32 %r481, 320
  %r483 = sext i32 %r482 to i64
  %r484 = call { float, i64 } @map(float %r478, i64 %r483)
  %r485 = extractvalue { float, i64 } %r484, 0
  %r486 = extractvalue { float, i64 } %r484, 1
  %r487 = getelementptr inbounds float, float* %r403, i64 %i60
  %r488 = mul i64 %i60, 1
  %r489 = add i64 %r405, %r488
  %r490 = getelementptr inbounds float, float* %r487, i64 384
  %r491 = load float, float* %r490, align 4, !llvm.access.group !21
  %r492 = trunc i64 %r405 to i32
  %r493 = trunc i64 %i60 to i32
  %r494 = add nsw i32 %r492, %r493
  %r495 = add nsw i32 %r494, 384
  %r496 = sext i32 %r495 to i64
  %r497 = call { float, i64 } @map(float %r491, i64 %r496)
  %r498 = extractvalue { float, i64 } %r497, 0
  %r499 = extractvalue { float, i64 } %r497, 1
  %r500 = getelementptr inbounds float, float* %r403, i64 %i60
  %r501 = mul i64 %i60, 1
  %r502 = add i64 %r405, %r501
  %r503 = getelementptr inbounds float, float* %r500, i64 448
  %r504 = load float, float* %r503, align 4, !llvm.access.group !21
  %r505 = trunc i64 %r405 to i32
  %r506 = trunc i64 %i60 to i32
  %r507 = add nsw i32 %r505, %r506
  %r508 = add nsw i32 %r507, 448
  %r509 = sext i32 %r508 to i64
  %r510 = call { float, i64 } @map(float %r504, i64 %r509)
  %r511 = extractvalue { float, i64 } %r510, 0
  %r512 = extractvalue { float, i64 } %r510, 1
  %r513 = call { float, i64 } @combine(float %r420, i64 %r421, float %r433, i64 %r434)
  %r514 = extractvalue { float, i64 } %r513, 0
  %r515 = extractvalue { float, i64 } %r513, 1
  %r516 = call { float, i64 } @combine(float %r446, i64 %r447, float %r459, i64 %r460)
  %r517 = extractvalue { float, i64 } %r516, 0
  %r518 = extractvalue { float, i64 } %r516, 1
  %r519 = call { float, i64 } @combine(float %r472, i64 %r473, float %r485, i64 %r486)
  %r520 = extractvalue { float, i64 } %r519, 0
  %r521 = extractvalue { float, i64 } %r519, 1
  %r522 = call { float, i64 } @combine(float %r498, i64 %r499, float %r511, i64 %r512)
  %r523 = extractvalue { float, i64 } %r522, 0
  %r524 = extractvalue { float, i64 } %r522, 1
  %r525 = call { float, i64 } @combine(float %r514, i64 %r515, float %r517, i64 %r518)
  %r526 = extractvalue { float, i64 } %r525, 0
  %r527 = extractvalue { float, i64 } %r525, 1
  %r528 = call { float, i64 } @combine(float %r520, i64 %r521, float %r523, i64 %r524)
  %r529 = extractvalue { float, i64 } %r528, 0
  %r530 = extractvalue { float, i64 } %r528, 1
  %r531 = call { float, i64 } @combine(float %r526, i64 %r527, float %r529, i64 %r530)
  %r532 = extractvalue { float, i64 } %r531, 0
  %r533 = extractvalue { float, i64 } %r531, 1
  %r534 = getelementptr inbounds float, float* %r395, i64 %i60
  %r535 = load float, float* %r534, align 4, !llvm.access.group !21
  %r536 = getelementptr inbounds i32, i32* %r396, i64 %i60
  %r537 = load i32, i32* %r536, align 4, !llvm.access.group !21
  %r538 = sext i32 %r537 to i64
  %r539 = select i1 %r408, float %r532, float %r535
  %r540 = trunc i64 %r538 to i32
  %r541 = trunc i64 %r533 to i32
  %r542 = select i1 %r408, i32 %r541, i32 %r540
  %r543 = sext i32 %r542 to i64
  %r544 = call { float, i64 } @combine(float %r539, i64 %r543, float %r532, i64 %r533)
  %r545 = extractvalue { float, i64 } %r544, 0
  %r546 = extractvalue { float, i64 } %r544, 1
  %r547 = select i1 %r408, float %r532, float %r545
  %r548 = trunc i64 %r546 to i32
  %r549 = trunc i64 %r533 to i32
  %r550 = select i1 %r408, i32 %r549, i32 %r548
  %r551 = sext i32 %r550 to i64
  %r552 = getelementptr inbounds float, float* %r395, i64 %i60
  store float %r547, float* %r552, align 4, !llvm.access.group !21
  %r553 = getelementptr inbounds i32, i32* %r396, i64 %i60
  %r554 = trunc i64 %r551 to i32
  store i32 %r554, i32* %r553, align 4, !llvm.access.group !21
  br label %L61
L61:
  %next60 = add nuw nsw i64 %i60, 1
  %r555 = icmp slt i64 %next60, 64
  br i1 %r555, label %L60, label %L62, !llvm.loop !24
L62:
  br label %L57
L57:
  %next56 = add nuw nsw i64 %i56, 8
  %r556 = icmp slt i64 %next56, %r400
  br i1 %r556, label %L56, label %L58, !llvm.loop !26
L58:
  %r557 = load i64, i64* %r72
  %r558 = add i64 %r557, %r391
  store i64 %r558, i64* %r72
  store i64 %r400, i64* %r74
  br label %L43
L47:
  %r559 = load i64, i64* %r71
  %r560 = mul i64 %r559, 64
  %r561 = getelementptr inbounds float, float* %r68, i64 %r560
  %r562 = getelementptr inbounds i32, i32* %r70, i64 %r560
  %r563 = load i64, i64* %r74
  %r564 = icmp slt i64 %r563, %r356
  %r565 = mul i64 %r563, 64
  %r566 = getelementptr inbounds float, float* %r81, i64 %r565
  %r567 = mul i64 %r563, 64
  %r568 = add i64 %r83, %r567
  %r569 = load i64, i64* %r72
  %r570 = icmp eq i64 %r569, 0
  %r571 = select i1 %r564, i64 64, i64 %r355
  br label %L63
L63:
  %r572 = icmp slt i64 0, %r571
  br i1 %r572, label %L64, label %L66
L64:
  %i64 = phi i64 [ 0, %L63 ], [ %next64, %L65 ]
  %r573 = getelementptr inbounds float, float* %r566, i64 %i64
  %r574 = mul i64 %i64, 1
  %r575 = add i64 %r568, %r574
  %r576 = load float, float* %r573, align 4, !llvm.access.group !27
  %r577 = trunc i64 %r568 to i32
  %r578 = trunc i64 %i64 to i32
  %r579 = add nsw i32 %r577, %r578
  %r580 = add nsw i32 %r579, 0
  %r581 = sext i32 %r580 to i64
  %r582 = call { float, i64 } @map(float %r576, i64 %r581)
  %r583 = extractvalue { float, i64 } %r582, 0
  %r584 = extractvalue { float, i64 } %r582, 1
  %r585 = getelementptr inbounds float, float* %r561, i64 %i64
  %r586 = load float, float* %r585, align 4, !llvm.access.group !27
  %r587 = getelementptr inbounds i32, i32* %r562, i64 %i64
  %r588 = load i32, i32* %r587, align 4, !llvm.access.group !27
  %r589 = sext i32 %r588 to i64
  %r590 = select i1 %r570, float %r583, float %r586
  %r591 = trunc i64 %r589 to i32
  %r592 = trunc i64 %r584 to i32
  %r593 = select i1 %r570, i32 %r592, i32 %r591
  %r594 = sext i32 %r593 to i64
  %r595 = call { float, i64 } @combine(float %r590, i64 %r594, float %r583, i64 %r584)
  %r596 = extractvalue { float, i64 } %r595, 0
  %r597 = extractvalue { float, i64 } %r595, 1
  %r598 = select i1 %r570, float %r583, float %r596
  %r599 = trunc i64 %r597 to i32
  %r600 = trunc i64 %r584 to i32
  %r601 = select i1 %r570, i32 %r600, i32 %r599
  %r602 = sext i32 %r601 to i64
  %r603 = getelementptr inbounds float, float* %r561, i64 %i64
  store float %r598, float* %r603, align 4, !llvm.access.group !27
  %r604 = getelementptr inbounds i32, i32* %r562, i64 %i64
  %r605 = trunc i64 %r602 to i32
  store i32 %r605, i32* %r604, align 4, !llvm.access.group !27
  br label %L65
L65:
  %next64 = add nuw nsw i64 %i64, 1
  %r606 = icmp slt i64 %next64, %r571
  br i1 %r606, label %L64, label %L66, !llvm.loop !30
L66:
  %r607 = load i64, i64* %r72
  %r608 = add i64 %r607, 1
  store i64 %r608, i64* %r72
  %r609 = load i64, i64* %r74
  %r610 = add i64 %r609, 1
  store i64 %r610, i64* %r74
  br label %L43
L45:
  br label %L67
L67:
  %r611 = load i64, i64* %r71
  %r612 = icmp sgt i64 %r611, 0
  br i1 %r612, label %L68, label %L69
L68:
  %r613 = load i64, i64* %r71
  %r614 = sub i64 %r613, 1
  %r615 = mul i64 %r614, 64
  %r616 = getelementptr inbounds float, float* %r68, i64 %r615
  %r617 = getelementptr inbounds i32, i32* %r70, i64 %r615
  %r618 = mul i64 %r613, 64
  %r619 = getelementptr inbounds float, float* %r68, i64 %r618
  %r620 = getelementptr inbounds i32, i32* %r70, i64 %r618
  call void @join(float* %r616, i32* %r617, float* %r619, i32* %r620, i64 64)
  store i64 %r614, i64* %r71
  br label %L67
L69:
  store i64 64, i64* %r75
  br label %L70
L70:
  %r621 = load i64, i64* %r75
  %r622 = icmp sgt i64 %r621, 1
  br i1 %r622, label %L71, label %L72
L71:
  %r623 = lshr i64 %r621, 1
  %r624 = sub i64 %r621, %r623
  %r625 = getelementptr inbounds float, float* %r68, i64 %r624
  %r626 = getelementptr inbounds i32, i32* %r70, i64 %r624
  call void @join(float* %r68, i32* %r70, float* %r625, i32* %r626, i64 %r623)
  store i64 %r624, i64* %r75
  br label %L70
L72:
  br label %L15
L15:
  %r627 = load float, float* %r68, align 4
  %r628 = load i32, i32* %r70, align 4
  %r629 = sext i32 %r628 to i64
  %r630 = mul i64 %i10, %r52
  %r631 = getelementptr inbounds float, float* %r41, i64 %r630
  store float %r627, float* %r631, align 4
  %r632 = mul i64 %i10, %r54
  %r633 = getelementptr inbounds i64, i64* %r44, i64 %r632
  store i64 %r629, i64* %r633, align 8
  br label %L11
L11:
  %next10 = add nuw nsw i64 %i10, 1
  %r634 = icmp slt i64 %next10, %r48
  br i1 %r634, label %L10, label %L12, !llvm.loop !32
L12:
  ret void
}
define internal void @join(float* %a0, i32* %a1, float* %b0, i32* %b1, i64 %width) nounwind noinline "prefer-vector-width"="512" {
  br label %L39
L39:
  %r337 = icmp slt i64 0, %width
  br i1 %r337, label %L40, label %L42
L40:
  %i40 = phi i64 [ 0, %L39 ], [ %next40, %L41 ]
  %r338 = getelementptr inbounds float, float* %a0, i64 %i40
  %r339 = load float, float* %r338, align 4, !llvm.access.group !17
  %r340 = getelementptr inbounds i32, i32* %a1, i64 %i40
  %r341 = load i32, i32* %r340, align 4, !llvm.access.group !17
  %r342 = sext i32 %r341 to i64
  %r343 = getelementptr inbounds float, float* %b0, i64 %i40
  %r344 = load float, float* %r343, align 4, !llvm.access.group !17
  %r345 = getelementptr inbounds i32, i32* %b1, i64 %i40
  %r346 = load i32, i32* %r345, align 4, !llvm.access.group !17
  %r347 = sext i32 %r346 to i64
  %r348 = call { float, i64 } @combine(float %r339, i64 %r342, float %r344, i64 %r347)
  %r349 = extractvalue { float, i64 } %r348, 0
  %r350 = extractvalue { float, i64 } %r348, 1
  %r351 = getelementptr inbounds float, float* %a0, i64 %i40
  store float %r349, float* %r351, align 4, !llvm.access.group !17
  %r352 = getelementptr inbounds i32, i32* %a1, i64 %i40
  %r353 = trunc i64 %r350 to i32
  store i32 %r353, i32* %r352, align 4, !llvm.access.group !17
  br label %L41
L41:
  %next40 = add nuw nsw i64 %i40, 1
  %r354 = icmp slt i64 %next40, %width
  br i1 %r354, label %L40, label %L42, !llvm.loop !20
L42:
  ret void
}


!1 = distinct !{}
!2 = !{!"llvm.loop.parallel_accesses", !1}
!3 = !{!"llvm.loop.unroll.disable"}
!4 = distinct !{!4, !2, !3}
!5 = !{!"llvm.loop.unroll.disable"}
!6 = distinct !{!6, !5}
!7 = distinct !{}
!8 = !{!"llvm.loop.parallel_accesses", !7}
!9 = !{!"llvm.loop.unroll.disable"}
!10 = distinct !{!10, !8, !9}
!11 = !{!"llvm.loop.unroll.disable"}
!12 = distinct !{!12, !11}
!13 = distinct !{}
!14 = !{!"llvm.loop.parallel_accesses", !13}
!15 = !{!"llvm.loop.unroll.disable"}
!16 = distinct !{!16, !14, !15}
!17 = distinct !{}
!18 = !{!"llvm.loop.parallel_accesses", !17}
!19 = !{!"llvm.loop.unroll.disable"}
!20 = distinct !{!20, !18, !19}
!21 = distinct !{}
!22 = !{!"llvm.loop.parallel_accesses", !21}
!23 = !{!"llvm.loop.unroll.disable"}
!24 = distinct !{!24, !22, !23}
!25 = !{!"llvm.loop.unroll.disable"}
!26 = distinct !{!26, !25}
!27 = distinct !{}
!28 = !{!"llvm.loop.parallel_accesses", !27}
!29 = !{!"llvm.loop.unroll.disable"}
!30 = distinct !{!30, !28, !29}
!31 = !{!"llvm.loop.unroll.disable"}
!32 = distinct !{!32, !31}
