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
  %r44 = sub i64 %r36, 2
  %r45 = icmp slt i64 %r43, %r44
  %r46 = select i1 %r45, i64 %r43, i64 %r44
  %r47 = icmp sge i64 %r46, 0
  %r48 = select i1 %r47, i64 %r36, i64 0
  %r49 = select i1 %r47, i64 %r16, i64 0
  br label %L7
L7:
  %r50 = icmp slt i64 0, %r49
  br i1 %r50, label %L8, label %L10
L8:
  %i8 = phi i64 [ 0, %L7 ], [ %next8, %L9 ]
  %r51 = icmp slt i64 %i8, %r43
  %r52 = select i1 %r51, i64 %i8, i64 %r43
  %r53 = mul i64 %r52, %r24
  %r54 = add i64 %r53, 0
  %r55 = getelementptr inbounds double, double* %r40, i64 %r54
  %r56 = bitcast double* %r55 to i8*
  %r57 = getelementptr i8, i8* %r56, i64 128
  call void @llvm.prefetch.p0i8(i8* %r57, i32 0, i32 3, i32 1)
  %r58 = getelementptr inbounds double, double* %r55, i64 %r24
  %r59 = bitcast double* %r58 to i8*
  %r60 = getelementptr i8, i8* %r59, i64 128
  call void @llvm.prefetch.p0i8(i8* %r60, i32 0, i32 3, i32 1)
  %r61 = getelementptr inbounds double, double* %r58, i64 %r24
  br label %L11
L11:
  %r62 = icmp slt i64 0, %r48
  br i1 %r62, label %L12, label %L14
L12:
  %i12 = phi i64 [ 0, %L11 ], [ %next12, %L13 ]
  %r63 = icmp slt i64 %i12, %r44
  %r64 = select i1 %r63, i64 %i12, i64 %r44
  %r65 = mul i64 %r52, %r24
  %r66 = add i64 %r65, %r64
  %r67 = getelementptr inbounds double, double* %r40, i64 %r66
  %r68 = bitcast double* %r67 to <2 x i64>*
  %r69 = load <2 x i64>, <2 x i64>* %r68, align 8
  %r70 = getelementptr inbounds double, double* %r67, i64 %r24
  %r71 = bitcast double* %r70 to <2 x i64>*
  %r72 = load <2 x i64>, <2 x i64>* %r71, align 8
  %r73 = getelementptr inbounds double, double* %r70, i64 %r24
  %r74 = shufflevector <2 x i64> %r69, <2 x i64> %r72, <2 x i32> <i32 0, i32 2>
  %r75 = shufflevector <2 x i64> %r69, <2 x i64> %r72, <2 x i32> <i32 1, i32 3>
  %r76 = mul i64 %r64, 128
  %r77 = add i64 %r76, %r52
  %r78 = getelementptr inbounds double, double* %r32, i64 %r77
  %r79 = bitcast double* %r78 to <2 x i64>*
  store <2 x i64> %r74, <2 x i64>* %r79, align 8
  %r80 = getelementptr inbounds double, double* %r78, i64 128
  %r81 = bitcast double* %r80 to <2 x i64>*
  store <2 x i64> %r75, <2 x i64>* %r81, align 8
  br label %L13
L13:
  %next12 = add nuw nsw i64 %i12, 2
  %r82 = icmp slt i64 %next12, %r48
  br i1 %r82, label %L12, label %L14
L14:
  br label %L9
L9:
  %next8 = add nuw nsw i64 %i8, 2
  %r83 = icmp slt i64 %next8, %r49
  br i1 %r83, label %L8, label %L10
L10:
  br label %L15
L15:
  %r84 = icmp slt i64 %r48, %r36
  br i1 %r84, label %L16, label %L18
L16:
  %i16 = phi i64 [ %r48, %L15 ], [ %next16, %L17 ]
  br label %L19
L19:
  %r85 = icmp slt i64 0, %r16
  br i1 %r85, label %L20, label %L22
L20:
  %i20 = phi i64 [ 0, %L19 ], [ %next20, %L21 ]
  %r86 = mul i64 %i16, 128
  %r87 = add i64 %r86, %i20
  %r88 = getelementptr inbounds double, double* %r32, i64 %r87
  %r89 = mul i64 %i20, %r24
  %r90 = add i64 %r89, %i16
  %r91 = getelementptr inbounds double, double* %r40, i64 %r90
  %r92 = load double, double* %r91, align 8, !llvm.access.group !1
  store double %r92, double* %r88, align 8, !llvm.access.group !1
  br label %L21
L21:
  %next20 = add nuw nsw i64 %i20, 1
  %r93 = icmp slt i64 %next20, %r16
  br i1 %r93, label %L20, label %L22, !llvm.loop !4
L22:
  br label %L17
L17:
  %next16 = add nuw nsw i64 %i16, 1
  %r94 = icmp slt i64 %next16, %r36
  br i1 %r94, label %L16, label %L18
L18:
  br label %L23
L23:
  %r95 = icmp slt i64 0, %r36
  br i1 %r95, label %L24, label %L26
L24:
  %i24 = phi i64 [ 0, %L23 ], [ %next24, %L25 ]
  %r96 = add i64 %i4, %i24
  %r97 = mul i64 %r96, %r22
  %r98 = getelementptr inbounds double, double* %r8, i64 %r97
  %r99 = mul i64 %r96, %r26
  %r100 = getelementptr inbounds double, double* %r11, i64 %r99
  %r101 = mul i64 %r96, %r30
  %r102 = getelementptr inbounds double, double* %r14, i64 %r101
  %r103 = mul i64 %i24, 128
  %r104 = add i64 %r103, 0
  %r105 = getelementptr inbounds double, double* %r32, i64 %r104
  br label %L27
L27:
  %r106 = icmp slt i64 0, %r16
  br i1 %r106, label %L28, label %L30
L28:
  %i28 = phi i64 [ 0, %L27 ], [ %next28, %L29 ]
  %r107 = getelementptr inbounds double, double* %r98, i64 %i28
  %r108 = load double, double* %r107, align 8, !llvm.access.group !5
  %r109 = getelementptr inbounds double, double* %r105, i64 %i28
  %r110 = load double, double* %r109, align 8, !llvm.access.group !5
  %r111 = getelementptr inbounds double, double* %r102, i64 %i28
  %r112 = call { double } @kernel(double %r108, double %r110)
  %r113 = extractvalue { double } %r112, 0
  store double %r113, double* %r111, align 8, !llvm.access.group !5
  br label %L29
L29:
  %next28 = add nuw nsw i64 %i28, 1
  %r114 = icmp slt i64 %next28, %r16
  br i1 %r114, label %L28, label %L30, !llvm.loop !7
L30:
  br label %L25
L25:
  %next24 = add nuw nsw i64 %i24, 1
  %r115 = icmp slt i64 %next24, %r36
  br i1 %r115, label %L24, label %L26, !llvm.loop !9
L26:
  br label %L5
L5:
  %next4 = add nuw nsw i64 %i4, 8
  %r116 = icmp slt i64 %next4, %r18
  br i1 %r116, label %L4, label %L6, !llvm.loop !11
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
