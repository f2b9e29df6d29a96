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

define void @uf_f_tile_f64(double addrspace(1)* %w0, double addrspace(1)* %w1, double addrspace(1)* %w2, i64 %w3, i64 %w4, i64 %w5, i64 %w6, i64 %w7, i64 %w8, i64 %w9, i64 %w10, i64 %w11, i64 %w12, i64 %w13, i64 %w14, i64 %w15, i64 %w16, i64 %w17, i64 %w18) nounwind {
  %r6 = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %r8 = icmp ne i64 %w6, 0
  %r9 = trunc i64 %w7 to i32
  %r10 = trunc i64 %w8 to i32
  %r11 = trunc i64 %w9 to i32
  %r15 = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %r16 = call i32 @llvm.nvvm.mulhi.ui(i32 %r15, i32 %r10)
  %r17 = add i32 %r16, %r15
  %r18 = lshr i32 %r17, %r11
  %r19 = mul i32 %r18, %r9
  %r20 = sub i32 %r15, %r19
  %r21 = zext i32 %r20 to i64
  %r22 = zext i32 %r18 to i64
  %r23 = mul i64 %r21, 32
  %r24 = sub i64 %w3, %r23
  %r25 = icmp slt i64 %r24, 32
  %r26 = select i1 %r25, i64 %r24, i64 32
  %r27 = trunc i64 %r26 to i32
  %r28 = mul i64 %r22, 32
  %r29 = sub i64 %w4, %r28
  %r30 = icmp slt i64 %r29, 32
  %r31 = select i1 %r30, i64 %r29, i64 32
  %r32 = trunc i64 %r31 to i32
  %r33 = icmp ne i64 %r28, 0
  %r40 = mul i64 %r23, %w13
  %r41 = mul i64 %r28, %w14
  %r42 = add i64 %r40, %r41
  %r43 = getelementptr inbounds double, double addrspace(1)* %w0, i64 %r42
  %r44 = mul i64 %r23, %w15
  %r45 = mul i64 %r28, %w16
  %r46 = add i64 %r44, %r45
  %r47 = getelementptr inbounds double, double addrspace(1)* %w1, i64 %r46
  %r48 = mul i64 %r23, %w17
  %r49 = mul i64 %r28, %w18
  %r50 = add i64 %r48, %r49
  %r51 = getelementptr inbounds double, double addrspace(1)* %w2, i64 %r50
  %r52 = and i32 %r6, 31
  %r53 = lshr i32 %r6, 5
  %r54 = add i32 %r53, 28
  %r55 = sub i32 %r54, 32
  %r56 = icmp slt i32 %r55, %r32
  %r57 = icmp slt i32 %r52, %r27
  %r58 = and i1 %r57, %r56
  %r59 = icmp slt i32 %r55, 0
  %r60 = and i1 %r33, %r59
  %r61 = and i1 %r58, %r60
  %r62 = select i1 %r8, i32 3, i32 0
  %r63 = ptrtoint double addrspace(1)* %r51 to i64
  %r64 = lshr i64 %r63, 3
  %r65 = trunc i64 %r64 to i32
  %r66 = trunc i64 %w17 to i32
  %r67 = mul i32 %r52, %r66
  %r68 = add i32 %r65, %r67
  %r69 = and i32 %r68, %r62
  %r70 = add i32 %r55, %r69
  %r71 = icmp sge i32 %r70, 0
  %r72 = and i1 %r61, %r71
  %r73 = or i1 false, %r72
  %r74 = zext i32 %r52 to i64
  %r75 = getelementptr inbounds double, double addrspace(1)* %r43, i64 %r74
  %r76 = zext i32 %r53 to i64
  %r77 = mul i64 %r76, %w14
  %r78 = getelementptr inbounds double, double addrspace(1)* %r75, i64 %r77
  %r79 = mul i64 %w14, -4
  %r80 = getelementptr inbounds double, double addrspace(1)* %r78, i64 %r79
  %r81 = select i1 %r73, double addrspace(1)* %r80, double addrspace(1)* %w0
  %r82 = load double, double addrspace(1)* %r81, align 8
  %r84 = getelementptr inbounds double, double addrspace(1)* %r47, i64 %r74
  %r86 = mul i64 %r76, %w16
  %r87 = getelementptr inbounds double, double addrspace(1)* %r84, i64 %r86
  %r88 = mul i64 %w16, -4
  %r89 = getelementptr inbounds double, double addrspace(1)* %r87, i64 %r88
  %r90 = select i1 %r73, double addrspace(1)* %r89, double addrspace(1)* %w1
  %r91 = load double, double addrspace(1)* %r90, align 8
  br label %L3
L3:
  %r92 = icmp slt i32 %r6, 1024
  br i1 %r92, label %L4, label %L6
L4:
  %i4 = phi i32 [ %r6, %L3 ], [ %next4, %L5 ]
  %r93 = and i32 %i4, 31
  %r94 = lshr i32 %i4, 5
  %r95 = zext i32 %r93 to i64
  %r96 = getelementptr inbounds double, double addrspace(1)* %r43, i64 %r95
  %r97 = zext i32 %r94 to i64
  %r98 = mul i64 %r97, %w14
  %r99 = getelementptr inbounds double, double addrspace(1)* %r96, i64 %r98
  %r101 = getelementptr inbounds double, double addrspace(1)* %r47, i64 %r95
  %r103 = mul i64 %r97, %w16
  %r104 = getelementptr inbounds double, double addrspace(1)* %r101, i64 %r103
  %r105 = lshr i32 %r94, 1
  %r106 = mul i32 %r93, 16
  %r107 = add i32 %r106, %r105
  %r108 = lshr i32 %r93, 1
  %r109 = xor i32 %r108, %r93
  %r110 = and i32 %r109, 7
  %r111 = xor i32 %r107, %r110
  %r112 = mul i32 %r111, 16
  %r113 = and i32 %r94, 1
  %r114 = mul i32 %r113, 8
  %r115 = or i32 %r112, %r114
  %r116 = icmp slt i32 %r94, %r32
  %r117 = icmp slt i32 %r93, %r27
  %r118 = and i1 %r117, %r116
  %r119 = select i1 %r118, double addrspace(1)* %r99, double addrspace(1)* %w0
  %r120 = load double, double addrspace(1)* %r119, align 8
  %r121 = select i1 %r118, double addrspace(1)* %r104, double addrspace(1)* %w1
  %r122 = load double, double addrspace(1)* %r121, align 8
  %r123 = sub i32 %r32, 8
  %r124 = icmp slt i32 %r94, %r123
  %r126 = and i1 %r117, %r124
  %r127 = mul i64 %w14, 8
  %r128 = getelementptr double, double addrspace(1)* %r99, i64 %r127
  %r129 = select i1 %r126, double addrspace(1)* %r128, double addrspace(1)* %w0
  %r130 = load double, double addrspace(1)* %r129, align 8
  %r131 = mul i64 %w16, 8
  %r132 = getelementptr double, double addrspace(1)* %r104, i64 %r131
  %r133 = select i1 %r126, double addrspace(1)* %r132, double addrspace(1)* %w1
  %r134 = load double, double addrspace(1)* %r133, align 8
  %r135 = sub i32 %r32, 16
  %r136 = icmp slt i32 %r94, %r135
  %r138 = and i1 %r117, %r136
  %r140 = getelementptr double, double addrspace(1)* %r128, i64 %r127
  %r141 = select i1 %r138, double addrspace(1)* %r140, double addrspace(1)* %w0
  %r142 = load double, double addrspace(1)* %r141, align 8
  %r144 = getelementptr double, double addrspace(1)* %r132, i64 %r131
  %r145 = select i1 %r138, double addrspace(1)* %r144, double addrspace(1)* %w1
  %r146 = load double, double addrspace(1)* %r145, align 8
  %r147 = sub i32 %r32, 24
  %r148 = icmp slt i32 %r94, %r147
  %r150 = and i1 %r117, %r148
  %r152 = getelementptr double, double addrspace(1)* %r140, i64 %r127
  %r153 = select i1 %r150, double addrspace(1)* %r152, double addrspace(1)* %w0
  %r154 = load double, double addrspace(1)* %r153, align 8
  %r156 = getelementptr double, double addrspace(1)* %r144, i64 %r131
  %r157 = select i1 %r150, double addrspace(1)* %r156, double addrspace(1)* %w1
  %r158 = load double, double addrspace(1)* %r157, align 8
  br i1 %r118, label %L7, label %L8
L7:
  %r159 = zext i32 %r115 to i64
  %r161 = getelementptr [0 x i8], [0 x i8] addrspace(3)* @shared, i64 0, i64 %r159
  %r162 = bitcast i8 addrspace(3)* %r161 to double addrspace(3)*
  %r163 = call { double } @kernel(double %r120, double %r122)
  %r164 = extractvalue { double } %r163, 0
  store double %r164, double addrspace(3)* %r162, align 8
  br label %L8
L8:
  br i1 %r126, label %L9, label %L10
L9:
  %r165 = xor i32 %r115, 64
  %r166 = zext i32 %r165 to i64
  %r168 = getelementptr [0 x i8], [0 x i8] addrspace(3)* @shared, i64 0, i64 %r166
  %r169 = bitcast i8 addrspace(3)* %r168 to double addrspace(3)*
  %r170 = call { double } @kernel(double %r130, double %r134)
  %r171 = extractvalue { double } %r170, 0
  store double %r171, double addrspace(3)* %r169, align 8
  br label %L10
L10:
  br i1 %r138, label %L11, label %L12
L11:
  %r172 = xor i32 %r115, 128
  %r173 = zext i32 %r172 to i64
  %r175 = getelementptr [0 x i8], [0 x i8] addrspace(3)* @shared, i64 0, i64 %r173
  %r176 = bitcast i8 addrspace(3)* %r175 to double addrspace(3)*
  %r177 = call { double } @kernel(double %r142, double %r146)
  %r178 = extractvalue { double } %r177, 0
  store double %r178, double addrspace(3)* %r176, align 8
  br label %L12
L12:
  br i1 %r150, label %L13, label %L14
L13:
  %r179 = xor i32 %r115, 192
  %r180 = zext i32 %r179 to i64
  %r182 = getelementptr [0 x i8], [0 x i8] addrspace(3)* @shared, i64 0, i64 %r180
  %r183 = bitcast i8 addrspace(3)* %r182 to double addrspace(3)*
  %r184 = call { double } @kernel(double %r154, double %r158)
  %r185 = extractvalue { double } %r184, 0
  store double %r185, double addrspace(3)* %r183, align 8
  br label %L14
L14:
  br label %L5
L5:
  %next4 = add i32 %i4, 1024
  %r186 = icmp slt i32 %next4, 1024
  br i1 %r186, label %L4, label %L6, !llvm.loop !3
L6:
  call void @llvm.nvvm.barrier0()
  br i1 %r73, label %L15, label %L16
L15:
  %r187 = call { double } @kernel(double %r82, double %r91)
  br i1 %r72, label %L17, label %L18
L17:
  %r188 = extractvalue { double } %r187, 0
  %r190 = lshr i32 %r54, 1
  %r191 = mul i32 %r52, 16
  %r192 = add i32 %r191, %r190
  %r193 = lshr i32 %r52, 1
  %r194 = xor i32 %r193, %r52
  %r195 = and i32 %r194, 7
  %r196 = xor i32 %r192, %r195
  %r197 = mul i32 %r196, 16
  %r198 = and i32 %r54, 1
  %r199 = mul i32 %r198, 8
  %r200 = or i32 %r197, %r199
  %r201 = zext i32 %r200 to i64
  %r203 = getelementptr [0 x i8], [0 x i8] addrspace(3)* @shared, i64 0, i64 %r201
  %r204 = bitcast i8 addrspace(3)* %r203 to double addrspace(3)*
  store double %r188, double addrspace(3)* %r204, align 8
  br label %L18
L18:
  br label %L16
L16:
  call void @llvm.nvvm.barrier0()
  %r208 = mul i32 %r53, 16
  %r210 = lshr i32 %r53, 1
  %r211 = xor i32 %r210, %r53
  %r212 = and i32 %r211, 7
  %r227 = mul i32 %r53, %r66
  %r228 = add i32 %r65, %r227
  %r229 = and i32 %r228, %r62
  %r230 = sub i32 %r52, %r229
  %r231 = and i32 %r230, 31
  %r232 = lshr i32 %r231, 1
  %r234 = add i32 %r208, %r232
  %r238 = xor i32 %r234, %r212
  %r239 = mul i32 %r238, 16
  %r240 = and i32 %r231, 1
  %r241 = mul i32 %r240, 8
  %r242 = or i32 %r239, %r241
  %r243 = zext i32 %r242 to i64
  %r245 = getelementptr [0 x i8], [0 x i8] addrspace(3)* @shared, i64 0, i64 %r243
  %r246 = bitcast i8 addrspace(3)* %r245 to double addrspace(3)*
  %r247 = load double, double addrspace(3)* %r246, align 8
  %r253 = add i32 %r53, 8
  %r259 = mul i32 %r253, %r66
  %r260 = add i32 %r65, %r259
  %r261 = and i32 %r260, %r62
  %r262 = sub i32 %r52, %r261
  %r263 = and i32 %r262, 31
  %r265 = lshr i32 %r263, 1
  %r266 = mul i32 %r253, 16
  %r267 = add i32 %r266, %r265
  %r268 = lshr i32 %r253, 1
  %r269 = xor i32 %r268, %r253
  %r270 = and i32 %r269, 7
  %r271 = xor i32 %r267, %r270
  %r272 = mul i32 %r271, 16
  %r273 = and i32 %r263, 1
  %r274 = mul i32 %r273, 8
  %r275 = or i32 %r272, %r274
  %r276 = zext i32 %r275 to i64
  %r278 = getelementptr [0 x i8], [0 x i8] addrspace(3)* @shared, i64 0, i64 %r276
  %r279 = bitcast i8 addrspace(3)* %r278 to double addrspace(3)*
  %r280 = load double, double addrspace(3)* %r279, align 8
  %r286 = add i32 %r53, 16
  %r292 = mul i32 %r286, %r66
  %r293 = add i32 %r65, %r292
  %r294 = and i32 %r293, %r62
  %r295 = sub i32 %r52, %r294
  %r296 = and i32 %r295, 31
  %r298 = lshr i32 %r296, 1
  %r299 = mul i32 %r286, 16
  %r300 = add i32 %r299, %r298
  %r301 = lshr i32 %r286, 1
  %r302 = xor i32 %r301, %r286
  %r303 = and i32 %r302, 7
  %r304 = xor i32 %r300, %r303
  %r305 = mul i32 %r304, 16
  %r306 = and i32 %r296, 1
  %r307 = mul i32 %r306, 8
  %r308 = or i32 %r305, %r307
  %r309 = zext i32 %r308 to i64
  %r311 = getelementptr [0 x i8], [0 x i8] addrspace(3)* @shared, i64 0, i64 %r309
  %r312 = bitcast i8 addrspace(3)* %r311 to double addrspace(3)*
  %r313 = load double, double addrspace(3)* %r312, align 8
  %r319 = add i32 %r53, 24
  %r325 = mul i32 %r319, %r66
  %r326 = add i32 %r65, %r325
  %r327 = and i32 %r326, %r62
  %r328 = sub i32 %r52, %r327
  %r329 = and i32 %r328, 31
  %r331 = lshr i32 %r329, 1
  %r332 = mul i32 %r319, 16
  %r333 = add i32 %r332, %r331
  %r334 = lshr i32 %r319, 1
  %r335 = xor i32 %r334, %r319
  %r336 = and i32 %r335, 7
  %r337 = xor i32 %r333, %r336
  %r338 = mul i32 %r337, 16
  %r339 = and i32 %r329, 1
  %r340 = mul i32 %r339, 8
  %r341 = or i32 %r338, %r340
  %r342 = zext i32 %r341 to i64
  %r344 = getelementptr [0 x i8], [0 x i8] addrspace(3)* @shared, i64 0, i64 %r342
  %r345 = bitcast i8 addrspace(3)* %r344 to double addrspace(3)*
  %r346 = load double, double addrspace(3)* %r345, align 8
  %r348 = mul i64 %r76, %w17
  %r349 = getelementptr inbounds double, double addrspace(1)* %r51, i64 %r348
  %r350 = zext i32 0 to i64
  %r351 = getelementptr inbounds double, double addrspace(1)* %r349, i64 %r350
  %r363 = icmp slt i32 %r230, %r32
  %r364 = icmp slt i32 %r53, %r27
  %r365 = and i1 %r364, %r363
  %r366 = icmp sge i32 %r230, 0
  %r367 = or i1 %r33, %r366
  %r368 = and i1 %r365, %r367
  br i1 %r368, label %L19, label %L20
L19:
  %r361 = sext i32 %r230 to i64
  %r362 = getelementptr inbounds double, double addrspace(1)* %r351, i64 %r361
  store double %r247, double addrspace(1)* %r362, align 8
  br label %L20
L20:
  %r369 = mul i64 %w17, 8
  %r370 = getelementptr double, double addrspace(1)* %r351, i64 %r369
  %r383 = icmp slt i32 %r262, %r32
  %r384 = sub i32 %r27, 8
  %r385 = icmp slt i32 %r53, %r384
  %r386 = and i1 %r385, %r383
  %r387 = icmp sge i32 %r262, 0
  %r388 = or i1 %r33, %r387
  %r389 = and i1 %r386, %r388
  br i1 %r389, label %L21, label %L22
L21:
  %r381 = sext i32 %r262 to i64
  %r382 = getelementptr inbounds double, double addrspace(1)* %r370, i64 %r381
  store double %r280, double addrspace(1)* %r382, align 8
  br label %L22
L22:
  %r391 = getelementptr double, double addrspace(1)* %r370, i64 %r369
  %r404 = icmp slt i32 %r295, %r32
  %r405 = sub i32 %r27, 16
  %r406 = icmp slt i32 %r53, %r405
  %r407 = and i1 %r406, %r404
  %r408 = icmp sge i32 %r295, 0
  %r409 = or i1 %r33, %r408
  %r410 = and i1 %r407, %r409
  br i1 %r410, label %L23, label %L24
L23:
  %r402 = sext i32 %r295 to i64
  %r403 = getelementptr inbounds double, double addrspace(1)* %r391, i64 %r402
  store double %r313, double addrspace(1)* %r403, align 8
  br label %L24
L24:
  %r425 = icmp slt i32 %r328, %r32
  %r426 = sub i32 %r27, 24
  %r427 = icmp slt i32 %r53, %r426
  %r428 = and i1 %r427, %r425
  %r429 = icmp sge i32 %r328, 0
  %r430 = or i1 %r33, %r429
  %r431 = and i1 %r428, %r430
  br i1 %r431, label %L25, label %L26
L25:
  %r412 = getelementptr double, double addrspace(1)* %r391, i64 %r369
  %r423 = sext i32 %r328 to i64
  %r424 = getelementptr inbounds double, double addrspace(1)* %r412, i64 %r423
  store double %r346, double addrspace(1)* %r424, align 8
  br label %L26
L26:
  ret void
}
declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
declare i32 @llvm.nvvm.mulhi.ui(i32, i32)
@shared = external addrspace(3) global [0 x i8], align 16
declare void @llvm.nvvm.barrier0() convergent nounwind

!nvvm.annotations = !{!1}
!nvvmir.version = !{!4}
!1 = !{void (double addrspace(1)*, double addrspace(1)*, double addrspace(1)*, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64)* @uf_f_tile_f64, !"kernel", i32 1, !"maxntidx", i32 256}
!2 = !{!"llvm.loop.unroll.disable"}
!3 = distinct !{!3, !2}
!4 = !{i32 2, i32 0, i32 3, i32 1}
