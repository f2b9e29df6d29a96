; gcd

define internal { i32 } @combine(i32 %p0, i32 %p1) nounwind alwaysinline {
L2:
  %v0 = alloca i32
  %v1 = alloca i32
  %v2 = alloca i32
  %v3 = alloca i32
  store i32 %p0, i32* %v0
  store i32 %p1, i32* %v1
  store i32 zeroinitializer, i32* %v2
  store i32 zeroinitializer, i32* %v3
  br label %L3
L3:
  %r1 = load i32, i32* %v1
  %r2 = icmp ne i32 %r1, 0
  br i1 %r2, label %L5, label %L6
L5:
  %r3 = load i32, i32* %v0
  %r4 = load i32, i32* %v1
  %r13 = call i32 @srem_total_i32(i32 %r3, i32 %r4)
  store i32 %r13, i32* %v3
  %r14 = load i32, i32* %v1
  store i32 %r14, i32* %v0
  %r15 = load i32, i32* %v3
  store i32 %r15, i32* %v1
  br label %L4
L4:
  br label %L3
L6:
  %r16 = load i32, i32* %v0
  store i32 %r16, i32* %v2
  br label %L1
L1:
  %r17 = load i32, i32* %v2
  %r18 = insertvalue { i32 } undef, i32 %r17, 0
  ret { i32 } %r18
}

define void @uf_gcd_scan_i32(i64* %words) nounwind "prefer-vector-width"="256" {
  %r19 = getelementptr inbounds i64, i64* %words, i64 0
  %r20 = bitcast i64* %r19 to i32**
  %r21 = load i32*, i32** %r20, align 8
  %r22 = getelementptr inbounds i64, i64* %words, i64 1
  %r23 = bitcast i64* %r22 to i32**
  %r24 = load i32*, i32** %r23, align 8
  %r25 = getelementptr inbounds i64, i64* %words, i64 2
  %r26 = load i64, i64* %r25, align 8
  %r27 = getelementptr inbounds i64, i64* %words, i64 3
  %r28 = load i64, i64* %r27, align 8
  %r29 = getelementptr inbounds i64, i64* %words, i64 4
  %r30 = load i64, i64* %r29, align 8
  %r31 = getelementptr inbounds i64, i64* %words, i64 5
  %r32 = load i64, i64* %r31, align 8
  %r33 = getelementptr inbounds i64, i64* %words, i64 6
  %r34 = load i64, i64* %r33, align 8
  %r35 = getelementptr inbounds i64, i64* %words, i64 7
  %r36 = load i64, i64* %r35, align 8
  %r37 = getelementptr inbounds i64, i64* %words, i64 8
  %r38 = load i64, i64* %r37, align 8
  %r39 = getelementptr inbounds i64, i64* %words, i64 9
  %r40 = load i64, i64* %r39, align 8
  %r41 = inttoptr i64 %r40 to i8*
  %r42 = getelementptr inbounds i64, i64* %words, i64 10
  %r43 = load i64, i64* %r42, align 8
  %r44 = icmp ne i64 %r43, 0
  %r45 = getelementptr inbounds i64, i64* %words, i64 11
  %r46 = load i64, i64* %r45, align 8
  %r47 = icmp eq i64 %r46, 0
  %r48 = alloca i32
  %r49 = alloca i32
  %r50 = alloca i64
  %r51 = alloca i32
  %r52 = alloca i32
  %r53 = alloca i32
  %r54 = alloca i32
  %r55 = alloca i32
  %r56 = alloca i32
  %r57 = alloca i32
  %r58 = alloca i32
  %r59 = alloca [512 x i32], align 64
  %r60 = getelementptr [512 x i32], [512 x i32]* %r59, i64 0, i64 0
  %r61 = icmp eq i64 %r46, 2
  br i1 %r61, label %L7, label %L8
L7:
  %r62 = getelementptr i8, i8* %r41, i64 0
  %r63 = bitcast i8* %r62 to i32*
  %r64 = load i32, i32* %r63, align 4
  %r65 = getelementptr i8, i8* %r41, i64 256
  %r66 = bitcast i8* %r65 to i32*
  %r67 = load i32, i32* %r66, align 4
  %r68 = call { i32 } @combine(i32 %r64, i32 %r67)
  %r69 = extractvalue { i32 } %r68, 0
  %r70 = getelementptr i8, i8* %r41, i64 256
  %r71 = bitcast i8* %r70 to i32*
  store i32 %r69, i32* %r71, align 4
  br label %L9
L8:
  br label %L10
L10:
  %r72 = icmp slt i64 0, %r26
  br i1 %r72, label %L11, label %L13
L11:
  %i11 = phi i64 [ 0, %L10 ], [ %next11, %L12 ]
  %r73 = mul i64 %i11, %r28
  %r74 = getelementptr inbounds i32, i32* %r21, i64 %r73
  %r75 = mul i64 %i11, %r30
  %r76 = getelementptr inbounds i32, i32* %r24, i64 %r75
  %r77 = load i32, i32* %r74, align 4
  store i32 %r77, i32* %r48
  store i32 %r77, i32* %r49
  %r78 = zext i1 %r44 to i64
  %r79 = call i64 asm sideeffect "", "=r,0"(i64 %r78)
  %r80 = icmp ne i64 %r79, 0
  br i1 %r80, label %L14, label %L15
L14:
  %r81 = getelementptr i8, i8* %r41, i64 0
  %r82 = bitcast i8* %r81 to i32*
  %r83 = load i32, i32* %r82, align 4
  %r84 = call { i32 } @combine(i32 %r83, i32 %r77)
  %r85 = extractvalue { i32 } %r84, 0
  store i32 %r85, i32* %r49
  br label %L15
L15:
  %r86 = zext i1 %r47 to i64
  %r87 = call i64 asm sideeffect "", "=r,0"(i64 %r86)
  %r88 = icmp ne i64 %r87, 0
  br i1 %r88, label %L16, label %L17
L16:
  %r89 = load i32, i32* %r49
  %r90 = add i64 %r34, 0
  %r91 = add i64 %r90, 1
  store i32 %r89, i32* %r76, align 4
  br label %L17
L17:
  br i1 %r88, label %L18, label %L19
L18:
  br label %L20
L20:
  %r92 = icmp slt i64 1, %r32
  br i1 %r92, label %L21, label %L23
L21:
  %i21 = phi i64 [ 1, %L20 ], [ %next21, %L22 ]
  %r93 = getelementptr inbounds i32, i32* %r74, i64 %i21
  %r94 = load i32, i32* %r93, align 4
  %r95 = load i32, i32* %r48
  %r96 = call { i32 } @combine(i32 %r95, i32 %r94)
  %r97 = extractvalue { i32 } %r96, 0
  store i32 %r97, i32* %r48
  %r98 = load i32, i32* %r49
  %r99 = call { i32 } @combine(i32 %r98, i32 %r94)
  %r100 = extractvalue { i32 } %r99, 0
  store i32 %r100, i32* %r49
  %r101 = load i32, i32* %r49
  %r102 = add i64 %r34, %i21
  %r103 = add i64 %r102, 1
  %r104 = getelementptr inbounds i32, i32* %r76, i64 %i21
  store i32 %r101, i32* %r104, align 4
  br label %L22
L22:
  %next21 = add nuw nsw i64 %i21, 1
  %r105 = icmp slt i64 %next21, %r32
  br i1 %r105, label %L21, label %L23, !llvm.loop !2
L23:
  br label %L19
L19:
  %r106 = xor i1 %r88, true
  br i1 %r106, label %L24, label %L25
L24:
  br label %L26
L26:
  %r107 = icmp slt i64 1, %r32
  br i1 %r107, label %L27, label %L29
L27:
  %i27 = phi i64 [ 1, %L26 ], [ %next27, %L28 ]
  %r108 = getelementptr inbounds i32, i32* %r74, i64 %i27
  %r109 = load i32, i32* %r108, align 4
  %r110 = load i32, i32* %r48
  %r111 = call { i32 } @combine(i32 %r110, i32 %r109)
  %r112 = extractvalue { i32 } %r111, 0
  store i32 %r112, i32* %r48
  br label %L28
L28:
  %next27 = add nuw nsw i64 %i27, 1
  %r113 = icmp slt i64 %next27, %r32
  br i1 %r113, label %L27, label %L29
L29:
  br label %L25
L25:
  %r114 = icmp ne i8* %r41, null
  %r115 = zext i1 %r114 to i64
  %r116 = call i64 asm sideeffect "", "=r,0"(i64 %r115)
  %r117 = icmp ne i64 %r116, 0
  br i1 %r117, label %L30, label %L31
L30:
  %r118 = load i32, i32* %r48
  store i32 %r118, i32* %r48
  store i32 %r118, i32* %r49
  %r119 = zext i1 %r44 to i64
  %r120 = call i64 asm sideeffect "", "=r,0"(i64 %r119)
  %r121 = icmp ne i64 %r120, 0
  br i1 %r121, label %L32, label %L33
L32:
  %r122 = getelementptr i8, i8* %r41, i64 0
  %r123 = bitcast i8* %r122 to i32*
  %r124 = load i32, i32* %r123, align 4
  %r125 = call { i32 } @combine(i32 %r124, i32 %r118)
  %r126 = extractvalue { i32 } %r125, 0
  store i32 %r126, i32* %r49
  br label %L33
L33:
  %r127 = load i32, i32* %r49
  %r128 = getelementptr i8, i8* %r41, i64 0
  %r129 = bitcast i8* %r128 to i32*
  store i32 %r127, i32* %r129, align 4
  br label %L31
L31:
  br label %L12
L12:
  %next11 = add nuw nsw i64 %i11, 1
  %r130 = icmp slt i64 %next11, %r26
  br i1 %r130, label %L11, label %L13, !llvm.loop !4
L13:
  br label %L9
L9:
  ret void
}
define internal i32 @srem_total_i32(i32 %a, i32 %b) nounwind readnone alwaysinline {
  %r5 = icmp eq i32 %b, 0
  %r6 = icmp eq i32 %a, -2147483648
  %r7 = icmp eq i32 %b, -1
  %r8 = and i1 %r6, %r7
  %r9 = or i1 %r5, %r8
  %r10 = select i1 %r9, i32 1, i32 %b
  %r11 = select i1 %r5, i32 0, i32 %a
  %r12 = srem i32 %r11, %r10
  ret i32 %r12
}


!1 = !{!"llvm.loop.unroll.disable"}
!2 = distinct !{!2, !1}
!3 = !{!"llvm.loop.unroll.disable"}
!4 = distinct !{!4, !3}
