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
  %r27 = zext i32 18 to i64
  %r28 = getelementptr [19 x i32], [19 x i32] addrspace(3)* @scan_shared, i64 0, i64 %r27
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
  %r185 = getelementptr [19 x i32], [19 x i32] addrspace(3)* @scan_shared, i64 0, i64 %r184
  store i32 %r179, i32 addrspace(3)* %r185, align 4
  %r186 = mul i32 %r47, 2
  %r187 = add i32 %r186, 1
  %r188 = zext i32 %r187 to i64
  %r189 = getelementptr [19 x i32], [19 x i32] addrspace(3)* @scan_shared, i64 0, i64 %r188
  store i32 %r181, i32 addrspace(3)* %r189, align 4
  br label %L13
L13:
  call void @llvm.nvvm.barrier0()
  %r190 = mul i32 0, 2
  %r191 = add i32 %r190, 0
  %r192 = zext i32 %r191 to i64
  %r193 = getelementptr [19 x i32], [19 x i32] addrspace(3)* @scan_shared, i64 0, i64 %r192
  %r194 = load i32, i32 addrspace(3)* %r193, align 4
  %r195 = mul i32 0, 2
  %r196 = add i32 %r195, 1
  %r197 = zext i32 %r196 to i64
  %r198 = getelementptr [19 x i32], [19 x i32] addrspace(3)* @scan_shared, i64 0, i64 %r197
  %r199 = load i32, i32 addrspace(3)* %r198, align 4
  %r200 = zext i32 %r199 to i64
  %r201 = shl i64 %r200, 32
  %r202 = zext i32 %r194 to i64
  %r203 = or i64 %r202, %r201
  %r204 = bitcast i64 %r203 to double
  %r205 = mul i32 1, 2
  %r206 = add i32 %r205, 0
  %r207 = zext i32 %r206 to i64
  %r208 = getelementptr [19 x i32], [19 x i32] addrspace(3)* @scan_shared, i64 0, i64 %r207
  %r209 = load i32, i32 addrspace(3)* %r208, align 4
  %r210 = mul i32 1, 2
  %r211 = add i32 %r210, 1
  %r212 = zext i32 %r211 to i64
  %r213 = getelementptr [19 x i32], [19 x i32] addrspace(3)* @scan_shared, i64 0, i64 %r212
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
  %r226 = getelementptr [19 x i32], [19 x i32] addrspace(3)* @scan_shared, i64 0, i64 %r225
  %r227 = load i32, i32 addrspace(3)* %r226, align 4
  %r228 = mul i32 2, 2
  %r229 = add i32 %r228, 1
  %r230 = zext i32 %r229 to i64
  %r231 = getelementptr [19 x i32], [19 x i32] addrspace(3)* @scan_shared, i64 0, i64 %r230
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
  %r245 = getelementptr [19 x i32], [19 x i32] addrspace(3)* @scan_shared, i64 0, i64 %r244
  %r246 = load i32, i32 addrspace(3)* %r245, align 4
  %r247 = mul i32 3, 2
  %r248 = add i32 %r247, 1
  %r249 = zext i32 %r248 to i64
  %r250 = getelementptr [19 x i32], [19 x i32] addrspace(3)* @scan_shared, i64 0, i64 %r249
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
  %r264 = getelementptr [19 x i32], [19 x i32] addrspace(3)* @scan_shared, i64 0, i64 %r263
  %r265 = load i32, i32 addrspace(3)* %r264, align 4
  %r266 = mul i32 4, 2
  %r267 = add i32 %r266, 1
  %r268 = zext i32 %r267 to i64
  %r269 = getelementptr [19 x i32], [19 x i32] addrspace(3)* @scan_shared, i64 0, i64 %r268
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
  %r283 = getelementptr [19 x i32], [19 x i32] addrspace(3)* @scan_shared, i64 0, i64 %r282
  %r284 = load i32, i32 addrspace(3)* %r283, align 4
  %r285 = mul i32 5, 2
  %r286 = add i32 %r285, 1
  %r287 = zext i32 %r286 to i64
  %r288 = getelementptr [19 x i32], [19 x i32] addrspace(3)* @scan_shared, i64 0, i64 %r287
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
  %r302 = getelementptr [19 x i32], [19 x i32] addrspace(3)* @scan_shared, i64 0, i64 %r301
  %r303 = load i32, i32 addrspace(3)* %r302, align 4
  %r304 = mul i32 6, 2
  %r305 = add i32 %r304, 1
  %r306 = zext i32 %r305 to i64
  %r307 = getelementptr [19 x i32], [19 x i32] addrspace(3)* @scan_shared, i64 0, i64 %r306
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
  %r321 = getelementptr [19 x i32], [19 x i32] addrspace(3)* @scan_shared, i64 0, i64 %r320
  %r322 = load i32, i32 addrspace(3)* %r321, align 4
  %r323 = mul i32 7, 2
  %r324 = add i32 %r323, 1
  %r325 = zext i32 %r324 to i64
  %r326 = getelementptr [19 x i32], [19 x i32] addrspace(3)* @scan_shared, i64 0, i64 %r325
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
  store i1 true, i1* %r23
  %r338 = icmp ne i64 %w12, 0
  br i1 %r338, label %L14, label %L15
L14:
  %r339 = icmp eq i32 %r47, 0
  br i1 %r339, label %L16, label %L17
L16:
  %r340 = add i32 %r13, 31
  %r341 = lshr i32 %r340, 5
  %r342 = add i32 %r341, 31
  %r343 = lshr i32 %r342, 5
  %r344 = call i32 @llvm.nvvm.mulhi.ui(i32 %r34, i32 %r15)
  %r345 = add i32 %r344, %r34
  %r346 = lshr i32 %r345, %r16
  %r347 = mul i32 %r346, %r14
  %r348 = sub i32 %r34, %r347
  %r349 = zext i32 %r346 to i64
  %r350 = zext i32 %r13 to i64
  %r351 = mul i64 %r349, %r350
  %r352 = zext i32 %r341 to i64
  %r353 = mul i64 %r349, %r352
  %r354 = zext i32 %r343 to i64
  %r355 = mul i64 %r349, %r354
  %r356 = and i32 %r40, 31
  %r357 = lshr i32 %r40, 5
  %r358 = and i32 %r357, 31
  %r359 = lshr i32 %r357, 5
  %r360 = lshr i32 %r40, 5
  %r361 = and i32 %r40, -32
  %r362 = and i32 %r360, -32
  %r363 = icmp eq i32 %r356, 31
  %r364 = icmp eq i32 %r358, 31
  %r365 = and i1 %r363, %r364
  %r366 = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %r367 = and i32 %r366, 31
  %r368 = icmp eq i32 %r367, 0
  %r369 = and i1 %r368, true
  br i1 %r369, label %L18, label %L19
L18:
  %r370 = zext i32 %r40 to i64
  %r371 = add i64 %r351, %r370
  %r372 = bitcast double %r336 to i64
  %r373 = trunc i64 %r372 to i32
  %r374 = lshr i64 %r372, 32
  %r375 = trunc i64 %r374 to i32
  %r376 = zext i32 %r373 to i64
  %r377 = or i64 %r376, 4294967296
  %r378 = mul i64 %r371, 16
  %r379 = add i64 %r378, %w13
  %r380 = add i64 %r379, 0
  %r381 = inttoptr i64 %r380 to i64 addrspace(1)*
  store volatile i64 %r377, i64 addrspace(1)* %r381, align 8
  %r382 = zext i32 %r375 to i64
  %r383 = or i64 %r382, 4294967296
  %r384 = mul i64 %r371, 16
  %r385 = add i64 %r384, %w13
  %r386 = add i64 %r385, 8
  %r387 = inttoptr i64 %r386 to i64 addrspace(1)*
  store volatile i64 %r383, i64 addrspace(1)* %r387, align 8
  br label %L19
L19:
  store double %r336, double* %r22
  store i1 false, i1* %r23
  %r388 = icmp ne i32 %r356, 0
  br i1 %r388, label %L20, label %L21
L20:
  %r389 = load double, double* %r22
  %r390 = load i1, i1* %r23
  %r391 = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %r392 = and i32 %r391, 31
  %r393 = icmp ult i32 %r392, %r356
  %r394 = select i1 %r393, i32 %r392, i32 0
  %r395 = add i32 %r361, %r394
  %r396 = zext i32 %r395 to i64
  %r397 = add i64 %r351, %r396
  %r398 = mul i64 %r397, 16
  %r399 = add i64 %r398, %w13
  %r400 = add i64 %r399, 0
  %r401 = inttoptr i64 %r400 to i64 addrspace(1)*
  %r402 = mul i64 %r397, 16
  %r403 = add i64 %r402, %w13
  %r404 = add i64 %r403, 8
  %r405 = inttoptr i64 %r404 to i64 addrspace(1)*
  br label %L22
L22:
  %r406 = load volatile i64, i64 addrspace(1)* %r401, align 8
  %r407 = load volatile i64, i64 addrspace(1)* %r405, align 8
  %r408 = and i64 %r406, %r407
  %r409 = icmp ugt i64 %r408, 4294967295
  br i1 %r409, label %L23, label %L22
L23:
  %r410 = trunc i64 %r406 to i32
  %r411 = trunc i64 %r407 to i32
  %r412 = zext i32 %r411 to i64
  %r413 = shl i64 %r412, 32
  %r414 = zext i32 %r410 to i64
  %r415 = or i64 %r414, %r413
  %r416 = bitcast i64 %r415 to double
  call void @llvm.nvvm.bar.warp.sync(i32 -1)
  %r417 = bitcast double %r416 to i64
  %r418 = trunc i64 %r417 to i32
  %r419 = lshr i64 %r417, 32
  %r420 = trunc i64 %r419 to i32
  %r421 = call i32 @llvm.nvvm.shfl.sync.down.i32(i32 -1, i32 %r418, i32 1, i32 31)
  %r422 = call i32 @llvm.nvvm.shfl.sync.down.i32(i32 -1, i32 %r420, i32 1, i32 31)
  %r423 = zext i32 %r422 to i64
  %r424 = shl i64 %r423, 32
  %r425 = zext i32 %r421 to i64
  %r426 = or i64 %r425, %r424
  %r427 = bitcast i64 %r426 to double
  %r428 = zext i1 %r393 to i32
  %r429 = call i32 @llvm.nvvm.shfl.sync.down.i32(i32 -1, i32 %r428, i32 1, i32 31)
  %r430 = trunc i32 %r429 to i1
  %r431 = call { double } @combine(double %r416, double %r427)
  %r432 = extractvalue { double } %r431, 0
  %r433 = select i1 %r430, double %r432, double %r416
  %r434 = select i1 %r393, double %r433, double %r427
  %r435 = or i1 %r393, %r430
  %r436 = bitcast double %r434 to i64
  %r437 = trunc i64 %r436 to i32
  %r438 = lshr i64 %r436, 32
  %r439 = trunc i64 %r438 to i32
  %r440 = call i32 @llvm.nvvm.shfl.sync.down.i32(i32 -1, i32 %r437, i32 2, i32 31)
  %r441 = call i32 @llvm.nvvm.shfl.sync.down.i32(i32 -1, i32 %r439, i32 2, i32 31)
  %r442 = zext i32 %r441 to i64
  %r443 = shl i64 %r442, 32
  %r444 = zext i32 %r440 to i64
  %r445 = or i64 %r444, %r443
  %r446 = bitcast i64 %r445 to double
  %r447 = zext i1 %r435 to i32
  %r448 = call i32 @llvm.nvvm.shfl.sync.down.i32(i32 -1, i32 %r447, i32 2, i32 31)
  %r449 = trunc i32 %r448 to i1
  %r450 = call { double } @combine(double %r434, double %r446)
  %r451 = extractvalue { double } %r450, 0
  %r452 = select i1 %r449, double %r451, double %r434
  %r453 = select i1 %r435, double %r452, double %r446
  %r454 = or i1 %r435, %r449
  %r455 = bitcast double %r453 to i64
  %r456 = trunc i64 %r455 to i32
  %r457 = lshr i64 %r455, 32
  %r458 = trunc i64 %r457 to i32
  %r459 = call i32 @llvm.nvvm.shfl.sync.down.i32(i32 -1, i32 %r456, i32 4, i32 31)
  %r460 = call i32 @llvm.nvvm.shfl.sync.down.i32(i32 -1, i32 %r458, i32 4, i32 31)
  %r461 = zext i32 %r460 to i64
  %r462 = shl i64 %r461, 32
  %r463 = zext i32 %r459 to i64
  %r464 = or i64 %r463, %r462
  %r465 = bitcast i64 %r464 to double
  %r466 = zext i1 %r454 to i32
  %r467 = call i32 @llvm.nvvm.shfl.sync.down.i32(i32 -1, i32 %r466, i32 4, i32 31)
  %r468 = trunc i32 %r467 to i1
  %r469 = call { double } @combine(double %r453, double %r465)
  %r470 = extractvalue { double } %r469, 0
  %r471 = select i1 %r468, double %r470, double %r453
  %r472 = select i1 %r454, double %r471, double %r465
  %r473 = or i1 %r454, %r468
  %r474 = bitcast double %r472 to i64
  %r475 = trunc i64 %r474 to i32
  %r476 = lshr i64 %r474, 32
  %r477 = trunc i64 %r476 to i32
  %r478 = call i32 @llvm.nvvm.shfl.sync.down.i32(i32 -1, i32 %r475, i32 8, i32 31)
  %r479 = call i32 @llvm.nvvm.shfl.sync.down.i32(i32 -1, i32 %r477, i32 8, i32 31)
  %r480 = zext i32 %r479 to i64
  %r481 = shl i64 %r480, 32
  %r482 = zext i32 %r478 to i64
  %r483 = or i64 %r482, %r481
  %r484 = bitcast i64 %r483 to double
  %r485 = zext i1 %r473 to i32
  %r486 = call i32 @llvm.nvvm.shfl.sync.down.i32(i32 -1, i32 %r485, i32 8, i32 31)
  %r487 = trunc i32 %r486 to i1
  %r488 = call { double } @combine(double %r472, double %r484)
  %r489 = extractvalue { double } %r488, 0
  %r490 = select i1 %r487, double %r489, double %r472
  %r491 = select i1 %r473, double %r490, double %r484
  %r492 = or i1 %r473, %r487
  %r493 = bitcast double %r491 to i64
  %r494 = trunc i64 %r493 to i32
  %r495 = lshr i64 %r493, 32
  %r496 = trunc i64 %r495 to i32
  %r497 = call i32 @llvm.nvvm.shfl.sync.down.i32(i32 -1, i32 %r494, i32 16, i32 31)
  %r498 = call i32 @llvm.nvvm.shfl.sync.down.i32(i32 -1, i32 %r496, i32 16, i32 31)
  %r499 = zext i32 %r498 to i64
  %r500 = shl i64 %r499, 32
  %r501 = zext i32 %r497 to i64
  %r502 = or i64 %r501, %r500
  %r503 = bitcast i64 %r502 to double
  %r504 = zext i1 %r492 to i32
  %r505 = call i32 @llvm.nvvm.shfl.sync.down.i32(i32 -1, i32 %r504, i32 16, i32 31)
  %r506 = trunc i32 %r505 to i1
  %r507 = call { double } @combine(double %r491, double %r503)
  %r508 = extractvalue { double } %r507, 0
  %r509 = select i1 %r506, double %r508, double %r491
  %r510 = select i1 %r492, double %r509, double %r503
  %r511 = or i1 %r492, %r506
  %r512 = call { double } @combine(double %r510, double %r389)
  %r513 = extractvalue { double } %r512, 0
  %r514 = select i1 %r390, double %r513, double %r510
  store double %r514, double* %r22
  store i1 true, i1* %r23
  br label %L21
L21:
  %r515 = load double, double* %r22
  %r516 = load i1, i1* %r23
  %r517 = call { double } @combine(double %r515, double %r336)
  %r518 = extractvalue { double } %r517, 0
  %r519 = select i1 %r516, double %r518, double %r336
  %r520 = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %r521 = and i32 %r520, 31
  %r522 = icmp eq i32 %r521, 0
  %r523 = and i1 %r522, %r363
  br i1 %r523, label %L24, label %L25
L24:
  %r524 = zext i32 %r360 to i64
  %r525 = add i64 %r353, %r524
  %r526 = bitcast double %r519 to i64
  %r527 = trunc i64 %r526 to i32
  %r528 = lshr i64 %r526, 32
  %r529 = trunc i64 %r528 to i32
  %r530 = zext i32 %r527 to i64
  %r531 = or i64 %r530, 4294967296
  %r532 = mul i64 %r525, 16
  %r533 = add i64 %r532, %w14
  %r534 = add i64 %r533, 0
  %r535 = inttoptr i64 %r534 to i64 addrspace(1)*
  store volatile i64 %r531, i64 addrspace(1)* %r535, align 8
  %r536 = zext i32 %r529 to i64
  %r537 = or i64 %r536, 4294967296
  %r538 = mul i64 %r525, 16
  %r539 = add i64 %r538, %w14
  %r540 = add i64 %r539, 8
  %r541 = inttoptr i64 %r540 to i64 addrspace(1)*
  store volatile i64 %r537, i64 addrspace(1)* %r541, align 8
  br label %L25
L25:
  %r542 = icmp ne i32 %r358, 0
  br i1 %r542, label %L26, label %L27
L26:
  %r543 = load double, double* %r22
  %r544 = load i1, i1* %r23
  %r545 = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %r546 = and i32 %r545, 31
  %r547 = icmp ult i32 %r546, %r358
  %r548 = select i1 %r547, i32 %r546, i32 0
  %r549 = add i32 %r362, %r548
  %r550 = zext i32 %r549 to i64
  %r551 = add i64 %r353, %r550
  %r552 = mul i64 %r551, 16
  %r553 = add i64 %r552, %w14
  %r554 = add i64 %r553, 0
  %r555 = inttoptr i64 %r554 to i64 addrspace(1)*
  %r556 = mul i64 %r551, 16
  %r557 = add i64 %r556, %w14
  %r558 = add i64 %r557, 8
  %r559 = inttoptr i64 %r558 to i64 addrspace(1)*
  br label %L28
L28:
  %r560 = load volatile i64, i64 addrspace(1)* %r555, align 8
  %r561 = load volatile i64, i64 addrspace(1)* %r559, align 8
  %r562 = and i64 %r560, %r561
  %r563 = icmp ugt i64 %r562, 4294967295
  br i1 %r563, label %L29, label %L28
L29:
  %r564 = trunc i64 %r560 to i32
  %r565 = trunc i64 %r561 to i32
  %r566 = zext i32 %r565 to i64
  %r567 = shl i64 %r566, 32
  %r568 = zext i32 %r564 to i64
  %r569 = or i64 %r568, %r567
  %r570 = bitcast i64 %r569 to double
  call void @llvm.nvvm.bar.warp.sync(i32 -1)
  %r571 = bitcast double %r570 to i64
  %r572 = trunc i64 %r571 to i32
  %r573 = lshr i64 %r571, 32
  %r574 = trunc i64 %r573 to i32
  %r575 = call i32 @llvm.nvvm.shfl.sync.down.i32(i32 -1, i32 %r572, i32 1, i32 31)
  %r576 = call i32 @llvm.nvvm.shfl.sync.down.i32(i32 -1, i32 %r574, i32 1, i32 31)
  %r577 = zext i32 %r576 to i64
  %r578 = shl i64 %r577, 32
  %r579 = zext i32 %r575 to i64
  %r580 = or i64 %r579, %r578
  %r581 = bitcast i64 %r580 to double
  %r582 = zext i1 %r547 to i32
  %r583 = call i32 @llvm.nvvm.shfl.sync.down.i32(i32 -1, i32 %r582, i32 1, i32 31)
  %r584 = trunc i32 %r583 to i1
  %r585 = call { double } @combine(double %r570, double %r581)
  %r586 = extractvalue { double } %r585, 0
  %r587 = select i1 %r584, double %r586, double %r570
  %r588 = select i1 %r547, double %r587, double %r581
  %r589 = or i1 %r547, %r584
  %r590 = bitcast double %r588 to i64
  %r591 = trunc i64 %r590 to i32
  %r592 = lshr i64 %r590, 32
  %r593 = trunc i64 %r592 to i32
  %r594 = call i32 @llvm.nvvm.shfl.sync.down.i32(i32 -1, i32 %r591, i32 2, i32 31)
  %r595 = call i32 @llvm.nvvm.shfl.sync.down.i32(i32 -1, i32 %r593, i32 2, i32 31)
  %r596 = zext i32 %r595 to i64
  %r597 = shl i64 %r596, 32
  %r598 = zext i32 %r594 to i64
  %r599 = or i64 %r598, %r597
  %r600 = bitcast i64 %r599 to double
  %r601 = zext i1 %r589 to i32
  %r602 = call i32 @llvm.nvvm.shfl.sync.down.i32(i32 -1, i32 %r601, i32 2, i32 31)
  %r603 = trunc i32 %r602 to i1
  %r604 = call { double } @combine(double %r588, double %r600)
  %r605 = extractvalue { double } %r604, 0
  %r606 = select i1 %r603, double %r605, double %r588
  %r607 = select i1 %r589, double %r606, double %r600
  %r608 = or i1 %r589, %r603
  %r609 = bitcast double %r607 to i64
  %r610 = trunc i64 %r609 to i32
  %r611 = lshr i64 %r609, 32
  %r612 = trunc i64 %r611 to i32
  %r613 = call i32 @llvm.nvvm.shfl.sync.down.i32(i32 -1, i32 %r610, i32 4, i32 31)
  %r614 = call i32 @llvm.nvvm.shfl.sync.down.i32(i32 -1, i32 %r612, i32 4, i32 31)
  %r615 = zext i32 %r614 to i64
  %r616 = shl i64 %r615, 32
  %r617 = zext i32 %r613 to i64
  %r618 = or i64 %r617, %r616
  %r619 = bitcast i64 %r618 to double
  %r620 = zext i1 %r608 to i32
  %r621 = call i32 @llvm.nvvm.shfl.sync.down.i32(i32 -1, i32 %r620, i32 4, i32 31)
  %r622 = trunc i32 %r621 to i1
  %r623 = call { double } @combine(double %r607, double %r619)
  %r624 = extractvalue { double } %r623, 0
  %r625 = select i1 %r622, double %r624, double %r607
  %r626 = select i1 %r608, double %r625, double %r619
  %r627 = or i1 %r608, %r622
  %r628 = bitcast double %r626 to i64
  %r629 = trunc i64 %r628 to i32
  %r630 = lshr i64 %r628, 32
  %r631 = trunc i64 %r630 to i32
  %r632 = call i32 @llvm.nvvm.shfl.sync.down.i32(i32 -1, i32 %r629, i32 8, i32 31)
  %r633 = call i32 @llvm.nvvm.shfl.sync.down.i32(i32 -1, i32 %r631, i32 8, i32 31)
  %r634 = zext i32 %r633 to i64
  %r635 = shl i64 %r634, 32
  %r636 = zext i32 %r632 to i64
  %r637 = or i64 %r636, %r635
  %r638 = bitcast i64 %r637 to double
  %r639 = zext i1 %r627 to i32
  %r640 = call i32 @llvm.nvvm.shfl.sync.down.i32(i32 -1, i32 %r639, i32 8, i32 31)
  %r641 = trunc i32 %r640 to i1
  %r642 = call { double } @combine(double %r626, double %r638)
  %r643 = extractvalue { double } %r642, 0
  %r644 = select i1 %r641, double %r643, double %r626
  %r645 = select i1 %r627, double %r644, double %r638
  %r646 = or i1 %r627, %r641
  %r647 = bitcast double %r645 to i64
  %r648 = trunc i64 %r647 to i32
  %r649 = lshr i64 %r647, 32
  %r650 = trunc i64 %r649 to i32
  %r651 = call i32 @llvm.nvvm.shfl.sync.down.i32(i32 -1, i32 %r648, i32 16, i32 31)
  %r652 = call i32 @llvm.nvvm.shfl.sync.down.i32(i32 -1, i32 %r650, i32 16, i32 31)
  %r653 = zext i32 %r652 to i64
  %r654 = shl i64 %r653, 32
  %r655 = zext i32 %r651 to i64
  %r656 = or i64 %r655, %r654
  %r657 = bitcast i64 %r656 to double
  %r658 = zext i1 %r646 to i32
  %r659 = call i32 @llvm.nvvm.shfl.sync.down.i32(i32 -1, i32 %r658, i32 16, i32 31)
  %r660 = trunc i32 %r659 to i1
  %r661 = call { double } @combine(double %r645, double %r657)
  %r662 = extractvalue { double } %r661, 0
  %r663 = select i1 %r660, double %r662, double %r645
  %r664 = select i1 %r646, double %r663, double %r657
  %r665 = or i1 %r646, %r660
  %r666 = call { double } @combine(double %r664, double %r543)
  %r667 = extractvalue { double } %r666, 0
  %r668 = select i1 %r544, double %r667, double %r664
  store double %r668, double* %r22
  store i1 true, i1* %r23
  br label %L27
L27:
  %r669 = icmp ne i32 %r359, 0
  br i1 %r669, label %L30, label %L31
L30:
  %r670 = load double, double* %r22
  %r671 = load i1, i1* %r23
  %r672 = sub i32 %r359, 1
  %r673 = zext i32 %r672 to i64
  %r674 = add i64 %r355, %r673
  %r675 = mul i64 %r674, 16
  %r676 = add i64 %r675, %w15
  %r677 = add i64 %r676, 0
  %r678 = inttoptr i64 %r677 to i64 addrspace(1)*
  %r679 = mul i64 %r674, 16
  %r680 = add i64 %r679, %w15
  %r681 = add i64 %r680, 8
  %r682 = inttoptr i64 %r681 to i64 addrspace(1)*
  br label %L32
L32:
  %r683 = load volatile i64, i64 addrspace(1)* %r678, align 8
  %r684 = load volatile i64, i64 addrspace(1)* %r682, align 8
  %r685 = and i64 %r683, %r684
  %r686 = icmp ugt i64 %r685, 4294967295
  br i1 %r686, label %L33, label %L32
L33:
  %r687 = trunc i64 %r683 to i32
  %r688 = trunc i64 %r684 to i32
  %r689 = zext i32 %r688 to i64
  %r690 = shl i64 %r689, 32
  %r691 = zext i32 %r687 to i64
  %r692 = or i64 %r691, %r690
  %r693 = bitcast i64 %r692 to double
  call void @llvm.nvvm.bar.warp.sync(i32 -1)
  %r694 = call { double } @combine(double %r693, double %r670)
  %r695 = extractvalue { double } %r694, 0
  %r696 = select i1 %r671, double %r695, double %r693
  store double %r696, double* %r22
  store i1 true, i1* %r23
  br label %L31
L31:
  %r697 = load double, double* %r22
  %r698 = load i1, i1* %r23
  %r699 = call { double } @combine(double %r697, double %r336)
  %r700 = extractvalue { double } %r699, 0
  %r701 = select i1 %r698, double %r700, double %r336
  %r702 = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %r703 = and i32 %r702, 31
  %r704 = icmp eq i32 %r703, 0
  %r705 = and i1 %r704, %r365
  br i1 %r705, label %L34, label %L35
L34:
  %r706 = zext i32 %r359 to i64
  %r707 = add i64 %r355, %r706
  %r708 = bitcast double %r701 to i64
  %r709 = trunc i64 %r708 to i32
  %r710 = lshr i64 %r708, 32
  %r711 = trunc i64 %r710 to i32
  %r712 = zext i32 %r709 to i64
  %r713 = or i64 %r712, 4294967296
  %r714 = mul i64 %r707, 16
  %r715 = add i64 %r714, %w15
  %r716 = add i64 %r715, 0
  %r717 = inttoptr i64 %r716 to i64 addrspace(1)*
  store volatile i64 %r713, i64 addrspace(1)* %r717, align 8
  %r718 = zext i32 %r711 to i64
  %r719 = or i64 %r718, 4294967296
  %r720 = mul i64 %r707, 16
  %r721 = add i64 %r720, %w15
  %r722 = add i64 %r721, 8
  %r723 = inttoptr i64 %r722 to i64 addrspace(1)*
  store volatile i64 %r719, i64 addrspace(1)* %r723, align 8
  br label %L35
L35:
  %r724 = icmp eq i32 %r46, 0
  br i1 %r724, label %L36, label %L37
L36:
  %r725 = load double, double* %r22
  %r726 = load i1, i1* %r23
  %r727 = bitcast double %r725 to i64
  %r728 = trunc i64 %r727 to i32
  %r729 = lshr i64 %r727, 32
  %r730 = trunc i64 %r729 to i32
  %r731 = mul i32 8, 2
  %r732 = add i32 %r731, 0
  %r733 = zext i32 %r732 to i64
  %r734 = getelementptr [19 x i32], [19 x i32] addrspace(3)* @scan_shared, i64 0, i64 %r733
  store i32 %r728, i32 addrspace(3)* %r734, align 4
  %r735 = mul i32 8, 2
  %r736 = add i32 %r735, 1
  %r737 = zext i32 %r736 to i64
  %r738 = getelementptr [19 x i32], [19 x i32] addrspace(3)* @scan_shared, i64 0, i64 %r737
  store i32 %r730, i32 addrspace(3)* %r738, align 4
  br label %L37
L37:
  br label %L17
L17:
  call void @llvm.nvvm.barrier0()
  %r739 = mul i32 8, 2
  %r740 = add i32 %r739, 0
  %r741 = zext i32 %r740 to i64
  %r742 = getelementptr [19 x i32], [19 x i32] addrspace(3)* @scan_shared, i64 0, i64 %r741
  %r743 = load i32, i32 addrspace(3)* %r742, align 4
  %r744 = mul i32 8, 2
  %r745 = add i32 %r744, 1
  %r746 = zext i32 %r745 to i64
  %r747 = getelementptr [19 x i32], [19 x i32] addrspace(3)* @scan_shared, i64 0, i64 %r746
  %r748 = load i32, i32 addrspace(3)* %r747, align 4
  %r749 = zext i32 %r748 to i64
  %r750 = shl i64 %r749, 32
  %r751 = zext i32 %r743 to i64
  %r752 = or i64 %r751, %r750
  %r753 = bitcast i64 %r752 to double
  store double %r753, double* %r22
  store i1 true, i1* %r23
  br label %L15
L15:
  %r754 = load double, double* %r22
  %r755 = load i1, i1* %r23
  %r756 = icmp ne i32 %r40, 0
  %r757 = call { double } @combine(double %r754, double %r334)
  %r758 = extractvalue { double } %r757, 0
  %r759 = select i1 %r337, double %r758, double %r754
  %r760 = select i1 %r756, double %r759, double %r334
  %r761 = or i1 %r756, %r337
  %r762 = call { double } @combine(double %r760, double %r175)
  %r763 = extractvalue { double } %r762, 0
  %r764 = select i1 %r176, double %r763, double %r760
  %r765 = select i1 %r761, double %r764, double %r175
  %r766 = or i1 %r761, %r176
  %r767 = call { double } @combine(double %r765, double %r74)
  %r768 = extractvalue { double } %r767, 0
  %r769 = select i1 %r766, double %r768, double %r74
  %r770 = add i64 %r54, 1
  %r771 = call { double } @finish(double %r769, i64 %r770)
  %r772 = extractvalue { double } %r771, 0
  %r773 = call { double } @combine(double %r765, double %r78)
  %r774 = extractvalue { double } %r773, 0
  %r775 = select i1 %r766, double %r774, double %r78
  %r776 = add i64 %r54, 2
  %r777 = call { double } @finish(double %r775, i64 %r776)
  %r778 = extractvalue { double } %r777, 0
  %r779 = getelementptr inbounds double, double addrspace(1)* %r45, i64 %r54
  br i1 %r58, label %L38, label %L39
L38:
  %r780 = bitcast double addrspace(1)* %r779 to <2 x double> addrspace(1)*
  %r781 = insertelement <2 x double> undef, double %r772, i32 0
  %r782 = insertelement <2 x double> %r781, double %r778, i32 1
  store <2 x double> %r782, <2 x double> addrspace(1)* %r780, align 16
  br label %L40
L39:
  %r783 = select i1 true, i64 %r55, i64 0
  %r784 = icmp sgt i64 %r783, 0
  br i1 %r784, label %L41, label %L42
L41:
  store double %r772, double addrspace(1)* %r779, align 8
  br label %L42
L42:
  %r785 = icmp sgt i64 %r783, 1
  br i1 %r785, label %L43, label %L44
L43:
  %r786 = getelementptr inbounds double, double addrspace(1)* %r779, i64 1
  store double %r778, double addrspace(1)* %r786, align 8
  br label %L44
L44:
  br label %L40
L40:
  ret void
}
declare i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
@scan_shared = internal addrspace(3) global [19 x i32] undef, align 16
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
