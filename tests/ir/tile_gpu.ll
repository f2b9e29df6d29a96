; f
target datalayout = "e-p:64:64:64-i1:8:8-i8:8:8-i16:16:16-i32:32:32-i64:64:64-i128:128:128-f32:32:32-f64:64:64-v16:16:16-v32:32:32-v64:64:64-v128:128:128-n16:32:64"
target triple = "nvptx64-nvidia-cuda"

define internal { double } @kernel(double %p0, double %p1) nounwind alwaysinline {
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

define void @uf_f_tile_f64(double addrspace(1)* %w0, double addrspace(1)* %w1, double addrspace(1)* %w2, i64 %w3, i64 %w4, i64 %w5, i64 %w6, i64 %w7, i64 %w8, i64 %w9, i64 %w10, i64 %w11, i64 %w12, i64 %w13, i64 %w14, i64 %w15, i64 %w16, i64 %w17) nounwind {
  %r6 = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %r7 = icmp ne i64 %w5, 0
  %r8 = trunc i64 %w6 to i32
  %r9 = trunc i64 %w7 to i32
  %r10 = trunc i64 %w8 to i32
  %r11 = trunc i64 %w9 to i32
  %r12 = trunc i64 %w10 to i32
  %r13 = trunc i64 %w11 to i32
  %r14 = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %r15 = call i32 @llvm.nvvm.mulhi.ui(i32 %r14, i32 %r9)
  %r16 = add i32 %r15, %r14
  %r17 = lshr i32 %r16, %r10
  %r18 = mul i32 %r17, %r8
  %r19 = sub i32 %r14, %r18
  %r20 = zext i32 %r19 to i64
  %r21 = zext i32 %r17 to i64
  %r22 = mul i64 %r20, 32
  %r23 = sub i64 %w3, %r22
  %r24 = icmp slt i64 %r23, 32
  %r25 = select i1 %r24, i64 %r23, i64 32
  %r26 = trunc i64 %r25 to i32
  %r27 = mul i64 %r21, 32
  %r28 = sub i64 %w4, %r27
  %r29 = icmp slt i64 %r28, 32
  %r30 = select i1 %r29, i64 %r28, i64 32
  %r31 = trunc i64 %r30 to i32
  %r32 = icmp eq i32 %r26, 32
  %r33 = icmp eq i32 %r31, 32
  %r34 = and i1 %r32, %r33
  %r35 = and i1 %r7, %r34
  %r36 = mul i64 %r22, %w12
  %r37 = mul i64 %r27, %w13
  %r38 = add i64 %r36, %r37
  %r39 = getelementptr inbounds double, double addrspace(1)* %w0, i64 %r38
  %r40 = mul i64 %r22, %w14
  %r41 = mul i64 %r27, %w15
  %r42 = add i64 %r40, %r41
  %r43 = getelementptr inbounds double, double addrspace(1)* %w1, i64 %r42
  %r44 = mul i64 %r22, %w16
  %r45 = mul i64 %r27, %w17
  %r46 = add i64 %r44, %r45
  %r47 = getelementptr inbounds double, double addrspace(1)* %w2, i64 %r46
  br i1 %r35, label %L3, label %L4
L3:
  %r48 = and i32 %r6, 15
  %r49 = lshr i32 %r6, 4
  %r50 = mul i32 %r48, 2
  %r51 = mul i32 %r49, 2
  %r52 = add i32 %r50, 1
  %r53 = add i32 %r51, 1
  %r54 = lshr i32 %r6, 4
  %r55 = and i32 %r6, 15
  %r56 = mul i32 %r55, 2
  %r57 = add i32 %r6, 256
  %r58 = lshr i32 %r57, 4
  %r59 = and i32 %r57, 15
  %r60 = mul i32 %r59, 2
  %r61 = zext i32 %r54 to i64
  %r62 = mul i64 %r61, %w14
  %r63 = getelementptr inbounds double, double addrspace(1)* %r43, i64 %r62
  %r64 = zext i32 %r56 to i64
  %r65 = getelementptr inbounds double, double addrspace(1)* %r63, i64 %r64
  %r66 = bitcast double addrspace(1)* %r65 to <2 x double> addrspace(1)*
  %r67 = load <2 x double>, <2 x double> addrspace(1)* %r66, align 16
  %r68 = extractelement <2 x double> %r67, i32 0
  %r69 = extractelement <2 x double> %r67, i32 1
  %r70 = zext i32 %r58 to i64
  %r71 = mul i64 %r70, %w14
  %r72 = getelementptr inbounds double, double addrspace(1)* %r43, i64 %r71
  %r73 = zext i32 %r60 to i64
  %r74 = getelementptr inbounds double, double addrspace(1)* %r72, i64 %r73
  %r75 = bitcast double addrspace(1)* %r74 to <2 x double> addrspace(1)*
  %r76 = load <2 x double>, <2 x double> addrspace(1)* %r75, align 16
  %r77 = extractelement <2 x double> %r76, i32 0
  %r78 = extractelement <2 x double> %r76, i32 1
  %r79 = zext i32 %r50 to i64
  %r80 = getelementptr inbounds double, double addrspace(1)* %r39, i64 %r79
  %r81 = zext i32 %r51 to i64
  %r82 = mul i64 %r81, %w13
  %r83 = getelementptr inbounds double, double addrspace(1)* %r80, i64 %r82
  %r84 = bitcast double addrspace(1)* %r83 to <2 x double> addrspace(1)*
  %r85 = load <2 x double>, <2 x double> addrspace(1)* %r84, align 16
  %r86 = extractelement <2 x double> %r85, i32 0
  %r87 = extractelement <2 x double> %r85, i32 1
  %r88 = zext i32 %r50 to i64
  %r89 = getelementptr inbounds double, double addrspace(1)* %r39, i64 %r88
  %r90 = zext i32 %r53 to i64
  %r91 = mul i64 %r90, %w13
  %r92 = getelementptr inbounds double, double addrspace(1)* %r89, i64 %r91
  %r93 = bitcast double addrspace(1)* %r92 to <2 x double> addrspace(1)*
  %r94 = load <2 x double>, <2 x double> addrspace(1)* %r93, align 16
  %r95 = extractelement <2 x double> %r94, i32 0
  %r96 = extractelement <2 x double> %r94, i32 1
  %r97 = lshr i32 %r56, 1
  %r98 = add i32 %r97, 0
  %r99 = mul i32 %r54, 16
  %r100 = add i32 %r99, %r98
  %r101 = lshr i32 %r54, 1
  %r102 = xor i32 %r101, %r54
  %r103 = and i32 %r102, 7
  %r104 = xor i32 %r100, %r103
  %r105 = mul i32 %r104, 16
  %r106 = zext i32 %r105 to i64
  %r107 = add i64 %r106, 0
  %r108 = getelementptr [0 x i8], [0 x i8] addrspace(3)* @shared, i64 0, i64 %r107
  %r109 = bitcast i8 addrspace(3)* %r108 to double addrspace(3)*
  %r110 = bitcast double addrspace(3)* %r109 to <2 x double> addrspace(3)*
  %r111 = insertelement <2 x double> undef, double %r68, i32 0
  %r112 = insertelement <2 x double> %r111, double %r69, i32 1
  store <2 x double> %r112, <2 x double> addrspace(3)* %r110, align 16
  %r113 = lshr i32 %r60, 1
  %r114 = add i32 %r113, 0
  %r115 = mul i32 %r58, 16
  %r116 = add i32 %r115, %r114
  %r117 = lshr i32 %r58, 1
  %r118 = xor i32 %r117, %r58
  %r119 = and i32 %r118, 7
  %r120 = xor i32 %r116, %r119
  %r121 = mul i32 %r120, 16
  %r122 = zext i32 %r121 to i64
  %r123 = add i64 %r122, 0
  %r124 = getelementptr [0 x i8], [0 x i8] addrspace(3)* @shared, i64 0, i64 %r123
  %r125 = bitcast i8 addrspace(3)* %r124 to double addrspace(3)*
  %r126 = bitcast double addrspace(3)* %r125 to <2 x double> addrspace(3)*
  %r127 = insertelement <2 x double> undef, double %r77, i32 0
  %r128 = insertelement <2 x double> %r127, double %r78, i32 1
  store <2 x double> %r128, <2 x double> addrspace(3)* %r126, align 16
  call void @llvm.nvvm.barrier0()
  %r129 = lshr i32 %r51, 1
  %r130 = mul i32 %r50, 16
  %r131 = add i32 %r130, %r129
  %r132 = lshr i32 %r50, 1
  %r133 = xor i32 %r132, %r50
  %r134 = and i32 %r133, 7
  %r135 = xor i32 %r131, %r134
  %r136 = mul i32 %r135, 16
  %r137 = zext i32 %r136 to i64
  %r138 = add i64 %r137, 0
  %r139 = getelementptr [0 x i8], [0 x i8] addrspace(3)* @shared, i64 0, i64 %r138
  %r140 = bitcast i8 addrspace(3)* %r139 to double addrspace(3)*
  %r141 = bitcast double addrspace(3)* %r140 to <2 x double> addrspace(3)*
  %r142 = load <2 x double>, <2 x double> addrspace(3)* %r141, align 16
  %r143 = extractelement <2 x double> %r142, i32 0
  %r144 = extractelement <2 x double> %r142, i32 1
  %r145 = mul i32 %r52, 16
  %r146 = add i32 %r145, %r129
  %r147 = lshr i32 %r52, 1
  %r148 = xor i32 %r147, %r52
  %r149 = and i32 %r148, 7
  %r150 = xor i32 %r146, %r149
  %r151 = mul i32 %r150, 16
  %r152 = zext i32 %r151 to i64
  %r153 = add i64 %r152, 0
  %r154 = getelementptr [0 x i8], [0 x i8] addrspace(3)* @shared, i64 0, i64 %r153
  %r155 = bitcast i8 addrspace(3)* %r154 to double addrspace(3)*
  %r156 = bitcast double addrspace(3)* %r155 to <2 x double> addrspace(3)*
  %r157 = load <2 x double>, <2 x double> addrspace(3)* %r156, align 16
  %r158 = extractelement <2 x double> %r157, i32 0
  %r159 = extractelement <2 x double> %r157, i32 1
  %r160 = call { double } @kernel(double %r86, double %r143)
  %r161 = extractvalue { double } %r160, 0
  %r162 = call { double } @kernel(double %r87, double %r158)
  %r163 = extractvalue { double } %r162, 0
  %r164 = call { double } @kernel(double %r95, double %r144)
  %r165 = extractvalue { double } %r164, 0
  %r166 = call { double } @kernel(double %r96, double %r159)
  %r167 = extractvalue { double } %r166, 0
  %r168 = zext i32 %r50 to i64
  %r169 = getelementptr inbounds double, double addrspace(1)* %r47, i64 %r168
  %r170 = zext i32 %r51 to i64
  %r171 = mul i64 %r170, %w17
  %r172 = getelementptr inbounds double, double addrspace(1)* %r169, i64 %r171
  %r173 = bitcast double addrspace(1)* %r172 to <2 x double> addrspace(1)*
  %r174 = insertelement <2 x double> undef, double %r161, i32 0
  %r175 = insertelement <2 x double> %r174, double %r163, i32 1
  store <2 x double> %r175, <2 x double> addrspace(1)* %r173, align 16
  %r176 = zext i32 %r50 to i64
  %r177 = getelementptr inbounds double, double addrspace(1)* %r47, i64 %r176
  %r178 = zext i32 %r53 to i64
  %r179 = mul i64 %r178, %w17
  %r180 = getelementptr inbounds double, double addrspace(1)* %r177, i64 %r179
  %r181 = bitcast double addrspace(1)* %r180 to <2 x double> addrspace(1)*
  %r182 = insertelement <2 x double> undef, double %r165, i32 0
  %r183 = insertelement <2 x double> %r182, double %r167, i32 1
  store <2 x double> %r183, <2 x double> addrspace(1)* %r181, align 16
  br label %L5
L4:
  %r184 = lshr i32 %r6, 5
  %r185 = and i32 %r6, 31
  %r186 = mul i32 %r185, 1
  %r187 = add i32 %r6, 256
  %r188 = lshr i32 %r187, 5
  %r189 = and i32 %r187, 31
  %r190 = mul i32 %r189, 1
  %r191 = add i32 %r6, 512
  %r192 = lshr i32 %r191, 5
  %r193 = and i32 %r191, 31
  %r194 = mul i32 %r193, 1
  %r195 = add i32 %r6, 768
  %r196 = lshr i32 %r195, 5
  %r197 = and i32 %r195, 31
  %r198 = mul i32 %r197, 1
  %r199 = icmp slt i32 %r186, %r31
  %r200 = select i1 %r199, i32 %r186, i32 0
  %r201 = icmp slt i32 %r184, %r26
  %r202 = select i1 %r201, i32 %r184, i32 0
  %r203 = zext i32 %r202 to i64
  %r204 = mul i64 %r203, %w14
  %r205 = getelementptr inbounds double, double addrspace(1)* %r43, i64 %r204
  %r206 = zext i32 %r200 to i64
  %r207 = getelementptr inbounds double, double addrspace(1)* %r205, i64 %r206
  %r208 = load double, double addrspace(1)* %r207, align 8
  %r209 = icmp slt i32 %r190, %r31
  %r210 = select i1 %r209, i32 %r190, i32 0
  %r211 = icmp slt i32 %r188, %r26
  %r212 = select i1 %r211, i32 %r188, i32 0
  %r213 = zext i32 %r212 to i64
  %r214 = mul i64 %r213, %w14
  %r215 = getelementptr inbounds double, double addrspace(1)* %r43, i64 %r214
  %r216 = zext i32 %r210 to i64
  %r217 = getelementptr inbounds double, double addrspace(1)* %r215, i64 %r216
  %r218 = load double, double addrspace(1)* %r217, align 8
  %r219 = icmp slt i32 %r194, %r31
  %r220 = select i1 %r219, i32 %r194, i32 0
  %r221 = icmp slt i32 %r192, %r26
  %r222 = select i1 %r221, i32 %r192, i32 0
  %r223 = zext i32 %r222 to i64
  %r224 = mul i64 %r223, %w14
  %r225 = getelementptr inbounds double, double addrspace(1)* %r43, i64 %r224
  %r226 = zext i32 %r220 to i64
  %r227 = getelementptr inbounds double, double addrspace(1)* %r225, i64 %r226
  %r228 = load double, double addrspace(1)* %r227, align 8
  %r229 = icmp slt i32 %r198, %r31
  %r230 = select i1 %r229, i32 %r198, i32 0
  %r231 = icmp slt i32 %r196, %r26
  %r232 = select i1 %r231, i32 %r196, i32 0
  %r233 = zext i32 %r232 to i64
  %r234 = mul i64 %r233, %w14
  %r235 = getelementptr inbounds double, double addrspace(1)* %r43, i64 %r234
  %r236 = zext i32 %r230 to i64
  %r237 = getelementptr inbounds double, double addrspace(1)* %r235, i64 %r236
  %r238 = load double, double addrspace(1)* %r237, align 8
  %r239 = lshr i32 %r186, 1
  %r240 = lshr i32 %r186, 1
  %r241 = mul i32 %r184, 16
  %r242 = add i32 %r241, %r240
  %r243 = lshr i32 %r184, 1
  %r244 = xor i32 %r243, %r184
  %r245 = and i32 %r244, 7
  %r246 = xor i32 %r242, %r245
  %r247 = mul i32 %r246, 16
  %r248 = zext i32 %r247 to i64
  %r249 = add i64 %r248, 0
  %r250 = getelementptr [0 x i8], [0 x i8] addrspace(3)* @shared, i64 0, i64 %r249
  %r251 = bitcast i8 addrspace(3)* %r250 to double addrspace(3)*
  %r252 = and i32 %r186, 1
  %r253 = zext i32 %r252 to i64
  %r254 = getelementptr inbounds double, double addrspace(3)* %r251, i64 %r253
  store double %r208, double addrspace(3)* %r254, align 8
  %r255 = lshr i32 %r190, 1
  %r256 = lshr i32 %r190, 1
  %r257 = mul i32 %r188, 16
  %r258 = add i32 %r257, %r256
  %r259 = lshr i32 %r188, 1
  %r260 = xor i32 %r259, %r188
  %r261 = and i32 %r260, 7
  %r262 = xor i32 %r258, %r261
  %r263 = mul i32 %r262, 16
  %r264 = zext i32 %r263 to i64
  %r265 = add i64 %r264, 0
  %r266 = getelementptr [0 x i8], [0 x i8] addrspace(3)* @shared, i64 0, i64 %r265
  %r267 = bitcast i8 addrspace(3)* %r266 to double addrspace(3)*
  %r268 = and i32 %r190, 1
  %r269 = zext i32 %r268 to i64
  %r270 = getelementptr inbounds double, double addrspace(3)* %r267, i64 %r269
  store double %r218, double addrspace(3)* %r270, align 8
  %r271 = lshr i32 %r194, 1
  %r272 = lshr i32 %r194, 1
  %r273 = mul i32 %r192, 16
  %r274 = add i32 %r273, %r272
  %r275 = lshr i32 %r192, 1
  %r276 = xor i32 %r275, %r192
  %r277 = and i32 %r276, 7
  %r278 = xor i32 %r274, %r277
  %r279 = mul i32 %r278, 16
  %r280 = zext i32 %r279 to i64
  %r281 = add i64 %r280, 0
  %r282 = getelementptr [0 x i8], [0 x i8] addrspace(3)* @shared, i64 0, i64 %r281
  %r283 = bitcast i8 addrspace(3)* %r282 to double addrspace(3)*
  %r284 = and i32 %r194, 1
  %r285 = zext i32 %r284 to i64
  %r286 = getelementptr inbounds double, double addrspace(3)* %r283, i64 %r285
  store double %r228, double addrspace(3)* %r286, align 8
  %r287 = lshr i32 %r198, 1
  %r288 = lshr i32 %r198, 1
  %r289 = mul i32 %r196, 16
  %r290 = add i32 %r289, %r288
  %r291 = lshr i32 %r196, 1
  %r292 = xor i32 %r291, %r196
  %r293 = and i32 %r292, 7
  %r294 = xor i32 %r290, %r293
  %r295 = mul i32 %r294, 16
  %r296 = zext i32 %r295 to i64
  %r297 = add i64 %r296, 0
  %r298 = getelementptr [0 x i8], [0 x i8] addrspace(3)* @shared, i64 0, i64 %r297
  %r299 = bitcast i8 addrspace(3)* %r298 to double addrspace(3)*
  %r300 = and i32 %r198, 1
  %r301 = zext i32 %r300 to i64
  %r302 = getelementptr inbounds double, double addrspace(3)* %r299, i64 %r301
  store double %r238, double addrspace(3)* %r302, align 8
  call void @llvm.nvvm.barrier0()
  br label %L6
L6:
  %r303 = icmp slt i32 %r6, 1024
  br i1 %r303, label %L7, label %L9
L7:
  %i7 = phi i32 [ %r6, %L6 ], [ %next7, %L8 ]
  %r304 = and i32 %i7, 31
  %r305 = lshr i32 %i7, 5
  %r306 = icmp slt i32 %r304, %r26
  %r307 = select i1 %r306, i32 %r304, i32 0
  %r308 = icmp slt i32 %r305, %r31
  %r309 = select i1 %r308, i32 %r305, i32 0
  %r310 = zext i32 %r307 to i64
  %r311 = getelementptr inbounds double, double addrspace(1)* %r39, i64 %r310
  %r312 = zext i32 %r309 to i64
  %r313 = mul i64 %r312, %w13
  %r314 = getelementptr inbounds double, double addrspace(1)* %r311, i64 %r313
  %r315 = load double, double addrspace(1)* %r314, align 8
  %r316 = lshr i32 %r309, 1
  %r317 = mul i32 %r307, 16
  %r318 = add i32 %r317, %r316
  %r319 = lshr i32 %r307, 1
  %r320 = xor i32 %r319, %r307
  %r321 = and i32 %r320, 7
  %r322 = xor i32 %r318, %r321
  %r323 = mul i32 %r322, 16
  %r324 = zext i32 %r323 to i64
  %r325 = add i64 %r324, 0
  %r326 = getelementptr [0 x i8], [0 x i8] addrspace(3)* @shared, i64 0, i64 %r325
  %r327 = bitcast i8 addrspace(3)* %r326 to double addrspace(3)*
  %r328 = and i32 %r309, 1
  %r329 = zext i32 %r328 to i64
  %r330 = getelementptr inbounds double, double addrspace(3)* %r327, i64 %r329
  %r331 = load double, double addrspace(3)* %r330, align 8
  %r332 = add i32 %i7, 256
  %r333 = and i32 %r332, 31
  %r334 = lshr i32 %r332, 5
  %r335 = icmp slt i32 %r333, %r26
  %r336 = select i1 %r335, i32 %r333, i32 0
  %r337 = icmp slt i32 %r334, %r31
  %r338 = select i1 %r337, i32 %r334, i32 0
  %r339 = zext i32 %r336 to i64
  %r340 = getelementptr inbounds double, double addrspace(1)* %r39, i64 %r339
  %r341 = zext i32 %r338 to i64
  %r342 = mul i64 %r341, %w13
  %r343 = getelementptr inbounds double, double addrspace(1)* %r340, i64 %r342
  %r344 = load double, double addrspace(1)* %r343, align 8
  %r345 = lshr i32 %r338, 1
  %r346 = mul i32 %r336, 16
  %r347 = add i32 %r346, %r345
  %r348 = lshr i32 %r336, 1
  %r349 = xor i32 %r348, %r336
  %r350 = and i32 %r349, 7
  %r351 = xor i32 %r347, %r350
  %r352 = mul i32 %r351, 16
  %r353 = zext i32 %r352 to i64
  %r354 = add i64 %r353, 0
  %r355 = getelementptr [0 x i8], [0 x i8] addrspace(3)* @shared, i64 0, i64 %r354
  %r356 = bitcast i8 addrspace(3)* %r355 to double addrspace(3)*
  %r357 = and i32 %r338, 1
  %r358 = zext i32 %r357 to i64
  %r359 = getelementptr inbounds double, double addrspace(3)* %r356, i64 %r358
  %r360 = load double, double addrspace(3)* %r359, align 8
  %r361 = add i32 %i7, 512
  %r362 = and i32 %r361, 31
  %r363 = lshr i32 %r361, 5
  %r364 = icmp slt i32 %r362, %r26
  %r365 = select i1 %r364, i32 %r362, i32 0
  %r366 = icmp slt i32 %r363, %r31
  %r367 = select i1 %r366, i32 %r363, i32 0
  %r368 = zext i32 %r365 to i64
  %r369 = getelementptr inbounds double, double addrspace(1)* %r39, i64 %r368
  %r370 = zext i32 %r367 to i64
  %r371 = mul i64 %r370, %w13
  %r372 = getelementptr inbounds double, double addrspace(1)* %r369, i64 %r371
  %r373 = load double, double addrspace(1)* %r372, align 8
  %r374 = lshr i32 %r367, 1
  %r375 = mul i32 %r365, 16
  %r376 = add i32 %r375, %r374
  %r377 = lshr i32 %r365, 1
  %r378 = xor i32 %r377, %r365
  %r379 = and i32 %r378, 7
  %r380 = xor i32 %r376, %r379
  %r381 = mul i32 %r380, 16
  %r382 = zext i32 %r381 to i64
  %r383 = add i64 %r382, 0
  %r384 = getelementptr [0 x i8], [0 x i8] addrspace(3)* @shared, i64 0, i64 %r383
  %r385 = bitcast i8 addrspace(3)* %r384 to double addrspace(3)*
  %r386 = and i32 %r367, 1
  %r387 = zext i32 %r386 to i64
  %r388 = getelementptr inbounds double, double addrspace(3)* %r385, i64 %r387
  %r389 = load double, double addrspace(3)* %r388, align 8
  %r390 = add i32 %i7, 768
  %r391 = and i32 %r390, 31
  %r392 = lshr i32 %r390, 5
  %r393 = icmp slt i32 %r391, %r26
  %r394 = select i1 %r393, i32 %r391, i32 0
  %r395 = icmp slt i32 %r392, %r31
  %r396 = select i1 %r395, i32 %r392, i32 0
  %r397 = zext i32 %r394 to i64
  %r398 = getelementptr inbounds double, double addrspace(1)* %r39, i64 %r397
  %r399 = zext i32 %r396 to i64
  %r400 = mul i64 %r399, %w13
  %r401 = getelementptr inbounds double, double addrspace(1)* %r398, i64 %r400
  %r402 = load double, double addrspace(1)* %r401, align 8
  %r403 = lshr i32 %r396, 1
  %r404 = mul i32 %r394, 16
  %r405 = add i32 %r404, %r403
  %r406 = lshr i32 %r394, 1
  %r407 = xor i32 %r406, %r394
  %r408 = and i32 %r407, 7
  %r409 = xor i32 %r405, %r408
  %r410 = mul i32 %r409, 16
  %r411 = zext i32 %r410 to i64
  %r412 = add i64 %r411, 0
  %r413 = getelementptr [0 x i8], [0 x i8] addrspace(3)* @shared, i64 0, i64 %r412
  %r414 = bitcast i8 addrspace(3)* %r413 to double addrspace(3)*
  %r415 = and i32 %r396, 1
  %r416 = zext i32 %r415 to i64
  %r417 = getelementptr inbounds double, double addrspace(3)* %r414, i64 %r416
  %r418 = load double, double addrspace(3)* %r417, align 8
  %r419 = icmp slt i32 %r305, %r31
  %r420 = icmp slt i32 %r304, %r26
  %r421 = and i1 %r420, %r419
  br i1 %r421, label %L10, label %L11
L10:
  %r422 = call { double } @kernel(double %r315, double %r331)
  %r423 = extractvalue { double } %r422, 0
  %r424 = zext i32 %r304 to i64
  %r425 = getelementptr inbounds double, double addrspace(1)* %r47, i64 %r424
  %r426 = zext i32 %r305 to i64
  %r427 = mul i64 %r426, %w17
  %r428 = getelementptr inbounds double, double addrspace(1)* %r425, i64 %r427
  store double %r423, double addrspace(1)* %r428, align 8
  br label %L11
L11:
  %r429 = icmp slt i32 %r334, %r31
  %r430 = icmp slt i32 %r333, %r26
  %r431 = and i1 %r430, %r429
  br i1 %r431, label %L12, label %L13
L12:
  %r432 = call { double } @kernel(double %r344, double %r360)
  %r433 = extractvalue { double } %r432, 0
  %r434 = zext i32 %r333 to i64
  %r435 = getelementptr inbounds double, double addrspace(1)* %r47, i64 %r434
  %r436 = zext i32 %r334 to i64
  %r437 = mul i64 %r436, %w17
  %r438 = getelementptr inbounds double, double addrspace(1)* %r435, i64 %r437
  store double %r433, double addrspace(1)* %r438, align 8
  br label %L13
L13:
  %r439 = icmp slt i32 %r363, %r31
  %r440 = icmp slt i32 %r362, %r26
  %r441 = and i1 %r440, %r439
  br i1 %r441, label %L14, label %L15
L14:
  %r442 = call { double } @kernel(double %r373, double %r389)
  %r443 = extractvalue { double } %r442, 0
  %r444 = zext i32 %r362 to i64
  %r445 = getelementptr inbounds double, double addrspace(1)* %r47, i64 %r444
  %r446 = zext i32 %r363 to i64
  %r447 = mul i64 %r446, %w17
  %r448 = getelementptr inbounds double, double addrspace(1)* %r445, i64 %r447
  store double %r443, double addrspace(1)* %r448, align 8
  br label %L15
L15:
  %r449 = icmp slt i32 %r392, %r31
  %r450 = icmp slt i32 %r391, %r26
  %r451 = and i1 %r450, %r449
  br i1 %r451, label %L16, label %L17
L16:
  %r452 = call { double } @kernel(double %r402, double %r418)
  %r453 = extractvalue { double } %r452, 0
  %r454 = zext i32 %r391 to i64
  %r455 = getelementptr inbounds double, double addrspace(1)* %r47, i64 %r454
  %r456 = zext i32 %r392 to i64
  %r457 = mul i64 %r456, %w17
  %r458 = getelementptr inbounds double, double addrspace(1)* %r455, i64 %r457
  store double %r453, double addrspace(1)* %r458, align 8
  br label %L17
L17:
  br label %L8
L8:
  %next7 = add i32 %i7, 1024
  %r459 = icmp slt i32 %next7, 1024
  br i1 %r459, label %L7, label %L9, !llvm.loop !3
L9:
  br label %L5
L5:
  ret void
}
declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
declare i32 @llvm.nvvm.mulhi.ui(i32, i32)
@shared = external addrspace(3) global [0 x i8], align 16
declare void @llvm.nvvm.barrier0() convergent nounwind

!nvvm.annotations = !{!1}
!nvvmir.version = !{!4}
!1 = !{void (double addrspace(1)*, double addrspace(1)*, double addrspace(1)*, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64)* @uf_f_tile_f64, !"kernel", i32 1, !"maxntidx", i32 256}
!2 = !{!"llvm.loop.unroll.disable"}
!3 = distinct !{!3, !2}
!4 = !{i32 2, i32 0, i32 3, i32 1}
