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
  %r43 = and i64 %r16, -2
  %r44 = and i64 %r36, -2
  br label %L7
L7:
  %r45 = icmp slt i64 0, %r43
  br i1 %r45, label %L8, label %L10
L8:
  %i8 = phi i64 [ 0, %L7 ], [ %next8, %L9 ]
  %r46 = mul i64 %i8, %r24
  %r47 = add i64 %r46, 0
  %r48 = getelementptr inbounds double, double* %r40, i64 %r47
  %r49 = bitcast double* %r48 to i8*
  %r50 = getelementptr i8, i8* %r49, i64 128
  call void @llvm.prefetch.p0i8(i8* %r50, i32 0, i32 3, i32 1)
  %r51 = getelementptr inbounds double, double* %r48, i64 %r24
  %r52 = bitcast double* %r51 to i8*
  %r53 = getelementptr i8, i8* %r52, i64 128
  call void @llvm.prefetch.p0i8(i8* %r53, i32 0, i32 3, i32 1)
  %r54 = getelementptr inbounds double, double* %r51, i64 %r24
  br label %L11
L11:
  %r55 = icmp slt i64 0, %r44
  br i1 %r55, label %L12, label %L14
L12:
  %i12 = phi i64 [ 0, %L11 ], [ %next12, %L13 ]
  %r56 = mul i64 %i8, %r24
  %r57 = add i64 %r56, %i12
  %r58 = getelementptr inbounds double, double* %r40, i64 %r57
  %r59 = bitcast double* %r58 to <2 x i64>*
  %r60 = load <2 x i64>, <2 x i64>* %r59, align 8
  %r61 = getelementptr inbounds double, double* %r58, i64 %r24
  %r62 = bitcast double* %r61 to <2 x i64>*
  %r63 = load <2 x i64>, <2 x i64>* %r62, align 8
  %r64 = getelementptr inbounds double, double* %r61, i64 %r24
  %r65 = shufflevector <2 x i64> %r60, <2 x i64> %r63, <2 x i32> <i32 0, i32 2>
  %r66 = shufflevector <2 x i64> %r60, <2 x i64> %r63, <2 x i32> <i32 1, i32 3>
  %r67 = mul i64 %i12, 128
  %r68 = add i64 %r67, %i8
  %r69 = getelementptr inbounds double, double* %r32, i64 %r68
  %r70 = bitcast double* %r69 to <2 x i64>*
  store <2 x i64> %r65, <2 x i64>* %r70, align 8
  %r71 = getelementptr inbounds double, double* %r69, i64 128
  %r72 = bitcast double* %r71 to <2 x i64>*
  store <2 x i64> %r66, <2 x i64>* %r72, align 8
  br label %L13
L13:
  %next12 = add nuw nsw i64 %i12, 2
  %r73 = icmp slt i64 %next12, %r44
  br i1 %r73, label %L12, label %L14
L14:
  br label %L9
L9:
  %next8 = add nuw nsw i64 %i8, 2
  %r74 = icmp slt i64 %next8, %r43
  br i1 %r74, label %L8, label %L10
L10:
  br label %L15
L15:
  %r75 = icmp slt i64 0, %r44
  br i1 %r75, label %L16, label %L18
L16:
  %i16 = phi i64 [ 0, %L15 ], [ %next16, %L17 ]
  br label %L19
L19:
  %r76 = icmp slt i64 %r43, %r16
  br i1 %r76, label %L20, label %L22
L20:
  %i20 = phi i64 [ %r43, %L19 ], [ %next20, %L21 ]
  %r77 = mul i64 %i16, 128
  %r78 = add i64 %r77, %i20
  %r79 = getelementptr inbounds double, double* %r32, i64 %r78
  %r80 = mul i64 %i20, %r24
  %r81 = add i64 %r80, %i16
  %r82 = getelementptr inbounds double, double* %r40, i64 %r81
  %r83 = load double, double* %r82, align 8, !llvm.access.group !1
  store double %r83, double* %r79, align 8, !llvm.access.group !1
  br label %L21
L21:
  %next20 = add nuw nsw i64 %i20, 1
  %r84 = icmp slt i64 %next20, %r16
  br i1 %r84, label %L20, label %L22, !llvm.loop !4
L22:
  br label %L17
L17:
  %next16 = add nuw nsw i64 %i16, 1
  %r85 = icmp slt i64 %next16, %r44
  br i1 %r85, label %L16, label %L18
L18:
  br label %L23
L23:
  %r86 = icmp slt i64 %r44, %r36
  br i1 %r86, label %L24, label %L26
L24:
  %i24 = phi i64 [ %r44, %L23 ], [ %next24, %L25 ]
  br label %L27
L27:
  %r87 = icmp slt i64 0, %r16
  br i1 %r87, label %L28, label %L30
L28:
  %i28 = phi i64 [ 0, %L27 ], [ %next28, %L29 ]
  %r88 = mul i64 %i24, 128
  %r89 = add i64 %r88, %i28
  %r90 = getelementptr inbounds double, double* %r32, i64 %r89
  %r91 = mul i64 %i28, %r24
  %r92 = add i64 %r91, %i24
  %r93 = getelementptr inbounds double, double* %r40, i64 %r92
  %r94 = load double, double* %r93, align 8, !llvm.access.group !5
  store double %r94, double* %r90, align 8, !llvm.access.group !5
  br label %L29
L29:
  %next28 = add nuw nsw i64 %i28, 1
  %r95 = icmp slt i64 %next28, %r16
  br i1 %r95, label %L28, label %L30, !llvm.loop !8
L30:
  br label %L25
L25:
  %next24 = add nuw nsw i64 %i24, 1
  %r96 = icmp slt i64 %next24, %r36
  br i1 %r96, label %L24, label %L26
L26:
  br label %L31
L31:
  %r97 = icmp slt i64 0, %r36
  br i1 %r97, label %L32, label %L34
L32:
  %i32 = phi i64 [ 0, %L31 ], [ %next32, %L33 ]
  %r98 = add i64 %i4, %i32
  %r99 = mul i64 %r98, %r22
  %r100 = getelementptr inbounds double, double* %r8, i64 %r99
  %r101 = mul i64 %r98, %r26
  %r102 = getelementptr inbounds double, double* %r11, i64 %r101
  %r103 = mul i64 %r98, %r30
  %r104 = getelementptr inbounds double, double* %r14, i64 %r103
  %r105 = mul i64 %i32, 128
  %r106 = add i64 %r105, 0
  %r107 = getelementptr inbounds double, double* %r32, i64 %r106
  br label %L35
L35:
  %r108 = icmp slt i64 0, %r16
  br i1 %r108, label %L36, label %L38
L36:
  %i36 = phi i64 [ 0, %L35 ], [ %next36, %L37 ]
  %r109 = getelementptr inbounds double, double* %r100, i64 %i36
  %r110 = load double, double* %r109, align 8, !llvm.access.group !9
  %r111 = getelementptr inbounds double, double* %r107, i64 %i36
  %r112 = load double, double* %r111, align 8, !llvm.access.group !9
  %r113 = getelementptr inbounds double, double* %r104, i64 %i36
  %r114 = call { double } @kernel(double %r110, double %r112)
  %r115 = extractvalue { double } %r114, 0
  store double %r115, double* %r113, align 8, !llvm.access.group !9
  br label %L37
L37:
  %next36 = add nuw nsw i64 %i36, 1
  %r116 = icmp slt i64 %next36, %r16
  br i1 %r116, label %L36, label %L38, !llvm.loop !11
L38:
  br label %L33
L33:
  %next32 = add nuw nsw i64 %i32, 1
  %r117 = icmp slt i64 %next32, %r36
  br i1 %r117, label %L32, label %L34, !llvm.loop !13
L34:
  br label %L5
L5:
  %next4 = add nuw nsw i64 %i4, 8
  %r118 = icmp slt i64 %next4, %r18
  br i1 %r118, label %L4, label %L6, !llvm.loop !15
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
!7 = !{!"llvm.loop.vectorize.enable", i1 false}
!8 = distinct !{!8, !6, !7}
!9 = distinct !{}
!10 = !{!"llvm.loop.parallel_accesses", !9}
!11 = distinct !{!11, !10}
!12 = !{!"llvm.loop.unroll.disable"}
!13 = distinct !{!13, !12}
!14 = !{!"llvm.loop.unroll.disable"}
!15 = distinct !{!15, !14}
