; mean
target datalayout = "e-p:64:64:64-i1:8:8-i8:8:8-i16:16:16-i32:32:32-i64:64:64-i128:128:128-f32:32:32-f64:64:64-v16:16:16-v32:32:32-v64:64:64-v128:128:128-n16:32:64"
target triple = "nvptx64-nvidia-cuda"

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

define void @uf_mean(double addrspace(1)* %w0, double addrspace(1)* %w1, i64 %w2, i64 %w3, i64 %w4, i64 %w5, i64 %w6, i64 %w7, i64 %w8, i64 %w9, i64 %w10, i64 %w11, i64 %w12, i64 %w13, i64 %w14, i64 %w15, i64 %w16, i64 %w17, i64 %w18, i64 %w19) nounwind {
  %r12 = icmp ne i64 %w4, 0
  %r13 = trunc i64 %w5 to i32
  %r14 = trunc i64 %w6 to i32
  %r15 = trunc i64 %w7 to i32
  %r16 = trunc i64 %w8 to i32
  %r17 = trunc i64 %w9 to i32
  %r18 = trunc i64 %w10 to i32
  %r19 = trunc i64 %w11 to i32
  %r20 = alloca double
  %r21 = alloca double
  %r22 = alloca double
  %r23 = alloca i1
  %r24 = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %r25 = alloca i32
  store i32 %r24, i32* %r25
  %r26 = icmp ne i64 %w12, 0
  br i1 %r26, label %L5, label %L6
L5:
  %r27 = zext i32 24 to i64
  %r28 = getelementptr [25 x i32], [25 x i32] addrspace(3)* @scan_shared, i64 0, i64 %r27
  %r29 = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %r30 = icmp eq i32 %r29, 0
  br i1 %r30, label %L7, label %L8
L7:
  %r31 = inttoptr i64 %w12 to i32 addrspace(1)*
  %r32 = atomicrmw add i32 addrspace(1)* %r31, i32 1 monotonic
  store i32 %r32, i32 addrspace(3)* %r28, align 4
  br label %L8
L8:
  call void @llvm.nvvm.barrier0()
  %r33 = load i32, i32 addrspace(3)* %r28, align 4
  store i32 %r33, i32* %r25
  br label %L6
L6:
  %r34 = load i32, i32* %r25
  %r35 = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %r36 = call i32 @llvm.nvvm.mulhi.ui(i32 %r34, i32 %r15)
  %r37 = add i32 %r36, %r34
  %r38 = lshr i32 %r37, %r16
  %r39 = mul i32 %r38, %r14
  %r40 = sub i32 %r34, %r39
  %r41 = zext i32 %r38 to i64
  %r42 = mul i64 %r41, %w16
  %r43 = getelementptr inbounds double, double addrspace(1)* %w0, i64 %r42
  %r44 = mul i64 %r41, %w17
  %r45 = getelementptr inbounds double, double addrspace(1)* %w1, i64 %r44
  %r46 = and i32 %r35, 31
  %r47 = lshr i32 %r35, 5
  %r48 = mul i32 %r46, 2
  %r49 = mul i32 %r47, 64
  %r50 = add i32 %r48, %r49
  %r51 = zext i32 %r40 to i64
  %r52 = mul i64 %r51, 512
  %r53 = zext i32 %r50 to i64
  %r54 = add i64 %r53, %r52
  %r55 = sub i64 %w3, %r54
  %r56 = icmp sge i64 %r55, 2
  %r57 = and i1 true, %r12
  %r58 = and i1 %r56, %r57
  %r59 = sub i64 %r55, 1
  %r60 = getelementptr inbounds double, double addrspace(1)* %r43, i64 %r54
  br i1 %r58, label %L9, label %L10
L9:
  %r61 = bitcast double addrspace(1)* %r60 to <2 x double> addrspace(1)*
  %r62 = load <2 x double>, <2 x double> addrspace(1)* %r61, align 16
  %r63 = extractelement <2 x double> %r62, i32 0
  %r64 = extractelement <2 x double> %r62, i32 1
  store double %r63, double* %r20
  store double %r64, double* %r21
  br label %L11
L10:
  %r65 = icmp slt i64 0, %r59
  %r66 = select i1 %r65, i64 0, i64 %r59
  %r67 = getelementptr inbounds double, double addrspace(1)* %r60, i64 %r66
  %r68 = load double, double addrspace(1)* %r67, align 8
  store double %r68, double* %r20
  %r69 = icmp slt i64 1, %r59
  %r70 = select i1 %r69, i64 1, i64 %r59
  %r71 = getelementptr inbounds double, double addrspace(1)* %r60, i64 %r70
  %r72 = load double, double addrspace(1)* %r71, align 8
  store double %r72, double* %r21
  br label %L11
L11:
  %r73 = add i64 %r54, 0
  %r74 = load double, double* %r20
  %r75 = add i64 %r54, 1
  %r76 = load double, double* %r21
  %r77 = call { double } @combine(double %r74, double %r76)
  %r78 = extractvalue { double } %r77, 0
  %r79 = bitcast double %r78 to i64
  %r80 = trunc i64 %r79 to i32
  %r81 = lshr i64 %r79, 32
  %r82 = trunc i64 %r81 to i32
  %r83 = call i32 @llvm.nvvm.shfl.sync.up.i32(i32 -1, i32 %r80, i32 1, i32 0)
  %r84 = call i32 @llvm.nvvm.shfl.sync.up.i32(i32 -1, i32 %r82, i32 1, i32 0)
  %r85 = zext i32 %r84 to i64
  %r86 = shl i64 %r85, 32
  %r87 = zext i32 %r83 to i64
  %r88 = or i64 %r87, %r86
  %r89 = bitcast i64 %r88 to double
  %r90 = icmp uge i32 %r46, 1
  %r91 = call { double } @combine(double %r89, double %r78)
  %r92 = extractvalue { double } %r91, 0
  %r93 = select i1 %r90, double %r92, double %r78
  %r94 = bitcast double %r93 to i64
  %r95 = trunc i64 %r94 to i32
  %r96 = lshr i64 %r94, 32
  %r97 = trunc i64 %r96 to i32
  %r98 = call i32 @llvm.nvvm.shfl.sync.up.i32(i32 -1, i32 %r95, i32 2, i32 0)
  %r99 = call i32 @llvm.nvvm.shfl.sync.up.i32(i32 -1, i32 %r97, i32 2, i32 0)
  %r100 = zext i32 %r99 to i64
  %r101 = shl i64 %r100, 32
  %r102 = zext i32 %r98 to i64
  %r103 = or i64 %r102, %r101
  %r104 = bitcast i64 %r103 to double
  %r105 = icmp uge i32 %r46, 2
  %r106 = call { double } @combine(double %r104, double %r93)
  %r107 = extractvalue { double } %r106, 0
  %r108 = select i1 %r105, double %r107, double %r93
  %r109 = bitcast double %r108 to i64
  %r110 = trunc i64 %r109 to i32
  %r111 = lshr i64 %r109, 32
  %r112 = trunc i64 %r111 to i32
  %r113 = call i32 @llvm.nvvm.shfl.sync.up.i32(i32 -1, i32 %r110, i32 4, i32 0)
  %r114 = call i32 @llvm.nvvm.shfl.sync.up.i32(i32 -1, i32 %r112, i32 4, i32 0)
  %r115 = zext i32 %r114 to i64
  %r116 = shl i64 %r115, 32
  %r117 = zext i32 %r113 to i64
  %r118 = or i64 %r117, %r116
  %r119 = bitcast i64 %r118 to double
  %r120 = icmp uge i32 %r46, 4
  %r121 = call { double } @combine(double %r119, double %r108)
  %r122 = extractvalue { double } %r121, 0
  %r123 = select i1 %r120, double %r122, double %r108
  %r124 = bitcast double %r123 to i64
  %r125 = trunc i64 %r124 to i32
  %r126 = lshr i64 %r124, 32
  %r127 = trunc i64 %r126 to i32
  %r128 = call i32 @llvm.nvvm.shfl.sync.up.i32(i32 -1, i32 %r125, i32 8, i32 0)
  %r129 = call i32 @llvm.nvvm.shfl.sync.up.i32(i32 -1, i32 %r127, i32 8, i32 0)
  %r130 = zext i32 %r129 to i64
  %r131 = shl i64 %r130, 32
  %r132 = zext i32 %r128 to i64
  %r133 = or i64 %r132, %r131
  %r134 = bitcast i64 %r133 to double
  %r135 = icmp uge i32 %r46, 8
  %r136 = call { double } @combine(double %r134, double %r123)
  %r137 = extractvalue { double } %r136, 0
  %r138 = select i1 %r135, double %r137, double %r123
  %r139 = bitcast double %r138 to i64
  %r140 = trunc i64 %r139 to i32
  %r141 = lshr i64 %r139, 32
  %r142 = trunc i64 %r141 to i32
  %r143 = call i32 @llvm.nvvm.shfl.sync.up.i32(i32 -1, i32 %r140, i32 16, i32 0)
  %r144 = call i32 @llvm.nvvm.shfl.sync.up.i32(i32 -1, i32 %r142, i32 16, i32 0)
  %r145 = zext i32 %r144 to i64
  %r146 = shl i64 %r145, 32
  %r147 = zext i32 %r143 to i64
  %r148 = or i64 %r147, %r146
  %r149 = bitcast i64 %r148 to double
  %r150 = icmp uge i32 %r46, 16
  %r151 = call { double } @combine(double %r149, double %r138)
  %r152 = extractvalue { double } %r151, 0
  %r153 = select i1 %r150, double %r152, double %r138
  %r154 = bitcast double %r153 to i64
  %r155 = trunc i64 %r154 to i32
  %r156 = lshr i64 %r154, 32
  %r157 = trunc i64 %r156 to i32
  %r158 = call i32 @llvm.nvvm.shfl.sync.idx.i32(i32 -1, i32 %r155, i32 31, i32 31)
  %r159 = call i32 @llvm.nvvm.shfl.sync.idx.i32(i32 -1, i32 %r157, i32 31, i32 31)
  %r160 = zext i32 %r159 to i64
  %r161 = shl i64 %r160, 32
  %r162 = zext i32 %r158 to i64
  %r163 = or i64 %r162, %r161
  %r164 = bitcast i64 %r163 to double
  %r165 = bitcast double %r153 to i64
  %r166 = trunc i64 %r165 to i32
  %r167 = lshr i64 %r165, 32
  %r168 = trunc i64 %r167 to i32
  %r169 = call i32 @llvm.nvvm.shfl.sync.up.i32(i32 -1, i32 %r166, i32 1, i32 0)
  %r170 = call i32 @llvm.nvvm.shfl.sync.up.i32(i32 -1, i32 %r168, i32 1, i32 0)
  %r171 = zext i32 %r170 to i64
  %r172 = shl i64 %r171, 32
  %r173 = zext i32 %r169 to i64
  %r174 = or i64 %r173, %r172
  %r175 = bitcast i64 %r174 to double
  %r176 = icmp ne i32 %r46, 0
  %r177 = icmp eq i32 %r46, 0
  br i1 %r177, label %L12, label %L13
L12:
  %r178 = bitcast double %r164 to i64
  %r179 = trunc i64 %r178 to i32
  %r180 = lshr i64 %r178, 32
  %r181 = trunc i64 %r180 to i32
  %r182 = mul i32 %r47, 2
  %r183 = add i32 %r182, 0
  %r184 = zext i32 %r183 to i64
  %r185 = getelementptr [25 x i32], [25 x i32] addrspace(3)* @scan_shared, i64 0, i64 %r184
  store i32 %r179, i32 addrspace(3)* %r185, align 4
  %r186 = mul i32 %r47, 2
  %r187 = add i32 %r186, 1
  %r188 = zext i32 %r187 to i64
  %r189 = getelementptr [25 x i32], [25 x i32] addrspace(3)* @scan_shared, i64 0, i64 %r188
  store i32 %r181, i32 addrspace(3)* %r189, align 4
  br label %L13
L13:
  call void @llvm.nvvm.barrier0()
  %r190 = mul i32 0, 2
  %r191 = add i32 %r190, 0
  %r192 = zext i32 %r191 to i64
  %r193 = getelementptr [25 x i32], [25 x i32] addrspace(3)* @scan_shared, i64 0, i64 %r192
  %r194 = load i32, i32 addrspace(3)* %r193, align 4
  %r195 = mul i32 0, 2
  %r196 = add i32 %r195, 1
  %r197 = zext i32 %r196 to i64
  %r198 = getelementptr [25 x i32], [25 x i32] addrspace(3)* @scan_shared, i64 0, i64 %r197
  %r199 = load i32, i32 addrspace(3)* %r198, align 4
  %r200 = zext i32 %r199 to i64
  %r201 = shl i64 %r200, 32
  %r202 = zext i32 %r194 to i64
  %r203 = or i64 %r202, %r201
  %r204 = bitcast i64 %r203 to double
  %r205 = mul i32 1, 2
  %r206 = add i32 %r205, 0
  %r207 = zext i32 %r206 to i64
  %r208 = getelementptr [25 x i32], [25 x i32] addrspace(3)* @scan_shared, i64 0, i64 %r207
  %r209 = load i32, i32 addrspace(3)* %r208, align 4
  %r210 = mul i32 1, 2
  %r211 = add i32 %r210, 1
  %r212 = zext i32 %r211 to i64
  %r213 = getelementptr [25 x i32], [25 x i32] addrspace(3)* @scan_shared, i64 0, i64 %r212
  %r214 = load i32, i32 addrspace(3)* %r213, align 4
  %r215 = zext i32 %r214 to i64
  %r216 = shl i64 %r215, 32
  %r217 = zext i32 %r209 to i64
  %r218 = or i64 %r217, %r216
  %r219 = bitcast i64 %r218 to double
  %r220 = icmp uge i32 %r47, 1
  %r221 = call { double } @combine(double %r204, double %r219)
  %r222 = extractvalue { double } %r221, 0
  %r223 = mul i32 2, 2
  %r224 = add i32 %r223, 0
  %r225 = zext i32 %r224 to i64
  %r226 = getelementptr [25 x i32], [25 x i32] addrspace(3)* @scan_shared, i64 0, i64 %r225
  %r227 = load i32, i32 addrspace(3)* %r226, align 4
  %r228 = mul i32 2, 2
  %r229 = add i32 %r228, 1
  %r230 = zext i32 %r229 to i64
  %r231 = getelementptr [25 x i32], [25 x i32] addrspace(3)* @scan_shared, i64 0, i64 %r230
  %r232 = load i32, i32 addrspace(3)* %r231, align 4
  %r233 = zext i32 %r232 to i64
  %r234 = shl i64 %r233, 32
  %r235 = zext i32 %r227 to i64
  %r236 = or i64 %r235, %r234
  %r237 = bitcast i64 %r236 to double
  %r238 = icmp uge i32 %r47, 2
  %r239 = select i1 %r238, double %r222, double %r204
  %r240 = call { double } @combine(double %r222, double %r237)
  %r241 = extractvalue { double } %r240, 0
  %r242 = mul i32 3, 2
  %r243 = add i32 %r242, 0
  %r244 = zext i32 %r243 to i64
  %r245 = getelementptr [25 x i32], [25 x i32] addrspace(3)* @scan_shared, i64 0, i64 %r244
  %r246 = load i32, i32 addrspace(3)* %r245, align 4
  %r247 = mul i32 3, 2
  %r248 = add i32 %r247, 1
  %r249 = zext i32 %r248 to i64
  %r250 = getelementptr [25 x i32], [25 x i32] addrspace(3)* @scan_shared, i64 0, i64 %r249
  %r251 = load i32, i32 addrspace(3)* %r250, align 4
  %r252 = zext i32 %r251 to i64
  %r253 = shl i64 %r252, 32
  %r254 = zext i32 %r246 to i64
  %r255 = or i64 %r254, %r253
  %r256 = bitcast i64 %r255 to double
  %r257 = icmp uge i32 %r47, 3
  %r258 = select i1 %r257, double %r241, double %r239
  %r259 = call { double } @combine(double %r241, double %r256)
  %r260 = extractvalue { double } %r259, 0
  %r261 = mul i32 4, 2
  %r262 = add i32 %r261, 0
  %r263 = zext i32 %r262 to i64
  %r264 = getelementptr [25 x i32], [25 x i32] addrspace(3)* @scan_shared, i64 0, i64 %r263
  %r265 = load i32, i32 addrspace(3)* %r264, align 4
  %r266 = mul i32 4, 2
  %r267 = add i32 %r266, 1
  %r268 = zext i32 %r267 to i64
  %r269 = getelementptr [25 x i32], [25 x i32] addrspace(3)* @scan_shared, i64 0, i64 %r268
  %r270 = load i32, i32 addrspace(3)* %r269, align 4
  %r271 = zext i32 %r270 to i64
  %r272 = shl i64 %r271, 32
  %r273 = zext i32 %r265 to i64
  %r274 = or i64 %r273, %r272
  %r275 = bitcast i64 %r274 to double
  %r276 = icmp uge i32 %r47, 4
  %r277 = select i1 %r276, double %r260, double %r258
  %r278 = call { double } @combine(double %r260, double %r275)
  %r279 = extractvalue { double } %r278, 0
  %r280 = mul i32 5, 2
  %r281 = add i32 %r280, 0
  %r282 = zext i32 %r281 to i64
  %r283 = getelementptr [25 x i32], [25 x i32] addrspace(3)* @scan_shared, i64 0, i64 %r282
  %r284 = load i32, i32 addrspace(3)* %r283, align 4
  %r285 = mul i32 5, 2
  %r286 = add i32 %r285, 1
  %r287 = zext i32 %r286 to i64
  %r288 = getelementptr [25 x i32], [25 x i32] addrspace(3)* @scan_shared, i64 0, i64 %r287
  %r289 = load i32, i32 addrspace(3)* %r288, align 4
  %r290 = zext i32 %r289 to i64
  %r291 = shl i64 %r290, 32
  %r292 = zext i32 %r284 to i64
  %r293 = or i64 %r292, %r291
  %r294 = bitcast i64 %r293 to double
  %r295 = icmp uge i32 %r47, 5
  %r296 = select i1 %r295, double %r279, double %r277
  %r297 = call { double } @combine(double %r279, double %r294)
  %r298 = extractvalue { double } %r297, 0
  %r299 = mul i32 6, 2
  %r300 = add i32 %r299, 0
  %r301 = zext i32 %r300 to i64
  %r302 = getelementptr [25 x i32], [25 x i32] addrspace(3)* @scan_shared, i64 0, i64 %r301
  %r303 = load i32, i32 addrspace(3)* %r302, align 4
  %r304 = mul i32 6, 2
  %r305 = add i32 %r304, 1
  %r306 = zext i32 %r305 to i64
  %r307 = getelementptr [25 x i32], [25 x i32] addrspace(3)* @scan_shared, i64 0, i64 %r306
  %r308 = load i32, i32 addrspace(3)* %r307, align 4
  %r309 = zext i32 %r308 to i64
  %r310 = shl i64 %r309, 32
  %r311 = zext i32 %r303 to i64
  %r312 = or i64 %r311, %r310
  %r313 = bitcast i64 %r312 to double
  %r314 = icmp uge i32 %r47, 6
  %r315 = select i1 %r314, double %r298, double %r296
  %r316 = call { double } @combine(double %r298, double %r313)
  %r317 = extractvalue { double } %r316, 0
  %r318 = mul i32 7, 2
  %r319 = add i32 %r318, 0
  %r320 = zext i32 %r319 to i64
  %r321 = getelementptr [25 x i32], [25 x i32] addrspace(3)* @scan_shared, i64 0, i64 %r320
  %r322 = load i32, i32 addrspace(3)* %r321, align 4
  %r323 = mul i32 7, 2
  %r324 = add i32 %r323, 1
  %r325 = zext i32 %r324 to i64
  %r326 = getelementptr [25 x i32], [25 x i32] addrspace(3)* @scan_shared, i64 0, i64 %r325
  %r327 = load i32, i32 addrspace(3)* %r326, align 4
  %r328 = zext i32 %r327 to i64
  %r329 = shl i64 %r328, 32
  %r330 = zext i32 %r322 to i64
  %r331 = or i64 %r330, %r329
  %r332 = bitcast i64 %r331 to double
  %r333 = icmp uge i32 %r47, 7
  %r334 = select i1 %r333, double %r317, double %r315
  %r335 = call { double } @combine(double %r317, double %r332)
  %r336 = extractvalue { double } %r335, 0
  %r337 = icmp ne i32 %r47, 0
  store double %r336, double* %r22
  store i1 false, i1* %r23
  %r338 = icmp ne i64 %w12, 0
  br i1 %r338, label %L14, label %L15
L14:
  %r339 = call i32 @llvm.nvvm.mulhi.ui(i32 %r34, i32 %r15)
  %r340 = add i32 %r339, %r34
  %r341 = lshr i32 %r340, %r16
  %r342 = mul i32 %r341, %r14
  %r343 = sub i32 %r34, %r342
  %r344 = zext i32 %r13 to i64
  %r345 = zext i32 %r341 to i64
  %r346 = mul i64 %r345, %r344
  %r347 = add i32 %r13, 31
  %r348 = lshr i32 %r347, 5
  %r349 = zext i32 %r348 to i64
  %r350 = zext i32 %r341 to i64
  %r351 = mul i64 %r350, %r349
  %r352 = add i32 %r348, 31
  %r353 = lshr i32 %r352, 5
  %r354 = zext i32 %r353 to i64
  %r355 = zext i32 %r341 to i64
  %r356 = mul i64 %r355, %r354
  %r357 = add i32 %r353, 31
  %r358 = lshr i32 %r357, 5
  %r359 = lshr i32 %r40, 5
  %r360 = lshr i32 %r359, 5
  %r361 = and i32 %r40, 31
  %r362 = and i32 %r359, 31
  %r363 = icmp sgt i32 %r362, 0
  %r364 = icmp eq i32 %r361, 31
  %r365 = icmp eq i32 %r362, 31
  %r366 = and i1 %r364, %r365
  %r367 = icmp sgt i32 %r360, 0
  %r368 = select i1 %r367, i32 1, i32 0
  %r369 = sub i32 %r360, 1
  %r370 = sub i32 %r362, 1
  %r371 = sub i32 %r359, %r362
  %r372 = select i1 %r363, i32 32, i32 0
  %r373 = sub i32 %r40, %r361
  %r374 = sub i32 %r373, 32
  %r375 = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %r376 = icmp eq i32 %r375, 0
  br i1 %r376, label %L16, label %L17
L16:
  %r377 = zext i32 %r40 to i64
  %r378 = add i64 %r346, %r377
  %r379 = mul i64 %r378, 16
  %r380 = add i64 %r379, %w13
  %r381 = bitcast double %r336 to i64
  %r382 = trunc i64 %r381 to i32
  %r383 = lshr i64 %r381, 32
  %r384 = trunc i64 %r383 to i32
  %r385 = zext i32 %r382 to i64
  %r386 = or i64 %r385, 4294967296
  %r387 = add i64 %r380, 0
  %r388 = inttoptr i64 %r387 to i64 addrspace(1)*
  store volatile i64 %r386, i64 addrspace(1)* %r388, align 8
  %r389 = zext i32 %r384 to i64
  %r390 = or i64 %r389, 4294967296
  %r391 = add i64 %r380, 8
  %r392 = inttoptr i64 %r391 to i64 addrspace(1)*
  store volatile i64 %r390, i64 addrspace(1)* %r392, align 8
  br label %L17
L17:
  %r393 = icmp eq i32 %r47, 0
  %r394 = icmp sgt i32 %r361, 0
  %r395 = and i1 %r393, %r394
  br i1 %r395, label %L18, label %L19
L18:
  %r396 = icmp slt i32 %r46, %r361
  %r397 = select i1 %r396, i32 %r46, i32 0
  %r398 = add i32 %r373, %r397
  %r399 = zext i32 %r398 to i64
  %r400 = add i64 %r346, %r399
  %r401 = mul i64 %r400, 16
  %r402 = add i64 %r401, %w13
  %r403 = add i64 %r402, 0
  %r404 = inttoptr i64 %r403 to i64 addrspace(1)*
  %r405 = add i64 %r402, 8
  %r406 = inttoptr i64 %r405 to i64 addrspace(1)*
  br label %L20
L20:
  %r407 = load volatile i64, i64 addrspace(1)* %r404, align 8
  %r408 = load volatile i64, i64 addrspace(1)* %r406, align 8
  %r409 = and i64 %r407, %r408
  %r410 = icmp ugt i64 %r409, 4294967295
  br i1 %r410, label %L21, label %L20
L21:
  %r411 = trunc i64 %r407 to i32
  %r412 = trunc i64 %r408 to i32
  %r413 = zext i32 %r412 to i64
  %r414 = shl i64 %r413, 32
  %r415 = zext i32 %r411 to i64
  %r416 = or i64 %r415, %r414
  %r417 = bitcast i64 %r416 to double
  call void @llvm.nvvm.bar.warp.sync(i32 -1)
  %r418 = bitcast double %r417 to i64
  %r419 = trunc i64 %r418 to i32
  %r420 = lshr i64 %r418, 32
  %r421 = trunc i64 %r420 to i32
  %r422 = call i32 @llvm.nvvm.shfl.sync.down.i32(i32 -1, i32 %r419, i32 1, i32 31)
  %r423 = call i32 @llvm.nvvm.shfl.sync.down.i32(i32 -1, i32 %r421, i32 1, i32 31)
  %r424 = zext i32 %r423 to i64
  %r425 = shl i64 %r424, 32
  %r426 = zext i32 %r422 to i64
  %r427 = or i64 %r426, %r425
  %r428 = bitcast i64 %r427 to double
  %r429 = zext i1 %r396 to i32
  %r430 = call i32 @llvm.nvvm.shfl.sync.down.i32(i32 -1, i32 %r429, i32 1, i32 31)
  %r431 = trunc i32 %r430 to i1
  %r432 = call { double } @combine(double %r417, double %r428)
  %r433 = extractvalue { double } %r432, 0
  %r434 = select i1 %r431, double %r433, double %r417
  %r435 = select i1 %r396, double %r434, double %r428
  %r436 = or i1 %r396, %r431
  %r437 = bitcast double %r435 to i64
  %r438 = trunc i64 %r437 to i32
  %r439 = lshr i64 %r437, 32
  %r440 = trunc i64 %r439 to i32
  %r441 = call i32 @llvm.nvvm.shfl.sync.down.i32(i32 -1, i32 %r438, i32 2, i32 31)
  %r442 = call i32 @llvm.nvvm.shfl.sync.down.i32(i32 -1, i32 %r440, i32 2, i32 31)
  %r443 = zext i32 %r442 to i64
  %r444 = shl i64 %r443, 32
  %r445 = zext i32 %r441 to i64
  %r446 = or i64 %r445, %r444
  %r447 = bitcast i64 %r446 to double
  %r448 = zext i1 %r436 to i32
  %r449 = call i32 @llvm.nvvm.shfl.sync.down.i32(i32 -1, i32 %r448, i32 2, i32 31)
  %r450 = trunc i32 %r449 to i1
  %r451 = call { double } @combine(double %r435, double %r447)
  %r452 = extractvalue { double } %r451, 0
  %r453 = select i1 %r450, double %r452, double %r435
  %r454 = select i1 %r436, double %r453, double %r447
  %r455 = or i1 %r436, %r450
  %r456 = bitcast double %r454 to i64
  %r457 = trunc i64 %r456 to i32
  %r458 = lshr i64 %r456, 32
  %r459 = trunc i64 %r458 to i32
  %r460 = call i32 @llvm.nvvm.shfl.sync.down.i32(i32 -1, i32 %r457, i32 4, i32 31)
  %r461 = call i32 @llvm.nvvm.shfl.sync.down.i32(i32 -1, i32 %r459, i32 4, i32 31)
  %r462 = zext i32 %r461 to i64
  %r463 = shl i64 %r462, 32
  %r464 = zext i32 %r460 to i64
  %r465 = or i64 %r464, %r463
  %r466 = bitcast i64 %r465 to double
  %r467 = zext i1 %r455 to i32
  %r468 = call i32 @llvm.nvvm.shfl.sync.down.i32(i32 -1, i32 %r467, i32 4, i32 31)
  %r469 = trunc i32 %r468 to i1
  %r470 = call { double } @combine(double %r454, double %r466)
  %r471 = extractvalue { double } %r470, 0
  %r472 = select i1 %r469, double %r471, double %r454
  %r473 = select i1 %r455, double %r472, double %r466
  %r474 = or i1 %r455, %r469
  %r475 = bitcast double %r473 to i64
  %r476 = trunc i64 %r475 to i32
  %r477 = lshr i64 %r475, 32
  %r478 = trunc i64 %r477 to i32
  %r479 = call i32 @llvm.nvvm.shfl.sync.down.i32(i32 -1, i32 %r476, i32 8, i32 31)
  %r480 = call i32 @llvm.nvvm.shfl.sync.down.i32(i32 -1, i32 %r478, i32 8, i32 31)
  %r481 = zext i32 %r480 to i64
  %r482 = shl i64 %r481, 32
  %r483 = zext i32 %r479 to i64
  %r484 = or i64 %r483, %r482
  %r485 = bitcast i64 %r484 to double
  %r486 = zext i1 %r474 to i32
  %r487 = call i32 @llvm.nvvm.shfl.sync.down.i32(i32 -1, i32 %r486, i32 8, i32 31)
  %r488 = trunc i32 %r487 to i1
  %r489 = call { double } @combine(double %r473, double %r485)
  %r490 = extractvalue { double } %r489, 0
  %r491 = select i1 %r488, double %r490, double %r473
  %r492 = select i1 %r474, double %r491, double %r485
  %r493 = or i1 %r474, %r488
  %r494 = bitcast double %r492 to i64
  %r495 = trunc i64 %r494 to i32
  %r496 = lshr i64 %r494, 32
  %r497 = trunc i64 %r496 to i32
  %r498 = call i32 @llvm.nvvm.shfl.sync.down.i32(i32 -1, i32 %r495, i32 16, i32 31)
  %r499 = call i32 @llvm.nvvm.shfl.sync.down.i32(i32 -1, i32 %r497, i32 16, i32 31)
  %r500 = zext i32 %r499 to i64
  %r501 = shl i64 %r500, 32
  %r502 = zext i32 %r498 to i64
  %r503 = or i64 %r502, %r501
  %r504 = bitcast i64 %r503 to double
  %r505 = zext i1 %r493 to i32
  %r506 = call i32 @llvm.nvvm.shfl.sync.down.i32(i32 -1, i32 %r505, i32 16, i32 31)
  %r507 = trunc i32 %r506 to i1
  %r508 = call { double } @combine(double %r492, double %r504)
  %r509 = extractvalue { double } %r508, 0
  %r510 = select i1 %r507, double %r509, double %r492
  %r511 = select i1 %r493, double %r510, double %r504
  %r512 = or i1 %r493, %r507
  %r513 = icmp eq i32 %r46, 0
  br i1 %r513, label %L22, label %L23
L22:
  %r514 = bitcast double %r511 to i64
  %r515 = trunc i64 %r514 to i32
  %r516 = lshr i64 %r514, 32
  %r517 = trunc i64 %r516 to i32
  %r518 = mul i32 11, 2
  %r519 = add i32 %r518, 0
  %r520 = zext i32 %r519 to i64
  %r521 = getelementptr [25 x i32], [25 x i32] addrspace(3)* @scan_shared, i64 0, i64 %r520
  store i32 %r515, i32 addrspace(3)* %r521, align 4
  %r522 = mul i32 11, 2
  %r523 = add i32 %r522, 1
  %r524 = zext i32 %r523 to i64
  %r525 = getelementptr [25 x i32], [25 x i32] addrspace(3)* @scan_shared, i64 0, i64 %r524
  store i32 %r517, i32 addrspace(3)* %r525, align 4
  br label %L23
L23:
  br i1 %r364, label %L24, label %L25
L24:
  %r526 = icmp eq i32 %r46, 31
  %r527 = select i1 %r526, double %r336, double %r417
  %r528 = bitcast double %r527 to i64
  %r529 = trunc i64 %r528 to i32
  %r530 = lshr i64 %r528, 32
  %r531 = trunc i64 %r530 to i32
  %r532 = call i32 @llvm.nvvm.shfl.sync.down.i32(i32 -1, i32 %r529, i32 1, i32 31)
  %r533 = call i32 @llvm.nvvm.shfl.sync.down.i32(i32 -1, i32 %r531, i32 1, i32 31)
  %r534 = zext i32 %r533 to i64
  %r535 = shl i64 %r534, 32
  %r536 = zext i32 %r532 to i64
  %r537 = or i64 %r536, %r535
  %r538 = bitcast i64 %r537 to double
  %r539 = call { double } @combine(double %r527, double %r538)
  %r540 = extractvalue { double } %r539, 0
  %r541 = bitcast double %r540 to i64
  %r542 = trunc i64 %r541 to i32
  %r543 = lshr i64 %r541, 32
  %r544 = trunc i64 %r543 to i32
  %r545 = call i32 @llvm.nvvm.shfl.sync.down.i32(i32 -1, i32 %r542, i32 2, i32 31)
  %r546 = call i32 @llvm.nvvm.shfl.sync.down.i32(i32 -1, i32 %r544, i32 2, i32 31)
  %r547 = zext i32 %r546 to i64
  %r548 = shl i64 %r547, 32
  %r549 = zext i32 %r545 to i64
  %r550 = or i64 %r549, %r548
  %r551 = bitcast i64 %r550 to double
  %r552 = call { double } @combine(double %r540, double %r551)
  %r553 = extractvalue { double } %r552, 0
  %r554 = bitcast double %r553 to i64
  %r555 = trunc i64 %r554 to i32
  %r556 = lshr i64 %r554, 32
  %r557 = trunc i64 %r556 to i32
  %r558 = call i32 @llvm.nvvm.shfl.sync.down.i32(i32 -1, i32 %r555, i32 4, i32 31)
  %r559 = call i32 @llvm.nvvm.shfl.sync.down.i32(i32 -1, i32 %r557, i32 4, i32 31)
  %r560 = zext i32 %r559 to i64
  %r561 = shl i64 %r560, 32
  %r562 = zext i32 %r558 to i64
  %r563 = or i64 %r562, %r561
  %r564 = bitcast i64 %r563 to double
  %r565 = call { double } @combine(double %r553, double %r564)
  %r566 = extractvalue { double } %r565, 0
  %r567 = bitcast double %r566 to i64
  %r568 = trunc i64 %r567 to i32
  %r569 = lshr i64 %r567, 32
  %r570 = trunc i64 %r569 to i32
  %r571 = call i32 @llvm.nvvm.shfl.sync.down.i32(i32 -1, i32 %r568, i32 8, i32 31)
  %r572 = call i32 @llvm.nvvm.shfl.sync.down.i32(i32 -1, i32 %r570, i32 8, i32 31)
  %r573 = zext i32 %r572 to i64
  %r574 = shl i64 %r573, 32
  %r575 = zext i32 %r571 to i64
  %r576 = or i64 %r575, %r574
  %r577 = bitcast i64 %r576 to double
  %r578 = call { double } @combine(double %r566, double %r577)
  %r579 = extractvalue { double } %r578, 0
  %r580 = bitcast double %r579 to i64
  %r581 = trunc i64 %r580 to i32
  %r582 = lshr i64 %r580, 32
  %r583 = trunc i64 %r582 to i32
  %r584 = call i32 @llvm.nvvm.shfl.sync.down.i32(i32 -1, i32 %r581, i32 16, i32 31)
  %r585 = call i32 @llvm.nvvm.shfl.sync.down.i32(i32 -1, i32 %r583, i32 16, i32 31)
  %r586 = zext i32 %r585 to i64
  %r587 = shl i64 %r586, 32
  %r588 = zext i32 %r584 to i64
  %r589 = or i64 %r588, %r587
  %r590 = bitcast i64 %r589 to double
  %r591 = call { double } @combine(double %r579, double %r590)
  %r592 = extractvalue { double } %r591, 0
  %r593 = icmp eq i32 %r46, 0
  br i1 %r593, label %L26, label %L27
L26:
  %r594 = zext i32 %r359 to i64
  %r595 = add i64 %r351, %r594
  %r596 = mul i64 %r595, 16
  %r597 = add i64 %r596, %w14
  %r598 = bitcast double %r592 to i64
  %r599 = trunc i64 %r598 to i32
  %r600 = lshr i64 %r598, 32
  %r601 = trunc i64 %r600 to i32
  %r602 = zext i32 %r599 to i64
  %r603 = or i64 %r602, 4294967296
  %r604 = add i64 %r597, 0
  %r605 = inttoptr i64 %r604 to i64 addrspace(1)*
  store volatile i64 %r603, i64 addrspace(1)* %r605, align 8
  %r606 = zext i32 %r601 to i64
  %r607 = or i64 %r606, 4294967296
  %r608 = add i64 %r597, 8
  %r609 = inttoptr i64 %r608 to i64 addrspace(1)*
  store volatile i64 %r607, i64 addrspace(1)* %r609, align 8
  br label %L27
L27:
  br label %L25
L25:
  br label %L19
L19:
  %r610 = icmp eq i32 %r47, 1
  %r611 = icmp sgt i32 %r372, 0
  %r612 = and i1 %r610, %r611
  br i1 %r612, label %L28, label %L29
L28:
  %r613 = icmp slt i32 %r46, %r372
  %r614 = select i1 %r613, i32 %r46, i32 0
  %r615 = add i32 %r374, %r614
  %r616 = zext i32 %r615 to i64
  %r617 = add i64 %r346, %r616
  %r618 = mul i64 %r617, 16
  %r619 = add i64 %r618, %w13
  %r620 = add i64 %r619, 0
  %r621 = inttoptr i64 %r620 to i64 addrspace(1)*
  %r622 = add i64 %r619, 8
  %r623 = inttoptr i64 %r622 to i64 addrspace(1)*
  br label %L30
L30:
  %r624 = load volatile i64, i64 addrspace(1)* %r621, align 8
  %r625 = load volatile i64, i64 addrspace(1)* %r623, align 8
  %r626 = and i64 %r624, %r625
  %r627 = icmp ugt i64 %r626, 4294967295
  br i1 %r627, label %L31, label %L30
L31:
  %r628 = trunc i64 %r624 to i32
  %r629 = trunc i64 %r625 to i32
  %r630 = zext i32 %r629 to i64
  %r631 = shl i64 %r630, 32
  %r632 = zext i32 %r628 to i64
  %r633 = or i64 %r632, %r631
  %r634 = bitcast i64 %r633 to double
  call void @llvm.nvvm.bar.warp.sync(i32 -1)
  %r635 = bitcast double %r634 to i64
  %r636 = trunc i64 %r635 to i32
  %r637 = lshr i64 %r635, 32
  %r638 = trunc i64 %r637 to i32
  %r639 = call i32 @llvm.nvvm.shfl.sync.down.i32(i32 -1, i32 %r636, i32 1, i32 31)
  %r640 = call i32 @llvm.nvvm.shfl.sync.down.i32(i32 -1, i32 %r638, i32 1, i32 31)
  %r641 = zext i32 %r640 to i64
  %r642 = shl i64 %r641, 32
  %r643 = zext i32 %r639 to i64
  %r644 = or i64 %r643, %r642
  %r645 = bitcast i64 %r644 to double
  %r646 = call { double } @combine(double %r634, double %r645)
  %r647 = extractvalue { double } %r646, 0
  %r648 = bitcast double %r647 to i64
  %r649 = trunc i64 %r648 to i32
  %r650 = lshr i64 %r648, 32
  %r651 = trunc i64 %r650 to i32
  %r652 = call i32 @llvm.nvvm.shfl.sync.down.i32(i32 -1, i32 %r649, i32 2, i32 31)
  %r653 = call i32 @llvm.nvvm.shfl.sync.down.i32(i32 -1, i32 %r651, i32 2, i32 31)
  %r654 = zext i32 %r653 to i64
  %r655 = shl i64 %r654, 32
  %r656 = zext i32 %r652 to i64
  %r657 = or i64 %r656, %r655
  %r658 = bitcast i64 %r657 to double
  %r659 = call { double } @combine(double %r647, double %r658)
  %r660 = extractvalue { double } %r659, 0
  %r661 = bitcast double %r660 to i64
  %r662 = trunc i64 %r661 to i32
  %r663 = lshr i64 %r661, 32
  %r664 = trunc i64 %r663 to i32
  %r665 = call i32 @llvm.nvvm.shfl.sync.down.i32(i32 -1, i32 %r662, i32 4, i32 31)
  %r666 = call i32 @llvm.nvvm.shfl.sync.down.i32(i32 -1, i32 %r664, i32 4, i32 31)
  %r667 = zext i32 %r666 to i64
  %r668 = shl i64 %r667, 32
  %r669 = zext i32 %r665 to i64
  %r670 = or i64 %r669, %r668
  %r671 = bitcast i64 %r670 to double
  %r672 = call { double } @combine(double %r660, double %r671)
  %r673 = extractvalue { double } %r672, 0
  %r674 = bitcast double %r673 to i64
  %r675 = trunc i64 %r674 to i32
  %r676 = lshr i64 %r674, 32
  %r677 = trunc i64 %r676 to i32
  %r678 = call i32 @llvm.nvvm.shfl.sync.down.i32(i32 -1, i32 %r675, i32 8, i32 31)
  %r679 = call i32 @llvm.nvvm.shfl.sync.down.i32(i32 -1, i32 %r677, i32 8, i32 31)
  %r680 = zext i32 %r679 to i64
  %r681 = shl i64 %r680, 32
  %r682 = zext i32 %r678 to i64
  %r683 = or i64 %r682, %r681
  %r684 = bitcast i64 %r683 to double
  %r685 = call { double } @combine(double %r673, double %r684)
  %r686 = extractvalue { double } %r685, 0
  %r687 = bitcast double %r686 to i64
  %r688 = trunc i64 %r687 to i32
  %r689 = lshr i64 %r687, 32
  %r690 = trunc i64 %r689 to i32
  %r691 = call i32 @llvm.nvvm.shfl.sync.down.i32(i32 -1, i32 %r688, i32 16, i32 31)
  %r692 = call i32 @llvm.nvvm.shfl.sync.down.i32(i32 -1, i32 %r690, i32 16, i32 31)
  %r693 = zext i32 %r692 to i64
  %r694 = shl i64 %r693, 32
  %r695 = zext i32 %r691 to i64
  %r696 = or i64 %r695, %r694
  %r697 = bitcast i64 %r696 to double
  %r698 = call { double } @combine(double %r686, double %r697)
  %r699 = extractvalue { double } %r698, 0
  %r700 = icmp eq i32 %r46, 0
  br i1 %r700, label %L32, label %L33
L32:
  %r701 = bitcast double %r699 to i64
  %r702 = trunc i64 %r701 to i32
  %r703 = lshr i64 %r701, 32
  %r704 = trunc i64 %r703 to i32
  %r705 = mul i32 10, 2
  %r706 = add i32 %r705, 0
  %r707 = zext i32 %r706 to i64
  %r708 = getelementptr [25 x i32], [25 x i32] addrspace(3)* @scan_shared, i64 0, i64 %r707
  store i32 %r702, i32 addrspace(3)* %r708, align 4
  %r709 = mul i32 10, 2
  %r710 = add i32 %r709, 1
  %r711 = zext i32 %r710 to i64
  %r712 = getelementptr [25 x i32], [25 x i32] addrspace(3)* @scan_shared, i64 0, i64 %r711
  store i32 %r704, i32 addrspace(3)* %r712, align 4
  br label %L33
L33:
  br label %L29
L29:
  %r713 = icmp eq i32 %r47, 2
  %r714 = icmp sgt i32 %r370, 0
  %r715 = and i1 %r713, %r714
  br i1 %r715, label %L34, label %L35
L34:
  %r716 = icmp slt i32 %r46, %r370
  %r717 = select i1 %r716, i32 %r46, i32 0
  %r718 = add i32 %r371, %r717
  %r719 = zext i32 %r718 to i64
  %r720 = add i64 %r351, %r719
  %r721 = mul i64 %r720, 16
  %r722 = add i64 %r721, %w14
  %r723 = add i64 %r722, 0
  %r724 = inttoptr i64 %r723 to i64 addrspace(1)*
  %r725 = add i64 %r722, 8
  %r726 = inttoptr i64 %r725 to i64 addrspace(1)*
  br label %L36
L36:
  %r727 = load volatile i64, i64 addrspace(1)* %r724, align 8
  %r728 = load volatile i64, i64 addrspace(1)* %r726, align 8
  %r729 = and i64 %r727, %r728
  %r730 = icmp ugt i64 %r729, 4294967295
  br i1 %r730, label %L37, label %L36
L37:
  %r731 = trunc i64 %r727 to i32
  %r732 = trunc i64 %r728 to i32
  %r733 = zext i32 %r732 to i64
  %r734 = shl i64 %r733, 32
  %r735 = zext i32 %r731 to i64
  %r736 = or i64 %r735, %r734
  %r737 = bitcast i64 %r736 to double
  call void @llvm.nvvm.bar.warp.sync(i32 -1)
  %r738 = bitcast double %r737 to i64
  %r739 = trunc i64 %r738 to i32
  %r740 = lshr i64 %r738, 32
  %r741 = trunc i64 %r740 to i32
  %r742 = call i32 @llvm.nvvm.shfl.sync.down.i32(i32 -1, i32 %r739, i32 1, i32 31)
  %r743 = call i32 @llvm.nvvm.shfl.sync.down.i32(i32 -1, i32 %r741, i32 1, i32 31)
  %r744 = zext i32 %r743 to i64
  %r745 = shl i64 %r744, 32
  %r746 = zext i32 %r742 to i64
  %r747 = or i64 %r746, %r745
  %r748 = bitcast i64 %r747 to double
  %r749 = zext i1 %r716 to i32
  %r750 = call i32 @llvm.nvvm.shfl.sync.down.i32(i32 -1, i32 %r749, i32 1, i32 31)
  %r751 = trunc i32 %r750 to i1
  %r752 = call { double } @combine(double %r737, double %r748)
  %r753 = extractvalue { double } %r752, 0
  %r754 = select i1 %r751, double %r753, double %r737
  %r755 = select i1 %r716, double %r754, double %r748
  %r756 = or i1 %r716, %r751
  %r757 = bitcast double %r755 to i64
  %r758 = trunc i64 %r757 to i32
  %r759 = lshr i64 %r757, 32
  %r760 = trunc i64 %r759 to i32
  %r761 = call i32 @llvm.nvvm.shfl.sync.down.i32(i32 -1, i32 %r758, i32 2, i32 31)
  %r762 = call i32 @llvm.nvvm.shfl.sync.down.i32(i32 -1, i32 %r760, i32 2, i32 31)
  %r763 = zext i32 %r762 to i64
  %r764 = shl i64 %r763, 32
  %r765 = zext i32 %r761 to i64
  %r766 = or i64 %r765, %r764
  %r767 = bitcast i64 %r766 to double
  %r768 = zext i1 %r756 to i32
  %r769 = call i32 @llvm.nvvm.shfl.sync.down.i32(i32 -1, i32 %r768, i32 2, i32 31)
  %r770 = trunc i32 %r769 to i1
  %r771 = call { double } @combine(double %r755, double %r767)
  %r772 = extractvalue { double } %r771, 0
  %r773 = select i1 %r770, double %r772, double %r755
  %r774 = select i1 %r756, double %r773, double %r767
  %r775 = or i1 %r756, %r770
  %r776 = bitcast double %r774 to i64
  %r777 = trunc i64 %r776 to i32
  %r778 = lshr i64 %r776, 32
  %r779 = trunc i64 %r778 to i32
  %r780 = call i32 @llvm.nvvm.shfl.sync.down.i32(i32 -1, i32 %r777, i32 4, i32 31)
  %r781 = call i32 @llvm.nvvm.shfl.sync.down.i32(i32 -1, i32 %r779, i32 4, i32 31)
  %r782 = zext i32 %r781 to i64
  %r783 = shl i64 %r782, 32
  %r784 = zext i32 %r780 to i64
  %r785 = or i64 %r784, %r783
  %r786 = bitcast i64 %r785 to double
  %r787 = zext i1 %r775 to i32
  %r788 = call i32 @llvm.nvvm.shfl.sync.down.i32(i32 -1, i32 %r787, i32 4, i32 31)
  %r789 = trunc i32 %r788 to i1
  %r790 = call { double } @combine(double %r774, double %r786)
  %r791 = extractvalue { double } %r790, 0
  %r792 = select i1 %r789, double %r791, double %r774
  %r793 = select i1 %r775, double %r792, double %r786
  %r794 = or i1 %r775, %r789
  %r795 = bitcast double %r793 to i64
  %r796 = trunc i64 %r795 to i32
  %r797 = lshr i64 %r795, 32
  %r798 = trunc i64 %r797 to i32
  %r799 = call i32 @llvm.nvvm.shfl.sync.down.i32(i32 -1, i32 %r796, i32 8, i32 31)
  %r800 = call i32 @llvm.nvvm.shfl.sync.down.i32(i32 -1, i32 %r798, i32 8, i32 31)
  %r801 = zext i32 %r800 to i64
  %r802 = shl i64 %r801, 32
  %r803 = zext i32 %r799 to i64
  %r804 = or i64 %r803, %r802
  %r805 = bitcast i64 %r804 to double
  %r806 = zext i1 %r794 to i32
  %r807 = call i32 @llvm.nvvm.shfl.sync.down.i32(i32 -1, i32 %r806, i32 8, i32 31)
  %r808 = trunc i32 %r807 to i1
  %r809 = call { double } @combine(double %r793, double %r805)
  %r810 = extractvalue { double } %r809, 0
  %r811 = select i1 %r808, double %r810, double %r793
  %r812 = select i1 %r794, double %r811, double %r805
  %r813 = or i1 %r794, %r808
  %r814 = bitcast double %r812 to i64
  %r815 = trunc i64 %r814 to i32
  %r816 = lshr i64 %r814, 32
  %r817 = trunc i64 %r816 to i32
  %r818 = call i32 @llvm.nvvm.shfl.sync.down.i32(i32 -1, i32 %r815, i32 16, i32 31)
  %r819 = call i32 @llvm.nvvm.shfl.sync.down.i32(i32 -1, i32 %r817, i32 16, i32 31)
  %r820 = zext i32 %r819 to i64
  %r821 = shl i64 %r820, 32
  %r822 = zext i32 %r818 to i64
  %r823 = or i64 %r822, %r821
  %r824 = bitcast i64 %r823 to double
  %r825 = zext i1 %r813 to i32
  %r826 = call i32 @llvm.nvvm.shfl.sync.down.i32(i32 -1, i32 %r825, i32 16, i32 31)
  %r827 = trunc i32 %r826 to i1
  %r828 = call { double } @combine(double %r812, double %r824)
  %r829 = extractvalue { double } %r828, 0
  %r830 = select i1 %r827, double %r829, double %r812
  %r831 = select i1 %r813, double %r830, double %r824
  %r832 = or i1 %r813, %r827
  %r833 = icmp eq i32 %r46, 0
  br i1 %r833, label %L38, label %L39
L38:
  %r834 = bitcast double %r831 to i64
  %r835 = trunc i64 %r834 to i32
  %r836 = lshr i64 %r834, 32
  %r837 = trunc i64 %r836 to i32
  %r838 = mul i32 9, 2
  %r839 = add i32 %r838, 0
  %r840 = zext i32 %r839 to i64
  %r841 = getelementptr [25 x i32], [25 x i32] addrspace(3)* @scan_shared, i64 0, i64 %r840
  store i32 %r835, i32 addrspace(3)* %r841, align 4
  %r842 = mul i32 9, 2
  %r843 = add i32 %r842, 1
  %r844 = zext i32 %r843 to i64
  %r845 = getelementptr [25 x i32], [25 x i32] addrspace(3)* @scan_shared, i64 0, i64 %r844
  store i32 %r837, i32 addrspace(3)* %r845, align 4
  br label %L39
L39:
  br label %L35
L35:
  %r846 = icmp eq i32 %r47, 3
  %r847 = icmp sgt i32 %r368, 0
  %r848 = and i1 %r846, %r847
  br i1 %r848, label %L40, label %L41
L40:
  %r849 = icmp slt i32 %r46, %r368
  %r850 = select i1 %r849, i32 %r46, i32 0
  %r851 = add i32 %r369, %r850
  %r852 = zext i32 %r851 to i64
  %r853 = add i64 %r356, %r852
  %r854 = mul i64 %r853, 16
  %r855 = add i64 %r854, %w15
  %r856 = add i64 %r855, 0
  %r857 = inttoptr i64 %r856 to i64 addrspace(1)*
  %r858 = add i64 %r855, 8
  %r859 = inttoptr i64 %r858 to i64 addrspace(1)*
  br label %L42
L42:
  %r860 = load volatile i64, i64 addrspace(1)* %r857, align 8
  %r861 = load volatile i64, i64 addrspace(1)* %r859, align 8
  %r862 = and i64 %r860, %r861
  %r863 = icmp ugt i64 %r862, 4294967295
  br i1 %r863, label %L43, label %L42
L43:
  %r864 = trunc i64 %r860 to i32
  %r865 = trunc i64 %r861 to i32
  %r866 = zext i32 %r865 to i64
  %r867 = shl i64 %r866, 32
  %r868 = zext i32 %r864 to i64
  %r869 = or i64 %r868, %r867
  %r870 = bitcast i64 %r869 to double
  call void @llvm.nvvm.bar.warp.sync(i32 -1)
  %r871 = icmp eq i32 %r46, 0
  br i1 %r871, label %L44, label %L45
L44:
  %r872 = bitcast double %r870 to i64
  %r873 = trunc i64 %r872 to i32
  %r874 = lshr i64 %r872, 32
  %r875 = trunc i64 %r874 to i32
  %r876 = mul i32 8, 2
  %r877 = add i32 %r876, 0
  %r878 = zext i32 %r877 to i64
  %r879 = getelementptr [25 x i32], [25 x i32] addrspace(3)* @scan_shared, i64 0, i64 %r878
  store i32 %r873, i32 addrspace(3)* %r879, align 4
  %r880 = mul i32 8, 2
  %r881 = add i32 %r880, 1
  %r882 = zext i32 %r881 to i64
  %r883 = getelementptr [25 x i32], [25 x i32] addrspace(3)* @scan_shared, i64 0, i64 %r882
  store i32 %r875, i32 addrspace(3)* %r883, align 4
  br label %L45
L45:
  br label %L41
L41:
  call void @llvm.nvvm.barrier0()
  %r884 = icmp sgt i32 %r368, 0
  %r885 = mul i32 8, 2
  %r886 = add i32 %r885, 0
  %r887 = zext i32 %r886 to i64
  %r888 = getelementptr [25 x i32], [25 x i32] addrspace(3)* @scan_shared, i64 0, i64 %r887
  %r889 = load i32, i32 addrspace(3)* %r888, align 4
  %r890 = mul i32 8, 2
  %r891 = add i32 %r890, 1
  %r892 = zext i32 %r891 to i64
  %r893 = getelementptr [25 x i32], [25 x i32] addrspace(3)* @scan_shared, i64 0, i64 %r892
  %r894 = load i32, i32 addrspace(3)* %r893, align 4
  %r895 = zext i32 %r894 to i64
  %r896 = shl i64 %r895, 32
  %r897 = zext i32 %r889 to i64
  %r898 = or i64 %r897, %r896
  %r899 = bitcast i64 %r898 to double
  %r900 = select i1 %r884, double %r899, double %r336
  %r901 = icmp sgt i32 %r370, 0
  %r902 = mul i32 9, 2
  %r903 = add i32 %r902, 0
  %r904 = zext i32 %r903 to i64
  %r905 = getelementptr [25 x i32], [25 x i32] addrspace(3)* @scan_shared, i64 0, i64 %r904
  %r906 = load i32, i32 addrspace(3)* %r905, align 4
  %r907 = mul i32 9, 2
  %r908 = add i32 %r907, 1
  %r909 = zext i32 %r908 to i64
  %r910 = getelementptr [25 x i32], [25 x i32] addrspace(3)* @scan_shared, i64 0, i64 %r909
  %r911 = load i32, i32 addrspace(3)* %r910, align 4
  %r912 = zext i32 %r911 to i64
  %r913 = shl i64 %r912, 32
  %r914 = zext i32 %r906 to i64
  %r915 = or i64 %r914, %r913
  %r916 = bitcast i64 %r915 to double
  %r917 = select i1 %r901, double %r916, double %r336
  %r918 = call { double } @combine(double %r900, double %r917)
  %r919 = extractvalue { double } %r918, 0
  %r920 = select i1 %r901, double %r919, double %r900
  %r921 = select i1 %r884, double %r920, double %r917
  %r922 = or i1 %r884, %r901
  %r923 = icmp sgt i32 %r372, 0
  %r924 = mul i32 10, 2
  %r925 = add i32 %r924, 0
  %r926 = zext i32 %r925 to i64
  %r927 = getelementptr [25 x i32], [25 x i32] addrspace(3)* @scan_shared, i64 0, i64 %r926
  %r928 = load i32, i32 addrspace(3)* %r927, align 4
  %r929 = mul i32 10, 2
  %r930 = add i32 %r929, 1
  %r931 = zext i32 %r930 to i64
  %r932 = getelementptr [25 x i32], [25 x i32] addrspace(3)* @scan_shared, i64 0, i64 %r931
  %r933 = load i32, i32 addrspace(3)* %r932, align 4
  %r934 = zext i32 %r933 to i64
  %r935 = shl i64 %r934, 32
  %r936 = zext i32 %r928 to i64
  %r937 = or i64 %r936, %r935
  %r938 = bitcast i64 %r937 to double
  %r939 = select i1 %r923, double %r938, double %r336
  %r940 = call { double } @combine(double %r921, double %r939)
  %r941 = extractvalue { double } %r940, 0
  %r942 = select i1 %r923, double %r941, double %r921
  %r943 = select i1 %r922, double %r942, double %r939
  %r944 = or i1 %r922, %r923
  %r945 = icmp sgt i32 %r361, 0
  %r946 = mul i32 11, 2
  %r947 = add i32 %r946, 0
  %r948 = zext i32 %r947 to i64
  %r949 = getelementptr [25 x i32], [25 x i32] addrspace(3)* @scan_shared, i64 0, i64 %r948
  %r950 = load i32, i32 addrspace(3)* %r949, align 4
  %r951 = mul i32 11, 2
  %r952 = add i32 %r951, 1
  %r953 = zext i32 %r952 to i64
  %r954 = getelementptr [25 x i32], [25 x i32] addrspace(3)* @scan_shared, i64 0, i64 %r953
  %r955 = load i32, i32 addrspace(3)* %r954, align 4
  %r956 = zext i32 %r955 to i64
  %r957 = shl i64 %r956, 32
  %r958 = zext i32 %r950 to i64
  %r959 = or i64 %r958, %r957
  %r960 = bitcast i64 %r959 to double
  %r961 = select i1 %r945, double %r960, double %r336
  %r962 = call { double } @combine(double %r943, double %r961)
  %r963 = extractvalue { double } %r962, 0
  %r964 = select i1 %r945, double %r963, double %r943
  %r965 = select i1 %r944, double %r964, double %r961
  %r966 = or i1 %r944, %r945
  %r967 = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %r968 = icmp eq i32 %r967, 0
  %r969 = and i1 %r968, %r366
  br i1 %r969, label %L46, label %L47
L46:
  %r970 = call { double } @combine(double %r965, double %r336)
  %r971 = extractvalue { double } %r970, 0
  %r972 = select i1 %r966, double %r971, double %r336
  %r973 = zext i32 %r360 to i64
  %r974 = add i64 %r356, %r973
  %r975 = mul i64 %r974, 16
  %r976 = add i64 %r975, %w15
  %r977 = bitcast double %r972 to i64
  %r978 = trunc i64 %r977 to i32
  %r979 = lshr i64 %r977, 32
  %r980 = trunc i64 %r979 to i32
  %r981 = zext i32 %r978 to i64
  %r982 = or i64 %r981, 4294967296
  %r983 = add i64 %r976, 0
  %r984 = inttoptr i64 %r983 to i64 addrspace(1)*
  store volatile i64 %r982, i64 addrspace(1)* %r984, align 8
  %r985 = zext i32 %r980 to i64
  %r986 = or i64 %r985, 4294967296
  %r987 = add i64 %r976, 8
  %r988 = inttoptr i64 %r987 to i64 addrspace(1)*
  store volatile i64 %r986, i64 addrspace(1)* %r988, align 8
  br label %L47
L47:
  store double %r965, double* %r22
  store i1 %r966, i1* %r23
  br label %L15
L15:
  %r989 = load double, double* %r22
  %r990 = load i1, i1* %r23
  %r991 = call { double } @combine(double %r989, double %r334)
  %r992 = extractvalue { double } %r991, 0
  %r993 = select i1 %r337, double %r992, double %r989
  %r994 = select i1 %r990, double %r993, double %r334
  %r995 = or i1 %r990, %r337
  %r996 = call { double } @combine(double %r994, double %r175)
  %r997 = extractvalue { double } %r996, 0
  %r998 = select i1 %r176, double %r997, double %r994
  %r999 = select i1 %r995, double %r998, double %r175
  %r1000 = or i1 %r995, %r176
  %r1001 = call { double } @combine(double %r999, double %r74)
  %r1002 = extractvalue { double } %r1001, 0
  %r1003 = select i1 %r1000, double %r1002, double %r74
  %r1004 = add i64 %r54, 1
  %r1005 = call { double } @finish(double %r1003, i64 %r1004)
  %r1006 = extractvalue { double } %r1005, 0
  %r1007 = call { double } @combine(double %r999, double %r78)
  %r1008 = extractvalue { double } %r1007, 0
  %r1009 = select i1 %r1000, double %r1008, double %r78
  %r1010 = add i64 %r54, 2
  %r1011 = call { double } @finish(double %r1009, i64 %r1010)
  %r1012 = extractvalue { double } %r1011, 0
  %r1013 = getelementptr inbounds double, double addrspace(1)* %r45, i64 %r54
  br i1 %r58, label %L48, label %L49
L48:
  %r1014 = bitcast double addrspace(1)* %r1013 to <2 x double> addrspace(1)*
  %r1015 = insertelement <2 x double> undef, double %r1006, i32 0
  %r1016 = insertelement <2 x double> %r1015, double %r1012, i32 1
  store <2 x double> %r1016, <2 x double> addrspace(1)* %r1014, align 16
  br label %L50
L49:
  %r1017 = select i1 true, i64 %r55, i64 0
  %r1018 = icmp sgt i64 %r1017, 0
  br i1 %r1018, label %L51, label %L52
L51:
  store double %r1006, double addrspace(1)* %r1013, align 8
  br label %L52
L52:
  %r1019 = icmp sgt i64 %r1017, 1
  br i1 %r1019, label %L53, label %L54
L53:
  %r1020 = getelementptr inbounds double, double addrspace(1)* %r1013, i64 1
  store double %r1012, double addrspace(1)* %r1020, align 8
  br label %L54
L54:
  br label %L50
L50:
  ret void
}
declare i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
@scan_shared = internal addrspace(3) global [25 x i32] undef, align 16
declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
declare void @llvm.nvvm.barrier0() convergent nounwind
declare i32 @llvm.nvvm.mulhi.ui(i32, i32)
declare i32 @llvm.nvvm.shfl.sync.up.i32(i32, i32, i32, i32) convergent nounwind
declare i32 @llvm.nvvm.shfl.sync.idx.i32(i32, i32, i32, i32) convergent nounwind
declare void @llvm.nvvm.bar.warp.sync(i32) convergent nounwind
declare i32 @llvm.nvvm.shfl.sync.down.i32(i32, i32, i32, i32) convergent nounwind

!nvvm.annotations = !{!1}
!nvvmir.version = !{!2}
!1 = !{void (double addrspace(1)*, double addrspace(1)*, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64)* @uf_mean, !"kernel", i32 1, !"maxntidx", i32 256}
!2 = !{i32 2, i32 0, i32 3, i32 1}
