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
  %r3 = fadd double %p0, %p1
  store double %r3, double* %v2
  br label %L1
L1:
  %r5 = insertvalue { double } undef, double %r3, 0
  ret { double } %r5
}

define void @uf_f_tile_f64(double addrspace(1)* %w0, double addrspace(1)* %w1, double addrspace(1)* %w2, i64 %w3, i64 %w4, i64 %w5, i64 %w6, i64 %w7, i64 %w8, i64 %w9, i64 %w10, i64 %w11, i64 %w12, i64 %w13, i64 %w14, i64 %w15, i64 %w16, i64 %w17) nounwind {
  %r6 = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %r7 = icmp ne i64 %w5, 0
  %r8 = trunc i64 %w6 to i32
  %r9 = trunc i64 %w7 to i32
  %r10 = trunc i64 %w8 to i32
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
  %r38 = mul i64 %r22, %w12
  %r39 = mul i64 %r27, %w13
  %r40 = add i64 %r38, %r39
  %r41 = getelementptr inbounds double, double addrspace(1)* %w0, i64 %r40
  %r42 = mul i64 %r22, %w14
  %r43 = mul i64 %r27, %w15
  %r44 = add i64 %r42, %r43
  %r45 = getelementptr inbounds double, double addrspace(1)* %w1, i64 %r44
  %r46 = mul i64 %r22, %w16
  %r47 = mul i64 %r27, %w17
  %r48 = add i64 %r46, %r47
  %r49 = getelementptr inbounds double, double addrspace(1)* %w2, i64 %r48
  br i1 %r35, label %L3, label %L4
L3:
  %r50 = and i32 %r6, 15
  %r51 = lshr i32 %r6, 4
  %r52 = mul i32 %r50, 2
  %r53 = mul i32 %r51, 2
  %r54 = add i32 %r52, 1
  %r55 = add i32 %r53, 1
  %r59 = zext i32 %r51 to i64
  %r60 = mul i64 %r59, %w14
  %r61 = getelementptr inbounds double, double addrspace(1)* %r45, i64 %r60
  %r62 = zext i32 %r52 to i64
  %r63 = getelementptr inbounds double, double addrspace(1)* %r61, i64 %r62
  %r64 = bitcast double addrspace(1)* %r63 to <2 x double> addrspace(1)*
  %r65 = load <2 x double>, <2 x double> addrspace(1)* %r64, align 16
  %r66 = extractelement <2 x double> %r65, i32 0
  %r67 = extractelement <2 x double> %r65, i32 1
  %r68 = mul i64 %w14, 16
  %r69 = getelementptr double, double addrspace(1)* %r63, i64 %r68
  %r70 = bitcast double addrspace(1)* %r69 to <2 x double> addrspace(1)*
  %r71 = load <2 x double>, <2 x double> addrspace(1)* %r70, align 16
  %r72 = extractelement <2 x double> %r71, i32 0
  %r73 = extractelement <2 x double> %r71, i32 1
  %r75 = getelementptr inbounds double, double addrspace(1)* %r41, i64 %r62
  %r76 = zext i32 %r53 to i64
  %r77 = mul i64 %r76, %w13
  %r78 = getelementptr inbounds double, double addrspace(1)* %r75, i64 %r77
  %r79 = bitcast double addrspace(1)* %r78 to <2 x double> addrspace(1)*
  %r80 = load <2 x double>, <2 x double> addrspace(1)* %r79, align 16
  %r81 = extractelement <2 x double> %r80, i32 0
  %r82 = extractelement <2 x double> %r80, i32 1
  %r85 = zext i32 %r55 to i64
  %r86 = mul i64 %r85, %w13
  %r87 = getelementptr inbounds double, double addrspace(1)* %r75, i64 %r86
  %r88 = bitcast double addrspace(1)* %r87 to <2 x double> addrspace(1)*
  %r89 = load <2 x double>, <2 x double> addrspace(1)* %r88, align 16
  %r90 = extractelement <2 x double> %r89, i32 0
  %r91 = extractelement <2 x double> %r89, i32 1
  %r92 = lshr i32 %r52, 1
  %r93 = mul i32 %r51, 16
  %r94 = add i32 %r93, %r92
  %r95 = lshr i32 %r51, 1
  %r96 = xor i32 %r95, %r51
  %r97 = and i32 %r96, 7
  %r98 = xor i32 %r94, %r97
  %r99 = mul i32 %r98, 16
  %r100 = and i32 %r52, 1
  %r101 = mul i32 %r100, 8
  %r102 = or i32 %r99, %r101
  %r103 = zext i32 %r102 to i64
  %r105 = getelementptr [0 x i8], [0 x i8] addrspace(3)* @shared, i64 0, i64 %r103
  %r106 = bitcast i8 addrspace(3)* %r105 to double addrspace(3)*
  %r107 = bitcast double addrspace(3)* %r106 to <2 x double> addrspace(3)*
  %r108 = insertelement <2 x double> undef, double %r66, i32 0
  %r109 = insertelement <2 x double> %r108, double %r67, i32 1
  store <2 x double> %r109, <2 x double> addrspace(3)* %r107, align 16
  %r110 = xor i32 %r102, 4096
  %r111 = zext i32 %r110 to i64
  %r113 = getelementptr [0 x i8], [0 x i8] addrspace(3)* @shared, i64 0, i64 %r111
  %r114 = bitcast i8 addrspace(3)* %r113 to double addrspace(3)*
  %r115 = bitcast double addrspace(3)* %r114 to <2 x double> addrspace(3)*
  %r116 = insertelement <2 x double> undef, double %r72, i32 0
  %r117 = insertelement <2 x double> %r116, double %r73, i32 1
  store <2 x double> %r117, <2 x double> addrspace(3)* %r115, align 16
  call void @llvm.nvvm.barrier0()
  %r118 = lshr i32 %r53, 1
  %r119 = mul i32 %r52, 16
  %r120 = add i32 %r119, %r118
  %r122 = xor i32 %r92, %r52
  %r123 = and i32 %r122, 7
  %r124 = xor i32 %r120, %r123
  %r125 = mul i32 %r124, 16
  %r126 = zext i32 %r125 to i64
  %r128 = getelementptr [0 x i8], [0 x i8] addrspace(3)* @shared, i64 0, i64 %r126
  %r129 = bitcast i8 addrspace(3)* %r128 to double addrspace(3)*
  %r130 = bitcast double addrspace(3)* %r129 to <2 x double> addrspace(3)*
  %r131 = load <2 x double>, <2 x double> addrspace(3)* %r130, align 16
  %r132 = extractelement <2 x double> %r131, i32 0
  %r133 = extractelement <2 x double> %r131, i32 1
  %r134 = mul i32 %r54, 16
  %r135 = add i32 %r134, %r118
  %r136 = lshr i32 %r54, 1
  %r137 = xor i32 %r136, %r54
  %r138 = and i32 %r137, 7
  %r139 = xor i32 %r135, %r138
  %r140 = mul i32 %r139, 16
  %r141 = zext i32 %r140 to i64
  %r143 = getelementptr [0 x i8], [0 x i8] addrspace(3)* @shared, i64 0, i64 %r141
  %r144 = bitcast i8 addrspace(3)* %r143 to double addrspace(3)*
  %r145 = bitcast double addrspace(3)* %r144 to <2 x double> addrspace(3)*
  %r146 = load <2 x double>, <2 x double> addrspace(3)* %r145, align 16
  %r147 = extractelement <2 x double> %r146, i32 0
  %r148 = extractelement <2 x double> %r146, i32 1
  %r149 = call { double } @kernel(double %r81, double %r132)
  %r150 = extractvalue { double } %r149, 0
  %r151 = call { double } @kernel(double %r82, double %r147)
  %r152 = extractvalue { double } %r151, 0
  %r153 = call { double } @kernel(double %r90, double %r133)
  %r154 = extractvalue { double } %r153, 0
  %r155 = call { double } @kernel(double %r91, double %r148)
  %r156 = extractvalue { double } %r155, 0
  %r158 = getelementptr inbounds double, double addrspace(1)* %r49, i64 %r62
  %r160 = mul i64 %r76, %w17
  %r161 = getelementptr inbounds double, double addrspace(1)* %r158, i64 %r160
  %r162 = bitcast double addrspace(1)* %r161 to <2 x double> addrspace(1)*
  %r163 = insertelement <2 x double> undef, double %r150, i32 0
  %r164 = insertelement <2 x double> %r163, double %r152, i32 1
  store <2 x double> %r164, <2 x double> addrspace(1)* %r162, align 16
  %r168 = mul i64 %r85, %w17
  %r169 = getelementptr inbounds double, double addrspace(1)* %r158, i64 %r168
  %r170 = bitcast double addrspace(1)* %r169 to <2 x double> addrspace(1)*
  %r171 = insertelement <2 x double> undef, double %r154, i32 0
  %r172 = insertelement <2 x double> %r171, double %r156, i32 1
  store <2 x double> %r172, <2 x double> addrspace(1)* %r170, align 16
  br label %L5
L4:
  %r173 = and i32 %r6, 31
  %r174 = lshr i32 %r6, 5
  %r175 = zext i32 %r174 to i64
  %r176 = mul i64 %r175, %w14
  %r177 = getelementptr inbounds double, double addrspace(1)* %r45, i64 %r176
  %r178 = zext i32 %r173 to i64
  %r179 = getelementptr inbounds double, double addrspace(1)* %r177, i64 %r178
  %r180 = icmp slt i32 %r173, %r31
  %r181 = icmp slt i32 %r174, %r26
  %r182 = and i1 %r181, %r180
  %r183 = select i1 %r182, double addrspace(1)* %r179, double addrspace(1)* %r45
  %r184 = load double, double addrspace(1)* %r183, align 8
  %r185 = mul i64 %w14, 8
  %r186 = getelementptr double, double addrspace(1)* %r179, i64 %r185
  %r188 = sub i32 %r26, 8
  %r189 = icmp slt i32 %r174, %r188
  %r190 = and i1 %r189, %r180
  %r191 = select i1 %r190, double addrspace(1)* %r186, double addrspace(1)* %r45
  %r192 = load double, double addrspace(1)* %r191, align 8
  %r194 = getelementptr double, double addrspace(1)* %r186, i64 %r185
  %r196 = sub i32 %r26, 16
  %r197 = icmp slt i32 %r174, %r196
  %r198 = and i1 %r197, %r180
  %r199 = select i1 %r198, double addrspace(1)* %r194, double addrspace(1)* %r45
  %r200 = load double, double addrspace(1)* %r199, align 8
  %r202 = getelementptr double, double addrspace(1)* %r194, i64 %r185
  %r204 = sub i32 %r26, 24
  %r205 = icmp slt i32 %r174, %r204
  %r206 = and i1 %r205, %r180
  %r207 = select i1 %r206, double addrspace(1)* %r202, double addrspace(1)* %r45
  %r208 = load double, double addrspace(1)* %r207, align 8
  %r209 = lshr i32 %r173, 1
  %r210 = mul i32 %r174, 16
  %r211 = add i32 %r210, %r209
  %r212 = lshr i32 %r174, 1
  %r213 = xor i32 %r212, %r174
  %r214 = and i32 %r213, 7
  %r215 = xor i32 %r211, %r214
  %r216 = mul i32 %r215, 16
  %r217 = and i32 %r173, 1
  %r218 = mul i32 %r217, 8
  %r219 = or i32 %r216, %r218
  %r220 = zext i32 %r219 to i64
  %r222 = getelementptr [0 x i8], [0 x i8] addrspace(3)* @shared, i64 0, i64 %r220
  %r223 = bitcast i8 addrspace(3)* %r222 to double addrspace(3)*
  store double %r184, double addrspace(3)* %r223, align 8
  %r224 = xor i32 %r219, 2112
  %r225 = zext i32 %r224 to i64
  %r227 = getelementptr [0 x i8], [0 x i8] addrspace(3)* @shared, i64 0, i64 %r225
  %r228 = bitcast i8 addrspace(3)* %r227 to double addrspace(3)*
  store double %r192, double addrspace(3)* %r228, align 8
  %r229 = xor i32 %r219, 4096
  %r230 = zext i32 %r229 to i64
  %r232 = getelementptr [0 x i8], [0 x i8] addrspace(3)* @shared, i64 0, i64 %r230
  %r233 = bitcast i8 addrspace(3)* %r232 to double addrspace(3)*
  store double %r200, double addrspace(3)* %r233, align 8
  %r234 = xor i32 %r219, 6208
  %r235 = zext i32 %r234 to i64
  %r237 = getelementptr [0 x i8], [0 x i8] addrspace(3)* @shared, i64 0, i64 %r235
  %r238 = bitcast i8 addrspace(3)* %r237 to double addrspace(3)*
  store double %r208, double addrspace(3)* %r238, align 8
  call void @llvm.nvvm.barrier0()
  br label %L6
L6:
  %r239 = icmp slt i32 %r6, 1024
  br i1 %r239, label %L7, label %L9
L7:
  %i7 = phi i32 [ %r6, %L6 ], [ %next7, %L8 ]
  %r240 = and i32 %i7, 31
  %r241 = lshr i32 %i7, 5
  %r242 = zext i32 %r240 to i64
  %r243 = getelementptr inbounds double, double addrspace(1)* %r41, i64 %r242
  %r244 = zext i32 %r241 to i64
  %r245 = mul i64 %r244, %w13
  %r246 = getelementptr inbounds double, double addrspace(1)* %r243, i64 %r245
  %r247 = lshr i32 %r241, 1
  %r248 = mul i32 %r240, 16
  %r249 = add i32 %r248, %r247
  %r250 = lshr i32 %r240, 1
  %r251 = xor i32 %r250, %r240
  %r252 = and i32 %r251, 7
  %r253 = xor i32 %r249, %r252
  %r254 = mul i32 %r253, 16
  %r255 = and i32 %r241, 1
  %r256 = mul i32 %r255, 8
  %r257 = or i32 %r254, %r256
  %r259 = getelementptr inbounds double, double addrspace(1)* %r49, i64 %r242
  %r261 = mul i64 %r244, %w17
  %r262 = getelementptr inbounds double, double addrspace(1)* %r259, i64 %r261
  %r263 = icmp slt i32 %r241, %r31
  %r264 = icmp slt i32 %r240, %r26
  %r265 = and i1 %r264, %r263
  %r266 = select i1 %r265, double addrspace(1)* %r246, double addrspace(1)* %r41
  %r267 = load double, double addrspace(1)* %r266, align 8
  %r268 = zext i32 %r257 to i64
  %r270 = getelementptr [0 x i8], [0 x i8] addrspace(3)* @shared, i64 0, i64 %r268
  %r271 = bitcast i8 addrspace(3)* %r270 to double addrspace(3)*
  %r272 = load double, double addrspace(3)* %r271, align 8
  %r273 = sub i32 %r31, 8
  %r274 = icmp slt i32 %r241, %r273
  %r276 = and i1 %r264, %r274
  %r277 = mul i64 %w13, 8
  %r278 = getelementptr double, double addrspace(1)* %r246, i64 %r277
  %r279 = select i1 %r276, double addrspace(1)* %r278, double addrspace(1)* %r41
  %r280 = load double, double addrspace(1)* %r279, align 8
  %r281 = xor i32 %r257, 64
  %r282 = zext i32 %r281 to i64
  %r284 = getelementptr [0 x i8], [0 x i8] addrspace(3)* @shared, i64 0, i64 %r282
  %r285 = bitcast i8 addrspace(3)* %r284 to double addrspace(3)*
  %r286 = load double, double addrspace(3)* %r285, align 8
  %r287 = sub i32 %r31, 16
  %r288 = icmp slt i32 %r241, %r287
  %r290 = and i1 %r264, %r288
  %r292 = getelementptr double, double addrspace(1)* %r278, i64 %r277
  %r293 = select i1 %r290, double addrspace(1)* %r292, double addrspace(1)* %r41
  %r294 = load double, double addrspace(1)* %r293, align 8
  %r295 = xor i32 %r257, 128
  %r296 = zext i32 %r295 to i64
  %r298 = getelementptr [0 x i8], [0 x i8] addrspace(3)* @shared, i64 0, i64 %r296
  %r299 = bitcast i8 addrspace(3)* %r298 to double addrspace(3)*
  %r300 = load double, double addrspace(3)* %r299, align 8
  %r301 = sub i32 %r31, 24
  %r302 = icmp slt i32 %r241, %r301
  %r304 = and i1 %r264, %r302
  %r306 = getelementptr double, double addrspace(1)* %r292, i64 %r277
  %r307 = select i1 %r304, double addrspace(1)* %r306, double addrspace(1)* %r41
  %r308 = load double, double addrspace(1)* %r307, align 8
  %r309 = xor i32 %r257, 192
  %r310 = zext i32 %r309 to i64
  %r312 = getelementptr [0 x i8], [0 x i8] addrspace(3)* @shared, i64 0, i64 %r310
  %r313 = bitcast i8 addrspace(3)* %r312 to double addrspace(3)*
  %r314 = load double, double addrspace(3)* %r313, align 8
  br i1 %r265, label %L10, label %L11
L10:
  %r315 = call { double } @kernel(double %r267, double %r272)
  %r316 = extractvalue { double } %r315, 0
  store double %r316, double addrspace(1)* %r262, align 8
  br label %L11
L11:
  br i1 %r276, label %L12, label %L13
L12:
  %r317 = mul i64 %w17, 8
  %r318 = getelementptr double, double addrspace(1)* %r262, i64 %r317
  %r319 = call { double } @kernel(double %r280, double %r286)
  %r320 = extractvalue { double } %r319, 0
  store double %r320, double addrspace(1)* %r318, align 8
  br label %L13
L13:
  br i1 %r290, label %L14, label %L15
L14:
  %r321 = mul i64 %w17, 16
  %r322 = getelementptr double, double addrspace(1)* %r262, i64 %r321
  %r323 = call { double } @kernel(double %r294, double %r300)
  %r324 = extractvalue { double } %r323, 0
  store double %r324, double addrspace(1)* %r322, align 8
  br label %L15
L15:
  br i1 %r304, label %L16, label %L17
L16:
  %r325 = mul i64 %w17, 24
  %r326 = getelementptr double, double addrspace(1)* %r262, i64 %r325
  %r327 = call { double } @kernel(double %r308, double %r314)
  %r328 = extractvalue { double } %r327, 0
  store double %r328, double addrspace(1)* %r326, align 8
  br label %L17
L17:
  br label %L8
L8:
  %next7 = add i32 %i7, 1024
  %r329 = icmp slt i32 %next7, 1024
  br i1 %r329, label %L7, label %L9, !llvm.loop !3
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
