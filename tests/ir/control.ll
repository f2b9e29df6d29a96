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
  %r13 = sext i32 %r12 to i64
  %r14 = icmp ult i64 %r13, 3
  %r15 = select i1 %r14, i64 %r13, i64 0
  %r16 = getelementptr [3 x i32], [3 x i32]* %v8, i64 0, i64 %r15
  %r17 = load i32, i32* %r16
  %r18 = select i1 %r14, i32 %r17, i32 0
  %r19 = add i32 %r18, 1
  %r20 = load i32, i32* %r16
  %r21 = select i1 %r14, i32 %r19, i32 %r20
  store i32 %r21, i32* %r16
  %r22 = select i1 %r14, i32 %r19, i32 0
  %r23 = load i32, i32* %v2
  %r24 = load i32, i32* %v3
  %r25 = sext i32 %r24 to i64
  %r26 = icmp ult i64 %r25, 3
  %r27 = select i1 %r26, i64 %r25, i64 0
  %r28 = getelementptr [3 x i32], [3 x i32]* %v8, i64 0, i64 %r27
  %r29 = load i32, i32* %r28
  %r30 = select i1 %r26, i32 %r29, i32 0
  %r31 = add i32 %r23, %r30
  store i32 %r31, i32* %v2
  %r32 = load i32, i32* %v3
  %r40 = call i32 @srem_i32(i32 %r32, i32 6)
  %r41 = sext i32 %r40 to i64
  switch i64 %r41, label %L10 [ i64 0, label %L8 i64 1, label %L9 i64 3, label %L11 i64 4, label %L12 ]
L8:
  %r42 = load i32, i32* %v2
  %r43 = add i32 %r42, 1
  store i32 %r43, i32* %v2
  br label %L9
L9:
  %r44 = load i32, i32* %v2
  %r45 = add i32 %r44, 10
  store i32 %r45, i32* %v2
  br label %L7
L10:
  %r46 = load i32, i32* %v2
  %r47 = add i32 %r46, 1000
  store i32 %r47, i32* %v2
  br label %L7
L11:
  %r48 = load i32, i32* %v0
  %r49 = icmp sgt i32 %r48, 4
  br i1 %r49, label %L13, label %L14
L13:
  br label %L4
L14:
  %r50 = load i32, i32* %v2
  %r51 = add i32 %r50, 7
  store i32 %r51, i32* %v2
  br label %L12
L12:
  %r52 = load i32, i32* %v0
  %r53 = sext i32 %r52 to i64
  switch i64 %r53, label %L15 [ i64 2, label %L16 i64 3, label %L17 ]
L16:
  br label %L15
L17:
  %r54 = load i32, i32* %v2
  %r55 = add i32 %r54, 5
  store i32 %r55, i32* %v2
  br label %L15
L15:
  %r56 = load i32, i32* %v2
  %r57 = add i32 %r56, 100
  store i32 %r57, i32* %v2
  br label %L7
L7:
  %r58 = load i32, i32* %v3
  %r59 = sext i32 %r58 to i64
  %r60 = icmp ult i64 %r59, 5
  %r61 = select i1 %r60, i64 %r59, i64 0
  %r62 = getelementptr [5 x i32], [5 x i32]* %v5, i64 0, i64 %r61
  %r63 = load i32, i32* %v2
  %r64 = load i32, i32* %v3
  %r65 = add i32 %r63, %r64
  %r66 = load i32, i32* %r62
  %r67 = select i1 %r60, i32 %r65, i32 %r66
  store i32 %r67, i32* %r62
  %r68 = select i1 %r60, i32 %r65, i32 0
  %r69 = load i32, i32* %v2
  %r70 = icmp sgt i32 %r69, 30000
  br i1 %r70, label %L18, label %L19
L18:
  br label %L6
L19:
  %r71 = load i8, i8* %v7
  %r72 = zext i8 %r71 to i32
  %r73 = mul i32 %r72, 3
  %r74 = trunc i32 %r73 to i8
  store i8 %r74, i8* %v7
  br label %L4
L4:
  %r75 = load i32, i32* %v3
  %r76 = add i32 %r75, 1
  store i32 %r76, i32* %v3
  br label %L3
L6:
  store i32 0, i32* %v4
  br label %L20
L20:
  %r77 = load i32, i32* %v4
  %r78 = sext i32 %r77 to i64
  %r79 = icmp ult i64 %r78, 2
  %r80 = load i32, i32* %v0
  %r81 = load i32, i32* %v4
  %r82 = sub i32 %r80, %r81
  %r83 = sext i32 %r82 to i64
  %r84 = icmp ult i64 %r83, 3
  %r85 = and i1 %r79, %r84
  %r86 = mul i64 %r78, 3
  %r87 = add i64 %r86, %r83
  %r88 = select i1 %r85, i64 %r87, i64 0
  %r89 = getelementptr [6 x i8], [6 x i8]* %v6, i64 0, i64 %r88
  %r90 = load i32, i32* %v4
  %r91 = and i32 %r90, 1
  %r92 = icmp eq i32 %r91, 1
  %r93 = load i8, i8* %r89
  %r94 = icmp ne i8 %r93, 0
  %r95 = select i1 %r85, i1 %r92, i1 %r94
  %r96 = zext i1 %r95 to i8
  store i8 %r96, i8* %r89
  %r97 = select i1 %r85, i1 %r92, i1 false
  %r98 = load i32, i32* %v4
  %r99 = sext i32 %r98 to i64
  %r100 = icmp ult i64 %r99, 2
  %r101 = load i32, i32* %v0
  %r102 = load i32, i32* %v4
  %r103 = sub i32 %r101, %r102
  %r104 = sext i32 %r103 to i64
  %r105 = icmp ult i64 %r104, 3
  %r106 = and i1 %r100, %r105
  %r107 = mul i64 %r99, 3
  %r108 = add i64 %r107, %r104
  %r109 = select i1 %r106, i64 %r108, i64 0
  %r110 = getelementptr [6 x i8], [6 x i8]* %v6, i64 0, i64 %r109
  %r111 = load i8, i8* %r110
  %r112 = icmp ne i8 %r111, 0
  %r113 = select i1 %r106, i1 %r112, i1 false
  br i1 %r113, label %L24, label %L25
L24:
  %r114 = load i32, i32* %v2
  %r115 = add i32 %r114, 3
  store i32 %r115, i32* %v2
  br label %L26
L25:
  %r116 = load i32, i32* %v2
  %r117 = add i32 %r116, 2
  store i32 %r117, i32* %v2
  br label %L26
L26:
  %r118 = load i32, i32* %v4
  %r119 = add i32 %r118, 1
  store i32 %r119, i32* %v4
  br label %L21
L21:
  %r120 = load i32, i32* %v4
  %r121 = icmp slt i32 %r120, 4
  br i1 %r121, label %L20, label %L23
L23:
  %r122 = load i32, i32* %v0
  %r123 = sext i32 %r122 to i64
  %r124 = icmp ult i64 %r123, 2
  %r125 = sext i32 1 to i64
  %r126 = icmp ult i64 %r125, 2
  %r127 = and i1 %r124, %r126
  %r128 = mul i64 %r123, 2
  %r129 = add i64 %r128, %r125
  %r130 = sext i32 0 to i64
  %r131 = icmp ult i64 %r130, 2
  %r132 = and i1 %r127, %r131
  %r133 = mul i64 %r129, 2
  %r134 = add i64 %r133, %r130
  %r135 = sext i32 1 to i64
  %r136 = icmp ult i64 %r135, 2
  %r137 = and i1 %r132, %r136
  %r138 = mul i64 %r134, 2
  %r139 = add i64 %r138, %r135
  %r140 = select i1 %r137, i64 %r139, i64 0
  %r141 = getelementptr [16 x i32], [16 x i32]* %v9, i64 0, i64 %r140
  %r142 = load i32, i32* %r141
  %r143 = select i1 %r137, i32 9, i32 %r142
  store i32 %r143, i32* %r141
  %r144 = select i1 %r137, i32 9, i32 0
  %r145 = load i32, i32* %v2
  %r146 = load i32, i32* %v0
  %r147 = sext i32 %r146 to i64
  %r148 = icmp ult i64 %r147, 2
  %r149 = sext i32 1 to i64
  %r150 = icmp ult i64 %r149, 2
  %r151 = and i1 %r148, %r150
  %r152 = mul i64 %r147, 2
  %r153 = add i64 %r152, %r149
  %r154 = sext i32 0 to i64
  %r155 = icmp ult i64 %r154, 2
  %r156 = and i1 %r151, %r155
  %r157 = mul i64 %r153, 2
  %r158 = add i64 %r157, %r154
  %r159 = sext i32 1 to i64
  %r160 = icmp ult i64 %r159, 2
  %r161 = and i1 %r156, %r160
  %r162 = mul i64 %r158, 2
  %r163 = add i64 %r162, %r159
  %r164 = select i1 %r161, i64 %r163, i64 0
  %r165 = getelementptr [16 x i32], [16 x i32]* %v9, i64 0, i64 %r164
  %r166 = load i32, i32* %r165
  %r167 = select i1 %r161, i32 %r166, i32 0
  %r168 = add i32 %r145, %r167
  store i32 %r168, i32* %v2
  store i32 0, i32* %v4
  %r169 = load i32, i32* %v0
  %r170 = icmp sgt i32 %r169, 0
  br i1 %r170, label %L27, label %L28
L27:
  %r171 = load i32, i32* %v4
  %r172 = add i32 %r171, 1
  store i32 %r172, i32* %v4
  %r173 = icmp sgt i32 %r172, 2
  br label %L28
L28:
  %r174 = phi i1 [ false, %L23 ], [ %r173, %L27 ]
  br i1 %r174, label %L29, label %L30
L29:
  br label %L31
L30:
  %r175 = load i32, i32* %v2
  %r176 = load i32, i32* %v4
  %r177 = add i32 %r175, %r176
  store i32 %r177, i32* %v2
  br label %L31
L31:
  %r178 = load i32, i32* %v0
  %r179 = icmp sgt i32 %r178, 3
  br i1 %r179, label %L33, label %L32
L32:
  %r180 = load i32, i32* %v4
  %r181 = add i32 %r180, 1
  store i32 %r181, i32* %v4
  %r182 = icmp sgt i32 %r180, 0
  br label %L33
L33:
  %r183 = phi i1 [ true, %L31 ], [ %r182, %L32 ]
  br i1 %r183, label %L34, label %L35
L34:
  %r184 = load i32, i32* %v2
  %r185 = add i32 %r184, 40
  store i32 %r185, i32* %v2
  br label %L35
L35:
  %r186 = load i32, i32* %v0
  %r187 = icmp slt i32 %r186, 2
  br i1 %r187, label %L36, label %L37
L36:
  %r188 = load i32, i32* %v4
  %r189 = sub i32 %r188, 1
  store i32 %r189, i32* %v4
  br label %L38
L37:
  store i32 77, i32* %v3
  br label %L38
L38:
  %r190 = phi i32 [ %r188, %L36 ], [ 77, %L37 ]
  store i32 %r190, i32* %v4
  %r191 = load i32, i32* %v0
  %r192 = icmp eq i32 %r191, 5
  br i1 %r192, label %L39, label %L40
L39:
  %r193 = load i32, i32* %v2
  %r194 = add i32 %r193, 1
  store i32 %r194, i32* %v2
  br label %L1
L40:
  %r195 = load i32, i32* %v2
  %r196 = load i32, i32* %v3
  %r197 = load i32, i32* %v4
  %r198 = add i32 %r196, %r197
  %r199 = add i32 %r195, %r198
  store i32 %r199, i32* %v2
  %r200 = load i32, i32* %v2
  %r201 = load i8, i8* %v7
  %r202 = zext i8 %r201 to i32
  %r203 = add i32 %r200, %r202
  store i32 %r203, i32* %v2
  %r204 = load i32, i32* %v2
  %r205 = load i32, i32* %v0
  %r206 = sext i32 %r205 to i64
  %r207 = icmp ult i64 %r206, 5
  %r208 = select i1 %r207, i64 %r206, i64 0
  %r209 = getelementptr [5 x i32], [5 x i32]* %v5, i64 0, i64 %r208
  %r210 = load i32, i32* %r209
  %r211 = select i1 %r207, i32 %r210, i32 0
  %r212 = add i32 %r204, %r211
  store i32 %r212, i32* %v2
  %r213 = load i32, i32* %v2
  %r214 = load i32, i32* %v0
  %r215 = sext i32 %r214 to i64
  %r216 = icmp ult i64 %r215, 5
  %r217 = select i1 %r216, i64 %r215, i64 0
  %r218 = getelementptr [5 x i32], [5 x i32]* %v5, i64 0, i64 %r217
  %r219 = load i32, i32* %r218
  %r220 = select i1 %r216, i32 4, i32 %r219
  store i32 %r220, i32* %r218
  %r221 = select i1 %r216, i32 4, i32 0
  %r222 = add i32 %r213, %r221
  store i32 %r222, i32* %v2
  %r223 = load i32, i32* %v2
  %r224 = load i32, i32* %v0
  %r225 = sext i32 %r224 to i64
  %r226 = icmp ult i64 %r225, 5
  %r227 = select i1 %r226, i64 %r225, i64 0
  %r228 = getelementptr [5 x i32], [5 x i32]* %v5, i64 0, i64 %r227
  %r229 = load i32, i32* %r228
  %r230 = select i1 %r226, i32 %r229, i32 0
  %r231 = icmp ult i32 2, 32
  %r232 = select i1 %r231, i32 2, i32 0
  %r233 = shl i32 %r230, %r232
  %r234 = select i1 %r231, i32 %r233, i32 0
  %r235 = load i32, i32* %r228
  %r236 = select i1 %r226, i32 %r234, i32 %r235
  store i32 %r236, i32* %r228
  %r237 = select i1 %r226, i32 %r234, i32 0
  %r238 = add i32 %r223, %r237
  store i32 %r238, i32* %v2
  br label %L1
L1:
  %r239 = load i32, i32* %v2
  %r240 = insertvalue { i32 } undef, i32 %r239, 0
  ret { i32 } %r240
}

declare void @llvm.memset.p0i8.i64(i8*, i8, i64, i1)
define internal i32 @srem_i32(i32 %a, i32 %b) nounwind readnone alwaysinline {
  %r33 = icmp eq i32 %b, 0
  %r34 = icmp eq i32 %a, -2147483648
  %r35 = icmp eq i32 %b, -1
  %r36 = and i1 %r34, %r35
  %r37 = or i1 %r33, %r36
  %r38 = select i1 %r37, i32 1, i32 %b
  %r39 = srem i32 %a, %r38
  ret i32 %r39
}


!nvvmir.version = !{!1}
!1 = !{i32 2, i32 0, i32 3, i32 1}
