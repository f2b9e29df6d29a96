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
  %r12 = call i32 @srem_total_i32(i32 %r3, i32 %r4)
  store i32 %r12, i32* %v3
  %r13 = load i32, i32* %v1
  store i32 %r13, i32* %v0
  %r14 = load i32, i32* %v3
  store i32 %r14, i32* %v1
  br label %L4
L4:
  br label %L3
L6:
  %r15 = load i32, i32* %v0
  store i32 %r15, i32* %v2
  br label %L1
L1:
  %r16 = load i32, i32* %v2
  %r17 = insertvalue { i32 } undef, i32 %r16, 0
  ret { i32 } %r17
}

define void @uf_gcd_scan_i32(i64* %words) nounwind "prefer-vector-width"="256" {
  %r18 = getelementptr inbounds i64, i64* %words, i64 0
  %r19 = bitcast i64* %r18 to i32**
  %r20 = load i32*, i32** %r19, align 8
  %r21 = getelementptr inbounds i64, i64* %words, i64 1
  %r22 = bitcast i64* %r21 to i32**
  %r23 = load i32*, i32** %r22, align 8
  %r24 = getelementptr inbounds i64, i64* %words, i64 2
  %r25 = load i64, i64* %r24, align 8
  %r26 = getelementptr inbounds i64, i64* %words, i64 3
  %r27 = load i64, i64* %r26, align 8
  %r28 = getelementptr inbounds i64, i64* %words, i64 4
  %r29 = load i64, i64* %r28, align 8
  %r30 = getelementptr inbounds i64, i64* %words, i64 5
  %r31 = load i64, i64* %r30, align 8
  %r32 = getelementptr inbounds i64, i64* %words, i64 6
  %r33 = load i64, i64* %r32, align 8
  %r34 = getelementptr inbounds i64, i64* %words, i64 7
  %r35 = load i64, i64* %r34, align 8
  %r36 = getelementptr inbounds i64, i64* %words, i64 8
  %r37 = load i64, i64* %r36, align 8
  %r38 = getelementptr inbounds i64, i64* %words, i64 9
  %r39 = load i64, i64* %r38, align 8
  %r40 = inttoptr i64 %r39 to i8*
  %r41 = getelementptr inbounds i64, i64* %words, i64 10
  %r42 = load i64, i64* %r41, align 8
  %r43 = icmp ne i64 %r42, 0
  %r44 = getelementptr inbounds i64, i64* %words, i64 11
  %r45 = load i64, i64* %r44, align 8
  %r46 = icmp eq i64 %r45, 0
  %r47 = alloca i32
  %r48 = alloca i32
  %r49 = alloca i64
  %r50 = alloca i32
  %r51 = alloca i32
  %r52 = alloca i32
  %r53 = alloca i32
  %r54 = alloca i32
  %r55 = alloca i32
  %r56 = alloca i32
  %r57 = alloca i32
  %r58 = alloca [512 x i32], align 64
  %r59 = getelementptr [512 x i32], [512 x i32]* %r58, i64 0, i64 0
  %r60 = icmp eq i64 %r45, 2
  br i1 %r60, label %L7, label %L8
L7:
  %r61 = getelementptr i8, i8* %r40, i64 0
  %r62 = bitcast i8* %r61 to i32*
  %r63 = load i32, i32* %r62, align 4
  %r64 = getelementptr i8, i8* %r40, i64 256
  %r65 = bitcast i8* %r64 to i32*
  %r66 = load i32, i32* %r65, align 4
  %r67 = call { i32 } @combine(i32 %r63, i32 %r66)
  %r68 = extractvalue { i32 } %r67, 0
  %r69 = getelementptr i8, i8* %r40, i64 256
  %r70 = bitcast i8* %r69 to i32*
  store i32 %r68, i32* %r70, align 4
  br label %L9
L8:
  br label %L10
L10:
  %r71 = icmp slt i64 0, %r25
  br i1 %r71, label %L11, label %L13
L11:
  %i11 = phi i64 [ 0, %L10 ], [ %next11, %L12 ]
  %r72 = mul i64 %i11, %r27
  %r73 = getelementptr inbounds i32, i32* %r20, i64 %r72
  %r74 = mul i64 %i11, %r29
  %r75 = getelementptr inbounds i32, i32* %r23, i64 %r74
  %r76 = load i32, i32* %r73, align 4
  store i32 %r76, i32* %r47
  store i32 %r76, i32* %r48
  %r77 = zext i1 %r43 to i64
  %r78 = call i64 asm sideeffect "", "=r,0"(i64 %r77)
  %r79 = icmp ne i64 %r78, 0
  br i1 %r79, label %L14, label %L15
L14:
  %r80 = getelementptr i8, i8* %r40, i64 0
  %r81 = bitcast i8* %r80 to i32*
  %r82 = load i32, i32* %r81, align 4
  %r83 = call { i32 } @combine(i32 %r82, i32 %r76)
  %r84 = extractvalue { i32 } %r83, 0
  store i32 %r84, i32* %r48
  br label %L15
L15:
  %r85 = zext i1 %r46 to i64
  %r86 = call i64 asm sideeffect "", "=r,0"(i64 %r85)
  %r87 = icmp ne i64 %r86, 0
  br i1 %r87, label %L16, label %L17
L16:
  %r88 = load i32, i32* %r48
  %r89 = add i64 %r33, 0
  %r90 = add i64 %r89, 1
  store i32 %r88, i32* %r75, align 4
  br label %L17
L17:
  %r91 = zext i1 %r46 to i64
  %r92 = call i64 asm sideeffect "", "=r,0"(i64 %r91)
  %r93 = icmp ne i64 %r92, 0
  br i1 %r93, label %L18, label %L19
L18:
  br label %L20
L20:
  %r94 = icmp slt i64 1, %r31
  br i1 %r94, label %L21, label %L23
L21:
  %i21 = phi i64 [ 1, %L20 ], [ %next21, %L22 ]
  %r95 = getelementptr inbounds i32, i32* %r73, i64 %i21
  %r96 = load i32, i32* %r95, align 4
  %r97 = load i32, i32* %r47
  %r98 = load i32, i32* %r48
  %r99 = call { i32 } @combine(i32 %r97, i32 %r96)
  %r100 = extractvalue { i32 } %r99, 0
  store i32 %r100, i32* %r47
  %r101 = call { i32 } @combine(i32 %r98, i32 %r96)
  %r102 = extractvalue { i32 } %r101, 0
  store i32 %r102, i32* %r48
  %r103 = load i32, i32* %r48
  %r104 = add i64 %r33, %i21
  %r105 = add i64 %r104, 1
  %r106 = getelementptr inbounds i32, i32* %r75, i64 %i21
  store i32 %r103, i32* %r106, align 4
  br label %L22
L22:
  %next21 = add nuw nsw i64 %i21, 1
  %r107 = icmp slt i64 %next21, %r31
  br i1 %r107, label %L21, label %L23, !llvm.loop !2
L23:
  br label %L19
L19:
  %r108 = xor i1 %r93, true
  br i1 %r108, label %L24, label %L25
L24:
  br label %L26
L26:
  %r109 = icmp slt i64 1, %r31
  br i1 %r109, label %L27, label %L29
L27:
  %i27 = phi i64 [ 1, %L26 ], [ %next27, %L28 ]
  %r110 = getelementptr inbounds i32, i32* %r73, i64 %i27
  %r111 = load i32, i32* %r110, align 4
  %r112 = load i32, i32* %r47
  %r113 = load i32, i32* %r48
  %r114 = call { i32 } @combine(i32 %r112, i32 %r111)
  %r115 = extractvalue { i32 } %r114, 0
  store i32 %r115, i32* %r47
  br label %L28
L28:
  %next27 = add nuw nsw i64 %i27, 1
  %r116 = icmp slt i64 %next27, %r31
  br i1 %r116, label %L27, label %L29
L29:
  br label %L25
L25:
  %r117 = icmp ne i8* %r40, null
  %r118 = zext i1 %r117 to i64
  %r119 = call i64 asm sideeffect "", "=r,0"(i64 %r118)
  %r120 = icmp ne i64 %r119, 0
  br i1 %r120, label %L30, label %L31
L30:
  %r121 = load i32, i32* %r47
  store i32 %r121, i32* %r47
  store i32 %r121, i32* %r48
  %r122 = zext i1 %r43 to i64
  %r123 = call i64 asm sideeffect "", "=r,0"(i64 %r122)
  %r124 = icmp ne i64 %r123, 0
  br i1 %r124, label %L32, label %L33
L32:
  %r125 = getelementptr i8, i8* %r40, i64 0
  %r126 = bitcast i8* %r125 to i32*
  %r127 = load i32, i32* %r126, align 4
  %r128 = call { i32 } @combine(i32 %r127, i32 %r121)
  %r129 = extractvalue { i32 } %r128, 0
  store i32 %r129, i32* %r48
  br label %L33
L33:
  %r130 = load i32, i32* %r48
  %r131 = getelementptr i8, i8* %r40, i64 0
  %r132 = bitcast i8* %r131 to i32*
  store i32 %r130, i32* %r132, align 4
  br label %L31
L31:
  br label %L12
L12:
  %next11 = add nuw nsw i64 %i11, 1
  %r133 = icmp slt i64 %next11, %r25
  br i1 %r133, label %L11, label %L13, !llvm.loop !4
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
  %r11 = srem i32 %a, %r10
  ret i32 %r11
}


!1 = !{!"llvm.loop.unroll.disable"}
!2 = distinct !{!2, !1}
!3 = !{!"llvm.loop.unroll.disable"}
!4 = distinct !{!4, !3}
