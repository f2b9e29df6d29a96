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
  %r31 = alloca [1024 x double], align 64
  %r32 = getelementptr [1024 x double], [1024 x double]* %r31, i64 0, i64 0
  br label %L3
L3:
  %r33 = icmp slt i64 0, %r18
  br i1 %r33, label %L4, label %L6
L4:
  %i4 = phi i64 [ 0, %L3 ], [ %next4, %L5 ]
  %r34 = sub i64 %r18, %i4
  %r35 = icmp slt i64 %r34, 8
  %r36 = select i1 %r35, i64 %r34, i64 8
  %r37 = mul i64 %i4, %r22
  %r38 = getelementptr inbounds double, double* %r8, i64 %r37
  %r39 = mul i64 %i4, %r26
  %r40 = getelementptr inbounds double, double* %r11, i64 %r39
  %r41 = mul i64 %i4, %r30
  %r42 = getelementptr inbounds double, double* %r14, i64 %r41
  %r43 = sub i64 %r16, 2
  %r44 = icmp sge i64 %r43, 0
  %r45 = and i64 %r36, -2
  %r46 = select i1 %r44, i64 %r45, i64 0
  %r47 = select i1 %r44, i64 %r16, i64 0
  br label %L7
L7:
  %r48 = icmp slt i64 0, %r47
  br i1 %r48, label %L8, label %L10
L8:
  %i8 = phi i64 [ 0, %L7 ], [ %next8, %L9 ]
  %r49 = icmp slt i64 %i8, %r43
  %r50 = select i1 %r49, i64 %i8, i64 %r43
  %r51 = mul i64 %r50, %r24
  %r52 = add i64 %r51, 0
  %r53 = getelementptr inbounds double, double* %r40, i64 %r52
  %r54 = bitcast double* %r53 to i8*
  %r55 = getelementptr i8, i8* %r54, i64 128
  call void @llvm.prefetch.p0i8(i8* %r55, i32 0, i32 3, i32 1)
  %r56 = getelementptr inbounds double, double* %r53, i64 %r24
  %r57 = bitcast double* %r56 to i8*
  %r58 = getelementptr i8, i8* %r57, i64 128
  call void @llvm.prefetch.p0i8(i8* %r58, i32 0, i32 3, i32 1)
  %r59 = getelementptr inbounds double, double* %r56, i64 %r24
  br label %L11
L11:
  %r60 = icmp slt i64 0, %r46
  br i1 %r60, label %L12, label %L14
L12:
  %i12 = phi i64 [ 0, %L11 ], [ %next12, %L13 ]
  %r61 = mul i64 %r50, %r24
  %r62 = add i64 %r61, %i12
  %r63 = getelementptr inbounds double, double* %r40, i64 %r62
  %r64 = bitcast double* %r63 to <2 x i64>*
  %r65 = load <2 x i64>, <2 x i64>* %r64, align 8
  %r66 = getelementptr inbounds double, double* %r63, i64 %r24
  %r67 = bitcast double* %r66 to <2 x i64>*
  %r68 = load <2 x i64>, <2 x i64>* %r67, align 8
  %r69 = getelementptr inbounds double, double* %r66, i64 %r24
  %r70 = shufflevector <2 x i64> %r65, <2 x i64> %r68, <2 x i32> <i32 0, i32 2>
  %r71 = shufflevector <2 x i64> %r65, <2 x i64> %r68, <2 x i32> <i32 1, i32 3>
  %r72 = mul i64 %i12, 128
  %r73 = add i64 %r72, %r50
  %r74 = getelementptr inbounds double, double* %r32, i64 %r73
  %r75 = bitcast double* %r74 to <2 x i64>*
  store <2 x i64> %r70, <2 x i64>* %r75, align 8
  %r76 = getelementptr inbounds double, double* %r74, i64 128
  %r77 = bitcast double* %r76 to <2 x i64>*
  store <2 x i64> %r71, <2 x i64>* %r77, align 8
  br label %L13
L13:
  %next12 = add nuw nsw i64 %i12, 2
  %r78 = icmp slt i64 %next12, %r46
  br i1 %r78, label %L12, label %L14
L14:
  br label %L9
L9:
  %next8 = add nuw nsw i64 %i8, 2
  %r79 = icmp slt i64 %next8, %r47
  br i1 %r79, label %L8, label %L10
L10:
  br label %L15
L15:
  %r80 = icmp slt i64 %r46, %r36
  br i1 %r80, label %L16, label %L18
L16:
  %i16 = phi i64 [ %r46, %L15 ], [ %next16, %L17 ]
  br label %L19
L19:
  %r81 = icmp slt i64 0, %r16
  br i1 %r81, label %L20, label %L22
L20:
  %i20 = phi i64 [ 0, %L19 ], [ %next20, %L21 ]
  %r82 = mul i64 %i16, 128
  %r83 = add i64 %r82, %i20
  %r84 = getelementptr inbounds double, double* %r32, i64 %r83
  %r85 = mul i64 %i20, %r24
  %r86 = add i64 %r85, %i16
  %r87 = getelementptr inbounds double, double* %r40, i64 %r86
  %r88 = load double, double* %r87, align 8, !llvm.access.group !1
  store double %r88, double* %r84, align 8, !llvm.access.group !1
  br label %L21
L21:
  %next20 = add nuw nsw i64 %i20, 1
  %r89 = icmp slt i64 %next20, %r16
  br i1 %r89, label %L20, label %L22, !llvm.loop !4
L22:
  br label %L17
L17:
  %next16 = add nuw nsw i64 %i16, 1
  %r90 = icmp slt i64 %next16, %r36
  br i1 %r90, label %L16, label %L18
L18:
  br label %L23
L23:
  %r91 = icmp slt i64 0, %r36
  br i1 %r91, label %L24, label %L26
L24:
  %i24 = phi i64 [ 0, %L23 ], [ %next24, %L25 ]
  %r92 = add i64 %i4, %i24
  %r93 = mul i64 %r92, %r22
  %r94 = getelementptr inbounds double, double* %r8, i64 %r93
  %r95 = mul i64 %r92, %r26
  %r96 = getelementptr inbounds double, double* %r11, i64 %r95
  %r97 = mul i64 %r92, %r30
  %r98 = getelementptr inbounds double, double* %r14, i64 %r97
  %r99 = mul i64 %i24, 128
  %r100 = add i64 %r99, 0
  %r101 = getelementptr inbounds double, double* %r32, i64 %r100
  br label %L27
L27:
  %r102 = icmp slt i64 0, %r16
  br i1 %r102, label %L28, label %L30
L28:
  %i28 = phi i64 [ 0, %L27 ], [ %next28, %L29 ]
  %r103 = getelementptr inbounds double, double* %r94, i64 %i28
  %r104 = load double, double* %r103, align 8, !llvm.access.group !5
  %r105 = getelementptr inbounds double, double* %r101, i64 %i28
  %r106 = load double, double* %r105, align 8, !llvm.access.group !5
  %r107 = getelementptr inbounds double, double* %r98, i64 %i28
  %r108 = call { double } @kernel(double %r104, double %r106)
  %r109 = extractvalue { double } %r108, 0
  store double %r109, double* %r107, align 8, !llvm.access.group !5
  br label %L29
L29:
  %next28 = add nuw nsw i64 %i28, 1
  %r110 = icmp slt i64 %next28, %r16
  br i1 %r110, label %L28, label %L30, !llvm.loop !7
L30:
  br label %L25
L25:
  %next24 = add nuw nsw i64 %i24, 1
  %r111 = icmp slt i64 %next24, %r36
  br i1 %r111, label %L24, label %L26, !llvm.loop !9
L26:
  br label %L5
L5:
  %next4 = add nuw nsw i64 %i4, 8
  %r112 = icmp slt i64 %next4, %r18
  br i1 %r112, label %L4, label %L6, !llvm.loop !11
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
