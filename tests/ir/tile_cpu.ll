; f

define internal { double } @kernel(double %p0, double %p1) nounwind alwaysinline {
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

define void @uf_f_tile_f64(i64* %words) nounwind "prefer-vector-width"="256" {
  %r6 = getelementptr inbounds i64, i64* %words, i64 0
  %r7 = bitcast i64* %r6 to double**
  %r8 = load double*, double** %r7, align 8
  %r9 = getelementptr inbounds i64, i64* %words, i64 1
  %r10 = bitcast i64* %r9 to double**
  %r11 = load double*, double** %r10, align 8
  %r12 = getelementptr inbounds i64, i64* %words, i64 2
  %r13 = bitcast i64* %r12 to double**
  %r14 = load double*, double** %r13, align 8
  %r15 = getelementptr inbounds i64, i64* %words, i64 3
  %r16 = load i64, i64* %r15, align 8
  %r17 = getelementptr inbounds i64, i64* %words, i64 4
  %r18 = load i64, i64* %r17, align 8
  %r19 = getelementptr inbounds i64, i64* %words, i64 5
  %r20 = load i64, i64* %r19, align 8
  %r21 = getelementptr inbounds i64, i64* %words, i64 6
  %r22 = load i64, i64* %r21, align 8
  %r23 = getelementptr inbounds i64, i64* %words, i64 7
  %r24 = load i64, i64* %r23, align 8
  %r25 = getelementptr inbounds i64, i64* %words, i64 8
  %r26 = load i64, i64* %r25, align 8
  %r27 = getelementptr inbounds i64, i64* %words, i64 9
  %r28 = load i64, i64* %r27, align 8
  %r29 = getelementptr inbounds i64, i64* %words, i64 10
  %r30 = load i64, i64* %r29, align 8
  %r31 = icmp eq i64 %r22, %r16
  %r32 = and i1 true, %r31
  %r33 = icmp eq i64 %r30, %r16
  %r34 = and i1 %r32, %r33
  %r35 = select i1 %r34, i64 %r16, i64 128
  %r36 = alloca [1024 x double], align 64
  %r37 = getelementptr [1024 x double], [1024 x double]* %r36, i64 0, i64 0
  br label %L3
L3:
  %r38 = icmp slt i64 0, %r18
  br i1 %r38, label %L4, label %L6
L4:
  %i4 = phi i64 [ 0, %L3 ], [ %next4, %L5 ]
  %r39 = sub i64 %r18, %i4
  %r40 = icmp slt i64 %r39, 8
  %r41 = select i1 %r40, i64 %r39, i64 8
  %r42 = mul i64 %i4, %r22
  %r43 = getelementptr inbounds double, double* %r8, i64 %r42
  %r44 = mul i64 %i4, %r26
  %r45 = getelementptr inbounds double, double* %r11, i64 %r44
  %r46 = mul i64 %i4, %r30
  %r47 = getelementptr inbounds double, double* %r14, i64 %r46
  %r48 = sub i64 %r16, 2
  %r49 = sub i64 %r41, 2
  %r50 = icmp slt i64 %r48, %r49
  %r51 = select i1 %r50, i64 %r48, i64 %r49
  %r52 = icmp sge i64 %r51, 0
  %r53 = select i1 %r52, i64 %r41, i64 0
  %r54 = select i1 %r52, i64 %r16, i64 0
  br label %L7
L7:
  %r55 = icmp slt i64 0, %r54
  br i1 %r55, label %L8, label %L10
L8:
  %i8 = phi i64 [ 0, %L7 ], [ %next8, %L9 ]
  %r56 = icmp slt i64 %i8, %r48
  %r57 = select i1 %r56, i64 %i8, i64 %r48
  %r58 = mul i64 %r57, %r24
  %r59 = add i64 %r58, 0
  %r60 = getelementptr inbounds double, double* %r45, i64 %r59
  %r61 = bitcast double* %r60 to i8*
  %r62 = getelementptr i8, i8* %r61, i64 128
  call void @llvm.prefetch.p0i8(i8* %r62, i32 0, i32 3, i32 1)
  %r63 = getelementptr inbounds double, double* %r60, i64 %r24
  %r64 = bitcast double* %r63 to i8*
  %r65 = getelementptr i8, i8* %r64, i64 128
  call void @llvm.prefetch.p0i8(i8* %r65, i32 0, i32 3, i32 1)
  %r66 = getelementptr inbounds double, double* %r63, i64 %r24
  br label %L11
L11:
  %r67 = icmp slt i64 0, %r53
  br i1 %r67, label %L12, label %L14
L12:
  %i12 = phi i64 [ 0, %L11 ], [ %next12, %L13 ]
  %r68 = icmp slt i64 %i12, %r49
  %r69 = select i1 %r68, i64 %i12, i64 %r49
  %r70 = mul i64 %r57, %r24
  %r71 = add i64 %r70, %r69
  %r72 = getelementptr inbounds double, double* %r45, i64 %r71
  %r73 = bitcast double* %r72 to <2 x i64>*
  %r74 = load <2 x i64>, <2 x i64>* %r73, align 8
  %r75 = getelementptr inbounds double, double* %r72, i64 %r24
  %r76 = bitcast double* %r75 to <2 x i64>*
  %r77 = load <2 x i64>, <2 x i64>* %r76, align 8
  %r78 = getelementptr inbounds double, double* %r75, i64 %r24
  %r79 = shufflevector <2 x i64> %r74, <2 x i64> %r77, <2 x i32> <i32 0, i32 2>
  %r80 = shufflevector <2 x i64> %r74, <2 x i64> %r77, <2 x i32> <i32 1, i32 3>
  %r81 = mul i64 %r69, %r35
  %r82 = add i64 %r81, %r57
  %r83 = getelementptr inbounds double, double* %r37, i64 %r82
  %r84 = bitcast double* %r83 to <2 x i64>*
  store <2 x i64> %r79, <2 x i64>* %r84, align 8
  %r85 = getelementptr inbounds double, double* %r83, i64 %r35
  %r86 = bitcast double* %r85 to <2 x i64>*
  store <2 x i64> %r80, <2 x i64>* %r86, align 8
  %r87 = getelementptr inbounds double, double* %r85, i64 %r35
  br label %L13
L13:
  %next12 = add nuw nsw i64 %i12, 2
  %r88 = icmp slt i64 %next12, %r53
  br i1 %r88, label %L12, label %L14
L14:
  br label %L9
L9:
  %next8 = add nuw nsw i64 %i8, 2
  %r89 = icmp slt i64 %next8, %r54
  br i1 %r89, label %L8, label %L10
L10:
  br label %L15
L15:
  %r90 = icmp slt i64 %r53, %r41
  br i1 %r90, label %L16, label %L18
L16:
  %i16 = phi i64 [ %r53, %L15 ], [ %next16, %L17 ]
  br label %L19
L19:
  %r91 = icmp slt i64 0, %r16
  br i1 %r91, label %L20, label %L22
L20:
  %i20 = phi i64 [ 0, %L19 ], [ %next20, %L21 ]
  %r92 = mul i64 %i16, %r35
  %r93 = add i64 %r92, %i20
  %r94 = getelementptr inbounds double, double* %r37, i64 %r93
  %r95 = mul i64 %i20, %r24
  %r96 = add i64 %r95, %i16
  %r97 = getelementptr inbounds double, double* %r45, i64 %r96
  %r98 = load double, double* %r97, align 8, !llvm.access.group !1
  store double %r98, double* %r94, align 8, !llvm.access.group !1
  br label %L21
L21:
  %next20 = add nuw nsw i64 %i20, 1
  %r99 = icmp slt i64 %next20, %r16
  br i1 %r99, label %L20, label %L22, !llvm.loop !4
L22:
  br label %L17
L17:
  %next16 = add nuw nsw i64 %i16, 1
  %r100 = icmp slt i64 %next16, %r41
  br i1 %r100, label %L16, label %L18
L18:
  %r101 = select i1 %r34, i64 1, i64 %r41
  %r102 = mul i64 %r41, %r16
  %r103 = select i1 %r34, i64 %r102, i64 %r16
  br label %L23
L23:
  %r104 = icmp slt i64 0, %r101
  br i1 %r104, label %L24, label %L26
L24:
  %i24 = phi i64 [ 0, %L23 ], [ %next24, %L25 ]
  %r105 = add i64 %i4, %i24
  %r106 = mul i64 %r105, %r22
  %r107 = getelementptr inbounds double, double* %r8, i64 %r106
  %r108 = mul i64 %r105, %r26
  %r109 = getelementptr inbounds double, double* %r11, i64 %r108
  %r110 = mul i64 %r105, %r30
  %r111 = getelementptr inbounds double, double* %r14, i64 %r110
  %r112 = mul i64 %i24, %r35
  %r113 = add i64 %r112, 0
  %r114 = getelementptr inbounds double, double* %r37, i64 %r113
  br label %L27
L27:
  %r115 = icmp slt i64 0, %r103
  br i1 %r115, label %L28, label %L30
L28:
  %i28 = phi i64 [ 0, %L27 ], [ %next28, %L29 ]
  %r116 = getelementptr inbounds double, double* %r107, i64 %i28
  %r117 = load double, double* %r116, align 8, !llvm.access.group !5
  %r118 = getelementptr inbounds double, double* %r114, i64 %i28
  %r119 = load double, double* %r118, align 8, !llvm.access.group !5
  %r120 = getelementptr inbounds double, double* %r111, i64 %i28
  %r121 = call { double } @kernel(double %r117, double %r119)
  %r122 = extractvalue { double } %r121, 0
  store double %r122, double* %r120, align 8, !llvm.access.group !5
  br label %L29
L29:
  %next28 = add nuw nsw i64 %i28, 1
  %r123 = icmp slt i64 %next28, %r103
  br i1 %r123, label %L28, label %L30, !llvm.loop !7
L30:
  br label %L25
L25:
  %next24 = add nuw nsw i64 %i24, 1
  %r124 = icmp slt i64 %next24, %r101
  br i1 %r124, label %L24, label %L26, !llvm.loop !9
L26:
  br label %L5
L5:
  %next4 = add nuw nsw i64 %i4, 8
  %r125 = icmp slt i64 %next4, %r18
  br i1 %r125, label %L4, label %L6, !llvm.loop !11
L6:
  ret void
}
declare void @llvm.prefetch.p0i8(i8*, i32, i32, i32)

!1 = distinct !{}
!2 = !{!"llvm.loop.parallel_accesses", !1}
!3 = !{!"llvm.loop.vectorize.enable", i1 false}
!4 = distinct !{!4, !2, !3}
!5 = distinct !{}
!6 = !{!"llvm.loop.parallel_accesses", !5}
!7 = distinct !{!7, !6}
!8 = !{!"llvm.loop.unroll.disable"}
!9 = distinct !{!9, !8}
!10 = !{!"llvm.loop.unroll.disable"}
!11 = distinct !{!11, !10}
