; control
target datalayout = "e-p:64:64:64-i1:8:8-i8:8:8-i16:16:16-i32:32:32-i64:64:64-i128:128:128-f32:32:32-f64:64:64-v16:16:16-v32:32:32-v64:64:64-v128:128:128-n16:32:64"
target triple = "nvptx64-nvidia-cuda"

define internal { i32 } @kernel(i32 %p0, i32 %p1) nounwind alwaysinline {
L2:
  %v0 = alloca i32
  %v1 = alloca i32
  %v2 = alloca i32
  %v3 = alloca i32
  %v4 = alloca i32
  %v5 = alloca [5 x i32]
  %v6 = alloca [6 x i8]
  %v7 = alloca i8
  %v8 = alloca [3 x i32]
  %v9 = alloca [16 x i32]
  store i32 %p0, i32* %v0
  store i32 %p1, i32* %v1
  store i32 zeroinitializer, i32* %v2
  store i32 zeroinitializer, i32* %v3
  store i32 zeroinitializer, i32* %v4
  %r1 = bitcast [5 x i32]* %v5 to i8*
  call void @llvm.memset.p0i8.i64(i8* %r1, i8 0, i64 20, i1 false)
  %r2 = bitcast [6 x i8]* %v6 to i8*
  call void @llvm.memset.p0i8.i64(i8* %r2, i8 0, i64 6, i1 false)
  store i8 zeroinitializer, i8* %v7
  %r3 = bitcast [3 x i32]* %v8 to i8*
  call void @llvm.memset.p0i8.i64(i8* %r3, i8 0, i64 12, i1 false)
  %r4 = bitcast [16 x i32]* %v9 to i8*
  call void @llvm.memset.p0i8.i64(i8* %r4, i8 0, i64 64, i1 false)
  %r5 = bitcast [5 x i32]* %v5 to i8*
  call void @llvm.memset.p0i8.i64(i8* %r5, i8 0, i64 20, i1 false)
  %r6 = bitcast [6 x i8]* %v6 to i8*
  call void @llvm.memset.p0i8.i64(i8* %r6, i8 0, i64 6, i1 false)
  %r7 = bitcast [16 x i32]* %v9 to i8*
  call void @llvm.memset.p0i8.i64(i8* %r7, i8 0, i64 64, i1 false)
  store i8 7, i8* %v7
  store i32 -2, i32* %v3
  br label %L3
L3:
  %r8 = load i32, i32* %v3
  %r9 = load i32, i32* %v1
  %r10 = icmp slt i32 %r8, %r9
  br i1 %r10, label %L5, label %L6
L5:
  %r11 = bitcast [3 x i32]* %v8 to i8*
  call void @llvm.memset.p0i8.i64(i8* %r11, i8 0, i64 12, i1 false)
  %r12 = load i32, i32* %v3
  %r13 = ashr i32 %r12, 31
  %r14 = zext i32 %r13 to i64
  %r15 = zext i32 %r12 to i64
  %r16 = shl i64 %r14, 32
  %r17 = or i64 %r16, %r15
  %r18 = icmp ult i64 %r17, 3
  %r19 = select i1 %r18, i64 %r17, i64 0
  %r20 = getelementptr [3 x i32], [3 x i32]* %v8, i64 0, i64 %r19
  %r21 = load i32, i32* %r20
  %r22 = select i1 %r18, i32 %r21, i32 0
  %r23 = add i32 %r22, 1
  %r24 = load i32, i32* %r20
  %r25 = select i1 %r18, i32 %r23, i32 %r24
  store i32 %r25, i32* %r20
  %r26 = load i32, i32* %v2
  %r27 = load i32, i32* %v3
  %r28 = ashr i32 %r27, 31
  %r29 = zext i32 %r28 to i64
  %r30 = zext i32 %r27 to i64
  %r31 = shl i64 %r29, 32
  %r32 = or i64 %r31, %r30
  %r33 = icmp ult i64 %r32, 3
  %r34 = select i1 %r33, i64 %r32, i64 0
  %r35 = getelementptr [3 x i32], [3 x i32]* %v8, i64 0, i64 %r34
  %r36 = load i32, i32* %r35
  %r37 = select i1 %r33, i32 %r36, i32 0
  %r38 = add i32 %r26, %r37
  store i32 %r38, i32* %v2
  %r39 = load i32, i32* %v3
  %r47 = call i32 @srem_i32(i32 %r39, i32 6)
  %r48 = ashr i32 %r47, 31
  %r49 = zext i32 %r48 to i64
  %r50 = zext i32 %r47 to i64
  %r51 = shl i64 %r49, 32
  %r52 = or i64 %r51, %r50
  switch i64 %r52, label %L10 [ i64 0, label %L8 i64 1, label %L9 i64 3, label %L11 i64 4, label %L12 ]
L8:
  %r53 = load i32, i32* %v2
  %r54 = add i32 %r53, 1
  store i32 %r54, i32* %v2
  br label %L9
L9:
  %r55 = load i32, i32* %v2
  %r56 = add i32 %r55, 10
  store i32 %r56, i32* %v2
  br label %L7
L10:
  %r57 = load i32, i32* %v2
  %r58 = add i32 %r57, 1000
  store i32 %r58, i32* %v2
  br label %L7
L11:
  %r59 = load i32, i32* %v0
  %r60 = icmp sgt i32 %r59, 4
  br i1 %r60, label %L13, label %L14
L13:
  br label %L4
L14:
  %r61 = load i32, i32* %v2
  %r62 = add i32 %r61, 7
  store i32 %r62, i32* %v2
  br label %L12
L12:
  %r63 = load i32, i32* %v0
  %r64 = ashr i32 %r63, 31
  %r65 = zext i32 %r64 to i64
  %r66 = zext i32 %r63 to i64
  %r67 = shl i64 %r65, 32
  %r68 = or i64 %r67, %r66
  switch i64 %r68, label %L15 [ i64 2, label %L16 i64 3, label %L17 ]
L16:
  br label %L15
L17:
  %r69 = load i32, i32* %v2
  %r70 = add i32 %r69, 5
  store i32 %r70, i32* %v2
  br label %L15
L15:
  %r71 = load i32, i32* %v2
  %r72 = add i32 %r71, 100
  store i32 %r72, i32* %v2
  br label %L7
L7:
  %r73 = load i32, i32* %v3
  %r74 = ashr i32 %r73, 31
  %r75 = zext i32 %r74 to i64
  %r76 = zext i32 %r73 to i64
  %r77 = shl i64 %r75, 32
  %r78 = or i64 %r77, %r76
  %r79 = icmp ult i64 %r78, 5
  %r80 = select i1 %r79, i64 %r78, i64 0
  %r81 = getelementptr [5 x i32], [5 x i32]* %v5, i64 0, i64 %r80
  %r82 = load i32, i32* %v2
  %r83 = load i32, i32* %v3
  %r84 = add i32 %r82, %r83
  %r85 = load i32, i32* %r81
  %r86 = select i1 %r79, i32 %r84, i32 %r85
  store i32 %r86, i32* %r81
  %r87 = load i32, i32* %v2
  %r88 = icmp sgt i32 %r87, 30000
  br i1 %r88, label %L18, label %L19
L18:
  br label %L6
L19:
  %r89 = load i8, i8* %v7
  %r90 = zext i8 %r89 to i32
  %r91 = mul i32 %r90, 3
  %r92 = trunc i32 %r91 to i8
  store i8 %r92, i8* %v7
  br label %L4
L4:
  %r93 = load i32, i32* %v3
  %r94 = add i32 %r93, 1
  store i32 %r94, i32* %v3
  br label %L3
L6:
  store i32 0, i32* %v4
  br label %L20
L20:
  %r95 = load i32, i32* %v4
  %r96 = ashr i32 %r95, 31
  %r97 = zext i32 %r96 to i64
  %r98 = zext i32 %r95 to i64
  %r99 = shl i64 %r97, 32
  %r100 = or i64 %r99, %r98
  %r101 = icmp ult i64 %r100, 2
  %r102 = load i32, i32* %v0
  %r103 = load i32, i32* %v4
  %r104 = sub i32 %r102, %r103
  %r105 = ashr i32 %r104, 31
  %r106 = zext i32 %r105 to i64
  %r107 = zext i32 %r104 to i64
  %r108 = shl i64 %r106, 32
  %r109 = or i64 %r108, %r107
  %r110 = icmp ult i64 %r109, 3
  %r111 = and i1 %r101, %r110
  %r112 = mul i64 %r100, 3
  %r113 = add i64 %r112, %r109
  %r114 = select i1 %r111, i64 %r113, i64 0
  %r115 = getelementptr [6 x i8], [6 x i8]* %v6, i64 0, i64 %r114
  %r116 = load i32, i32* %v4
  %r117 = and i32 %r116, 1
  %r118 = icmp eq i32 %r117, 1
  %r119 = load i8, i8* %r115
  %r120 = icmp ne i8 %r119, 0
  %r121 = select i1 %r111, i1 %r118, i1 %r120
  %r122 = zext i1 %r121 to i8
  store i8 %r122, i8* %r115
  %r123 = load i32, i32* %v4
  %r124 = ashr i32 %r123, 31
  %r125 = zext i32 %r124 to i64
  %r126 = zext i32 %r123 to i64
  %r127 = shl i64 %r125, 32
  %r128 = or i64 %r127, %r126
  %r129 = icmp ult i64 %r128, 2
  %r130 = load i32, i32* %v0
  %r131 = load i32, i32* %v4
  %r132 = sub i32 %r130, %r131
  %r133 = ashr i32 %r132, 31
  %r134 = zext i32 %r133 to i64
  %r135 = zext i32 %r132 to i64
  %r136 = shl i64 %r134, 32
  %r137 = or i64 %r136, %r135
  %r138 = icmp ult i64 %r137, 3
  %r139 = and i1 %r129, %r138
  %r140 = mul i64 %r128, 3
  %r141 = add i64 %r140, %r137
  %r142 = select i1 %r139, i64 %r141, i64 0
  %r143 = getelementptr [6 x i8], [6 x i8]* %v6, i64 0, i64 %r142
  %r144 = load i8, i8* %r143
  %r145 = icmp ne i8 %r144, 0
  %r146 = select i1 %r139, i1 %r145, i1 false
  br i1 %r146, label %L24, label %L25
L24:
  %r147 = load i32, i32* %v2
  %r148 = add i32 %r147, 3
  store i32 %r148, i32* %v2
  br label %L26
L25:
  %r149 = load i32, i32* %v2
  %r150 = add i32 %r149, 2
  store i32 %r150, i32* %v2
  br label %L26
L26:
  %r151 = load i32, i32* %v4
  %r152 = add i32 %r151, 1
  store i32 %r152, i32* %v4
  br label %L21
L21:
  %r153 = load i32, i32* %v4
  %r154 = icmp slt i32 %r153, 4
  br i1 %r154, label %L20, label %L23
L23:
  %r155 = load i32, i32* %v0
  %r156 = ashr i32 %r155, 31
  %r157 = zext i32 %r156 to i64
  %r158 = zext i32 %r155 to i64
  %r159 = shl i64 %r157, 32
  %r160 = or i64 %r159, %r158
  %r161 = icmp ult i64 %r160, 2
  %r162 = ashr i32 1, 31
  %r163 = zext i32 %r162 to i64
  %r164 = zext i32 1 to i64
  %r165 = shl i64 %r163, 32
  %r166 = or i64 %r165, %r164
  %r167 = icmp ult i64 %r166, 2
  %r168 = and i1 %r161, %r167
  %r169 = mul i64 %r160, 2
  %r170 = add i64 %r169, %r166
  %r171 = ashr i32 0, 31
  %r172 = zext i32 %r171 to i64
  %r173 = zext i32 0 to i64
  %r174 = shl i64 %r172, 32
  %r175 = or i64 %r174, %r173
  %r176 = icmp ult i64 %r175, 2
  %r177 = and i1 %r168, %r176
  %r178 = mul i64 %r170, 2
  %r179 = add i64 %r178, %r175
  %r180 = ashr i32 1, 31
  %r181 = zext i32 %r180 to i64
  %r182 = zext i32 1 to i64
  %r183 = shl i64 %r181, 32
  %r184 = or i64 %r183, %r182
  %r185 = icmp ult i64 %r184, 2
  %r186 = and i1 %r177, %r185
  %r187 = mul i64 %r179, 2
  %r188 = add i64 %r187, %r184
  %r189 = select i1 %r186, i64 %r188, i64 0
  %r190 = getelementptr [16 x i32], [16 x i32]* %v9, i64 0, i64 %r189
  %r191 = load i32, i32* %r190
  %r192 = select i1 %r186, i32 9, i32 %r191
  store i32 %r192, i32* %r190
  %r193 = load i32, i32* %v2
  %r194 = load i32, i32* %v0
  %r195 = ashr i32 %r194, 31
  %r196 = zext i32 %r195 to i64
  %r197 = zext i32 %r194 to i64
  %r198 = shl i64 %r196, 32
  %r199 = or i64 %r198, %r197
  %r200 = icmp ult i64 %r199, 2
  %r201 = ashr i32 1, 31
  %r202 = zext i32 %r201 to i64
  %r203 = zext i32 1 to i64
  %r204 = shl i64 %r202, 32
  %r205 = or i64 %r204, %r203
  %r206 = icmp ult i64 %r205, 2
  %r207 = and i1 %r200, %r206
  %r208 = mul i64 %r199, 2
  %r209 = add i64 %r208, %r205
  %r210 = ashr i32 0, 31
  %r211 = zext i32 %r210 to i64
  %r212 = zext i32 0 to i64
  %r213 = shl i64 %r211, 32
  %r214 = or i64 %r213, %r212
  %r215 = icmp ult i64 %r214, 2
  %r216 = and i1 %r207, %r215
  %r217 = mul i64 %r209, 2
  %r218 = add i64 %r217, %r214
  %r219 = ashr i32 1, 31
  %r220 = zext i32 %r219 to i64
  %r221 = zext i32 1 to i64
  %r222 = shl i64 %r220, 32
  %r223 = or i64 %r222, %r221
  %r224 = icmp ult i64 %r223, 2
  %r225 = and i1 %r216, %r224
  %r226 = mul i64 %r218, 2
  %r227 = add i64 %r226, %r223
  %r228 = select i1 %r225, i64 %r227, i64 0
  %r229 = getelementptr [16 x i32], [16 x i32]* %v9, i64 0, i64 %r228
  %r230 = load i32, i32* %r229
  %r231 = select i1 %r225, i32 %r230, i32 0
  %r232 = add i32 %r193, %r231
  store i32 %r232, i32* %v2
  store i32 0, i32* %v4
  %r233 = load i32, i32* %v0
  %r234 = icmp sgt i32 %r233, 0
  br i1 %r234, label %L27, label %L28
L27:
  %r235 = load i32, i32* %v4
  %r236 = add i32 %r235, 1
  store i32 %r236, i32* %v4
  %r237 = icmp sgt i32 %r236, 2
  br label %L28
L28:
  %r238 = phi i1 [ false, %L23 ], [ %r237, %L27 ]
  br i1 %r238, label %L29, label %L30
L29:
  br label %L31
L30:
  %r239 = load i32, i32* %v2
  %r240 = load i32, i32* %v4
  %r241 = add i32 %r239, %r240
  store i32 %r241, i32* %v2
  br label %L31
L31:
  %r242 = load i32, i32* %v0
  %r243 = icmp sgt i32 %r242, 3
  br i1 %r243, label %L33, label %L32
L32:
  %r244 = load i32, i32* %v4
  %r245 = add i32 %r244, 1
  store i32 %r245, i32* %v4
  %r246 = icmp sgt i32 %r244, 0
  br label %L33
L33:
  %r247 = phi i1 [ true, %L31 ], [ %r246, %L32 ]
  br i1 %r247, label %L34, label %L35
L34:
  %r248 = load i32, i32* %v2
  %r249 = add i32 %r248, 40
  store i32 %r249, i32* %v2
  br label %L35
L35:
  %r250 = load i32, i32* %v0
  %r251 = icmp slt i32 %r250, 2
  br i1 %r251, label %L36, label %L37
L36:
  %r252 = load i32, i32* %v4
  %r253 = sub i32 %r252, 1
  store i32 %r253, i32* %v4
  br label %L38
L37:
  store i32 77, i32* %v3
  br label %L38
L38:
  %r254 = phi i32 [ %r252, %L36 ], [ 77, %L37 ]
  store i32 %r254, i32* %v4
  %r255 = load i32, i32* %v0
  %r256 = icmp eq i32 %r255, 5
  br i1 %r256, label %L39, label %L40
L39:
  %r257 = load i32, i32* %v2
  %r258 = add i32 %r257, 1
  store i32 %r258, i32* %v2
  br label %L1
L40:
  %r259 = load i32, i32* %v2
  %r260 = load i32, i32* %v3
  %r261 = load i32, i32* %v4
  %r262 = add i32 %r260, %r261
  %r263 = add i32 %r259, %r262
  store i32 %r263, i32* %v2
  %r264 = load i32, i32* %v2
  %r265 = load i8, i8* %v7
  %r266 = zext i8 %r265 to i32
  %r267 = add i32 %r264, %r266
  store i32 %r267, i32* %v2
  %r268 = load i32, i32* %v2
  %r269 = load i32, i32* %v0
  %r270 = ashr i32 %r269, 31
  %r271 = zext i32 %r270 to i64
  %r272 = zext i32 %r269 to i64
  %r273 = shl i64 %r271, 32
  %r274 = or i64 %r273, %r272
  %r275 = icmp ult i64 %r274, 5
  %r276 = select i1 %r275, i64 %r274, i64 0
  %r277 = getelementptr [5 x i32], [5 x i32]* %v5, i64 0, i64 %r276
  %r278 = load i32, i32* %r277
  %r279 = select i1 %r275, i32 %r278, i32 0
  %r280 = add i32 %r268, %r279
  store i32 %r280, i32* %v2
  %r281 = load i32, i32* %v2
  %r282 = load i32, i32* %v0
  %r283 = ashr i32 %r282, 31
  %r284 = zext i32 %r283 to i64
  %r285 = zext i32 %r282 to i64
  %r286 = shl i64 %r284, 32
  %r287 = or i64 %r286, %r285
  %r288 = icmp ult i64 %r287, 5
  %r289 = select i1 %r288, i64 %r287, i64 0
  %r290 = getelementptr [5 x i32], [5 x i32]* %v5, i64 0, i64 %r289
  %r291 = load i32, i32* %r290
  %r292 = select i1 %r288, i32 4, i32 %r291
  store i32 %r292, i32* %r290
  %r293 = add i32 %r281, 4
  store i32 %r293, i32* %v2
  %r294 = load i32, i32* %v2
  %r295 = load i32, i32* %v0
  %r296 = ashr i32 %r295, 31
  %r297 = zext i32 %r296 to i64
  %r298 = zext i32 %r295 to i64
  %r299 = shl i64 %r297, 32
  %r300 = or i64 %r299, %r298
  %r301 = icmp ult i64 %r300, 5
  %r302 = select i1 %r301, i64 %r300, i64 0
  %r303 = getelementptr [5 x i32], [5 x i32]* %v5, i64 0, i64 %r302
  %r304 = load i32, i32* %r303
  %r305 = select i1 %r301, i32 %r304, i32 0
  %r306 = icmp ult i32 2, 32
  %r307 = select i1 %r306, i32 2, i32 0
  %r308 = shl i32 %r305, %r307
  %r309 = select i1 %r306, i32 %r308, i32 0
  %r310 = load i32, i32* %r303
  %r311 = select i1 %r301, i32 %r309, i32 %r310
  store i32 %r311, i32* %r303
  %r312 = add i32 %r294, %r309
  store i32 %r312, i32* %v2
  br label %L1
L1:
  %r313 = load i32, i32* %v2
  %r314 = insertvalue { i32 } undef, i32 %r313, 0
  ret { i32 } %r314
}

declare void @llvm.memset.p0i8.i64(i8*, i8, i64, i1)
define internal i32 @srem_i32(i32 %a, i32 %b) nounwind readnone alwaysinline {
  %r40 = icmp eq i32 %b, 0
  %r41 = icmp eq i32 %a, -2147483648
  %r42 = icmp eq i32 %b, -1
  %r43 = and i1 %r41, %r42
  %r44 = or i1 %r40, %r43
  %r45 = select i1 %r44, i32 1, i32 %b
  %r46 = srem i32 %a, %r45
  ret i32 %r46
}


!nvvmir.version = !{!1}
!1 = !{i32 2, i32 0, i32 3, i32 1}
