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
  %r22 = load i32, i32* %v2
  %r23 = load i32, i32* %v3
  %r24 = sext i32 %r23 to i64
  %r25 = icmp ult i64 %r24, 3
  %r26 = select i1 %r25, i64 %r24, i64 0
  %r27 = getelementptr [3 x i32], [3 x i32]* %v8, i64 0, i64 %r26
  %r28 = load i32, i32* %r27
  %r29 = select i1 %r25, i32 %r28, i32 0
  %r30 = add i32 %r22, %r29
  store i32 %r30, i32* %v2
  %r31 = load i32, i32* %v3
  %r39 = call i32 @srem_i32(i32 %r31, i32 6)
  %r40 = sext i32 %r39 to i64
  switch i64 %r40, label %L10 [ i64 0, label %L8 i64 1, label %L9 i64 3, label %L11 i64 4, label %L12 ]
L8:
  %r41 = load i32, i32* %v2
  %r42 = add i32 %r41, 1
  store i32 %r42, i32* %v2
  br label %L9
L9:
  %r43 = load i32, i32* %v2
  %r44 = add i32 %r43, 10
  store i32 %r44, i32* %v2
  br label %L7
L10:
  %r45 = load i32, i32* %v2
  %r46 = add i32 %r45, 1000
  store i32 %r46, i32* %v2
  br label %L7
L11:
  %r47 = load i32, i32* %v0
  %r48 = icmp sgt i32 %r47, 4
  br i1 %r48, label %L13, label %L14
L13:
  br label %L4
L14:
  %r49 = load i32, i32* %v2
  %r50 = add i32 %r49, 7
  store i32 %r50, i32* %v2
  br label %L12
L12:
  %r51 = load i32, i32* %v0
  %r52 = sext i32 %r51 to i64
  switch i64 %r52, label %L15 [ i64 2, label %L16 i64 3, label %L17 ]
L16:
  br label %L15
L17:
  %r53 = load i32, i32* %v2
  %r54 = add i32 %r53, 5
  store i32 %r54, i32* %v2
  br label %L15
L15:
  %r55 = load i32, i32* %v2
  %r56 = add i32 %r55, 100
  store i32 %r56, i32* %v2
  br label %L7
L7:
  %r57 = load i32, i32* %v3
  %r58 = sext i32 %r57 to i64
  %r59 = icmp ult i64 %r58, 5
  %r60 = select i1 %r59, i64 %r58, i64 0
  %r61 = getelementptr [5 x i32], [5 x i32]* %v5, i64 0, i64 %r60
  %r62 = load i32, i32* %v2
  %r63 = load i32, i32* %v3
  %r64 = add i32 %r62, %r63
  %r65 = load i32, i32* %r61
  %r66 = select i1 %r59, i32 %r64, i32 %r65
  store i32 %r66, i32* %r61
  %r67 = load i32, i32* %v2
  %r68 = icmp sgt i32 %r67, 30000
  br i1 %r68, label %L18, label %L19
L18:
  br label %L6
L19:
  %r69 = load i8, i8* %v7
  %r70 = zext i8 %r69 to i32
  %r71 = mul i32 %r70, 3
  %r72 = trunc i32 %r71 to i8
  store i8 %r72, i8* %v7
  br label %L4
L4:
  %r73 = load i32, i32* %v3
  %r74 = add i32 %r73, 1
  store i32 %r74, i32* %v3
  br label %L3
L6:
  store i32 0, i32* %v4
  br label %L20
L20:
  %r75 = load i32, i32* %v4
  %r76 = sext i32 %r75 to i64
  %r77 = icmp ult i64 %r76, 2
  %r78 = load i32, i32* %v0
  %r79 = load i32, i32* %v4
  %r80 = sub i32 %r78, %r79
  %r81 = sext i32 %r80 to i64
  %r82 = icmp ult i64 %r81, 3
  %r83 = and i1 %r77, %r82
  %r84 = mul i64 %r76, 3
  %r85 = add i64 %r84, %r81
  %r86 = select i1 %r83, i64 %r85, i64 0
  %r87 = getelementptr [6 x i8], [6 x i8]* %v6, i64 0, i64 %r86
  %r88 = load i32, i32* %v4
  %r89 = and i32 %r88, 1
  %r90 = icmp eq i32 %r89, 1
  %r91 = load i8, i8* %r87
  %r92 = icmp ne i8 %r91, 0
  %r93 = select i1 %r83, i1 %r90, i1 %r92
  %r94 = zext i1 %r93 to i8
  store i8 %r94, i8* %r87
  %r95 = load i32, i32* %v4
  %r96 = sext i32 %r95 to i64
  %r97 = icmp ult i64 %r96, 2
  %r98 = load i32, i32* %v0
  %r99 = load i32, i32* %v4
  %r100 = sub i32 %r98, %r99
  %r101 = sext i32 %r100 to i64
  %r102 = icmp ult i64 %r101, 3
  %r103 = and i1 %r97, %r102
  %r104 = mul i64 %r96, 3
  %r105 = add i64 %r104, %r101
  %r106 = select i1 %r103, i64 %r105, i64 0
  %r107 = getelementptr [6 x i8], [6 x i8]* %v6, i64 0, i64 %r106
  %r108 = load i8, i8* %r107
  %r109 = icmp ne i8 %r108, 0
  %r110 = select i1 %r103, i1 %r109, i1 false
  br i1 %r110, label %L24, label %L25
L24:
  %r111 = load i32, i32* %v2
  %r112 = add i32 %r111, 3
  store i32 %r112, i32* %v2
  br label %L26
L25:
  %r113 = load i32, i32* %v2
  %r114 = add i32 %r113, 2
  store i32 %r114, i32* %v2
  br label %L26
L26:
  %r115 = load i32, i32* %v4
  %r116 = add i32 %r115, 1
  store i32 %r116, i32* %v4
  br label %L21
L21:
  %r117 = load i32, i32* %v4
  %r118 = icmp slt i32 %r117, 4
  br i1 %r118, label %L20, label %L23
L23:
  %r119 = load i32, i32* %v0
  %r120 = sext i32 %r119 to i64
  %r121 = icmp ult i64 %r120, 2
  %r122 = sext i32 1 to i64
  %r123 = icmp ult i64 %r122, 2
  %r124 = and i1 %r121, %r123
  %r125 = mul i64 %r120, 2
  %r126 = add i64 %r125, %r122
  %r127 = sext i32 0 to i64
  %r128 = icmp ult i64 %r127, 2
  %r129 = and i1 %r124, %r128
  %r130 = mul i64 %r126, 2
  %r131 = add i64 %r130, %r127
  %r132 = sext i32 1 to i64
  %r133 = icmp ult i64 %r132, 2
  %r134 = and i1 %r129, %r133
  %r135 = mul i64 %r131, 2
  %r136 = add i64 %r135, %r132
  %r137 = select i1 %r134, i64 %r136, i64 0
  %r138 = getelementptr [16 x i32], [16 x i32]* %v9, i64 0, i64 %r137
  %r139 = load i32, i32* %r138
  %r140 = select i1 %r134, i32 9, i32 %r139
  store i32 %r140, i32* %r138
  %r141 = load i32, i32* %v2
  %r142 = load i32, i32* %v0
  %r143 = sext i32 %r142 to i64
  %r144 = icmp ult i64 %r143, 2
  %r145 = sext i32 1 to i64
  %r146 = icmp ult i64 %r145, 2
  %r147 = and i1 %r144, %r146
  %r148 = mul i64 %r143, 2
  %r149 = add i64 %r148, %r145
  %r150 = sext i32 0 to i64
  %r151 = icmp ult i64 %r150, 2
  %r152 = and i1 %r147, %r151
  %r153 = mul i64 %r149, 2
  %r154 = add i64 %r153, %r150
  %r155 = sext i32 1 to i64
  %r156 = icmp ult i64 %r155, 2
  %r157 = and i1 %r152, %r156
  %r158 = mul i64 %r154, 2
  %r159 = add i64 %r158, %r155
  %r160 = select i1 %r157, i64 %r159, i64 0
  %r161 = getelementptr [16 x i32], [16 x i32]* %v9, i64 0, i64 %r160
  %r162 = load i32, i32* %r161
  %r163 = select i1 %r157, i32 %r162, i32 0
  %r164 = add i32 %r141, %r163
  store i32 %r164, i32* %v2
  store i32 0, i32* %v4
  %r165 = load i32, i32* %v0
  %r166 = icmp sgt i32 %r165, 0
  br i1 %r166, label %L27, label %L28
L27:
  %r167 = load i32, i32* %v4
  %r168 = add i32 %r167, 1
  store i32 %r168, i32* %v4
  %r169 = icmp sgt i32 %r168, 2
  br label %L28
L28:
  %r170 = phi i1 [ false, %L23 ], [ %r169, %L27 ]
  br i1 %r170, label %L29, label %L30
L29:
  br label %L31
L30:
  %r171 = load i32, i32* %v2
  %r172 = load i32, i32* %v4
  %r173 = add i32 %r171, %r172
  store i32 %r173, i32* %v2
  br label %L31
L31:
  %r174 = load i32, i32* %v0
  %r175 = icmp sgt i32 %r174, 3
  br i1 %r175, label %L33, label %L32
L32:
  %r176 = load i32, i32* %v4
  %r177 = add i32 %r176, 1
  store i32 %r177, i32* %v4
  %r178 = icmp sgt i32 %r176, 0
  br label %L33
L33:
  %r179 = phi i1 [ true, %L31 ], [ %r178, %L32 ]
  br i1 %r179, label %L34, label %L35
L34:
  %r180 = load i32, i32* %v2
  %r181 = add i32 %r180, 40
  store i32 %r181, i32* %v2
  br label %L35
L35:
  %r182 = load i32, i32* %v0
  %r183 = icmp slt i32 %r182, 2
  br i1 %r183, label %L36, label %L37
L36:
  %r184 = load i32, i32* %v4
  %r185 = sub i32 %r184, 1
  store i32 %r185, i32* %v4
  br label %L38
L37:
  store i32 77, i32* %v3
  br label %L38
L38:
  %r186 = phi i32 [ %r184, %L36 ], [ 77, %L37 ]
  store i32 %r186, i32* %v4
  %r187 = load i32, i32* %v0
  %r188 = icmp eq i32 %r187, 5
  br i1 %r188, label %L39, label %L40
L39:
  %r189 = load i32, i32* %v2
  %r190 = add i32 %r189, 1
  store i32 %r190, i32* %v2
  br label %L1
L40:
  %r191 = load i32, i32* %v2
  %r192 = load i32, i32* %v3
  %r193 = load i32, i32* %v4
  %r194 = add i32 %r192, %r193
  %r195 = add i32 %r191, %r194
  store i32 %r195, i32* %v2
  %r196 = load i32, i32* %v2
  %r197 = load i8, i8* %v7
  %r198 = zext i8 %r197 to i32
  %r199 = add i32 %r196, %r198
  store i32 %r199, i32* %v2
  %r200 = load i32, i32* %v2
  %r201 = load i32, i32* %v0
  %r202 = sext i32 %r201 to i64
  %r203 = icmp ult i64 %r202, 5
  %r204 = select i1 %r203, i64 %r202, i64 0
  %r205 = getelementptr [5 x i32], [5 x i32]* %v5, i64 0, i64 %r204
  %r206 = load i32, i32* %r205
  %r207 = select i1 %r203, i32 %r206, i32 0
  %r208 = add i32 %r200, %r207
  store i32 %r208, i32* %v2
  %r209 = load i32, i32* %v2
  %r210 = load i32, i32* %v0
  %r211 = sext i32 %r210 to i64
  %r212 = icmp ult i64 %r211, 5
  %r213 = select i1 %r212, i64 %r211, i64 0
  %r214 = getelementptr [5 x i32], [5 x i32]* %v5, i64 0, i64 %r213
  %r215 = load i32, i32* %r214
  %r216 = select i1 %r212, i32 4, i32 %r215
  store i32 %r216, i32* %r214
  %r217 = add i32 %r209, 4
  store i32 %r217, i32* %v2
  %r218 = load i32, i32* %v2
  %r219 = load i32, i32* %v0
  %r220 = sext i32 %r219 to i64
  %r221 = icmp ult i64 %r220, 5
  %r222 = select i1 %r221, i64 %r220, i64 0
  %r223 = getelementptr [5 x i32], [5 x i32]* %v5, i64 0, i64 %r222
  %r224 = load i32, i32* %r223
  %r225 = select i1 %r221, i32 %r224, i32 0
  %r226 = icmp ult i32 2, 32
  %r227 = select i1 %r226, i32 2, i32 0
  %r228 = shl i32 %r225, %r227
  %r229 = select i1 %r226, i32 %r228, i32 0
  %r230 = load i32, i32* %r223
  %r231 = select i1 %r221, i32 %r229, i32 %r230
  store i32 %r231, i32* %r223
  %r232 = add i32 %r218, %r229
  store i32 %r232, i32* %v2
  br label %L1
L1:
  %r233 = load i32, i32* %v2
  %r234 = insertvalue { i32 } undef, i32 %r233, 0
  ret { i32 } %r234
}

declare void @llvm.memset.p0i8.i64(i8*, i8, i64, i1)
define internal i32 @srem_i32(i32 %a, i32 %b) nounwind readnone alwaysinline {
  %r32 = icmp eq i32 %b, 0
  %r33 = icmp eq i32 %a, -2147483648
  %r34 = icmp eq i32 %b, -1
  %r35 = and i1 %r33, %r34
  %r36 = or i1 %r32, %r35
  %r37 = select i1 %r36, i32 1, i32 %b
  %r38 = srem i32 %a, %r37
  ret i32 %r38
}


!nvvmir.version = !{!1}
!1 = !{i32 2, i32 0, i32 3, i32 1}
