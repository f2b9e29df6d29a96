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
  %r46 = icmp ne i64 %r45, 0
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
  br i1 %r43, label %L14, label %L15
L14:
  %r77 = getelementptr i8, i8* %r40, i64 0
  %r78 = bitcast i8* %r77 to i32*
  %r79 = load i32, i32* %r78, align 4
  %r80 = call { i32 } @combine(i32 %r79, i32 %r76)
  %r81 = extractvalue { i32 } %r80, 0
  store i32 %r81, i32* %r48
  br label %L15
L15:
  %r82 = xor i1 %r46, true
  br i1 %r82, label %L16, label %L17
L16:
  %r83 = load i32, i32* %r48
  %r84 = add i64 %r33, 0
  %r85 = add i64 %r84, 1
  store i32 %r83, i32* %r75, align 4
  br label %L17
L17:
  br label %L18
L18:
  %r86 = icmp slt i64 1, %r31
  br i1 %r86, label %L19, label %L21
L19:
  %i19 = phi i64 [ 1, %L18 ], [ %next19, %L20 ]
  %r87 = getelementptr inbounds i32, i32* %r73, i64 %i19
  %r88 = load i32, i32* %r87, align 4
  %r89 = load i32, i32* %r47
  %r90 = load i32, i32* %r48
  %r91 = call { i32 } @combine(i32 %r89, i32 %r88)
  %r92 = extractvalue { i32 } %r91, 0
  %r93 = call { i32 } @combine(i32 %r90, i32 %r88)
  %r94 = extractvalue { i32 } %r93, 0
  store i32 %r92, i32* %r47
  store i32 %r94, i32* %r48
  %r95 = xor i1 %r46, true
  br i1 %r95, label %L22, label %L23
L22:
  %r96 = load i32, i32* %r48
  %r97 = add i64 %r33, %i19
  %r98 = add i64 %r97, 1
  %r99 = getelementptr inbounds i32, i32* %r75, i64 %i19
  store i32 %r96, i32* %r99, align 4
  br label %L23
L23:
  br label %L20
L20:
  %next19 = add nuw nsw i64 %i19, 1
  %r100 = icmp slt i64 %next19, %r31
  br i1 %r100, label %L19, label %L21, !llvm.loop !2
L21:
  %r101 = icmp ne i8* %r40, null
  br i1 %r101, label %L24, label %L25
L24:
  %r102 = load i32, i32* %r47
  store i32 %r102, i32* %r47
  store i32 %r102, i32* %r48
  br i1 %r43, label %L26, label %L27
L26:
  %r103 = getelementptr i8, i8* %r40, i64 0
  %r104 = bitcast i8* %r103 to i32*
  %r105 = load i32, i32* %r104, align 4
  %r106 = call { i32 } @combine(i32 %r105, i32 %r102)
  %r107 = extractvalue { i32 } %r106, 0
  store i32 %r107, i32* %r48
  br label %L27
L27:
  %r108 = load i32, i32* %r48
  %r109 = getelementptr i8, i8* %r40, i64 0
  %r110 = bitcast i8* %r109 to i32*
  store i32 %r108, i32* %r110, align 4
  br label %L25
L25:
  br label %L12
L12:
  %next11 = add nuw nsw i64 %i11, 1
  %r111 = icmp slt i64 %next11, %r25
  br i1 %r111, label %L11, label %L13, !llvm.loop !4
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
