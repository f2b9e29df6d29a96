; subtract

define internal { double } @combine(double %p0, double %p1) nounwind alwaysinline {
L2:
  %v0 = alloca double
  %v1 = alloca double
  %v2 = alloca double
  store double %p0, double* %v0
  store double %p1, double* %v1
  store double zeroinitializer, double* %v2
  %r1 = load double, double* %v0
  %r2 = fmul double 0x4008000000000000, %r1
  %r3 = load double, double* %v1
  %r4 = fsub double %r2, %r3
  %r5 = load double, double* %v0
  %r6 = fmul double 0x4008000000000000, %r5
  %r7 = load double, double* %v1
  %r8 = fsub double %r6, %r7
  %r9 = fdiv double %r8, 0x412E848000000000
  %r10 = call double @llvm.floor.f64(double %r9)
  %r11 = fmul double 0x412E848000000000, %r10
  %r12 = fsub double %r4, %r11
  store double %r12, double* %v2
  br label %L1
L1:
  %r13 = load double, double* %v2
  %r14 = insertvalue { double } undef, double %r13, 0
  ret { double } %r14
}

define void @uf_subtract_reduce_f64(i64* %words) nounwind "prefer-vector-width"="256" {
  %r15 = getelementptr inbounds i64, i64* %words, i64 0
  %r16 = bitcast i64* %r15 to double**
  %r17 = load double*, double** %r16, align 8
  %r18 = getelementptr inbounds i64, i64* %words, i64 1
  %r19 = bitcast i64* %r18 to double**
  %r20 = load double*, double** %r19, align 8
  %r21 = getelementptr inbounds i64, i64* %words, i64 2
  %r22 = load i64, i64* %r21, align 8
  %r23 = getelementptr inbounds i64, i64* %words, i64 3
  %r24 = load i64, i64* %r23, align 8
  %r25 = getelementptr inbounds i64, i64* %words, i64 4
  %r26 = load i64, i64* %r25, align 8
  %r27 = getelementptr inbounds i64, i64* %words, i64 5
  %r28 = load i64, i64* %r27, align 8
  %r29 = getelementptr inbounds i64, i64* %words, i64 6
  %r30 = load i64, i64* %r29, align 8
  %r31 = getelementptr inbounds i64, i64* %words, i64 7
  %r32 = load i64, i64* %r31, align 8
  %r33 = getelementptr inbounds i64, i64* %words, i64 8
  %r34 = load i64, i64* %r33, align 8
  %r35 = alloca [16 x double], align 64
  %r36 = getelementptr [16 x double], [16 x double]* %r35, i64 0, i64 0
  %r37 = alloca i64
  %r38 = alloca i64
  %r39 = alloca i64
  %r40 = alloca i64
  %r41 = alloca i64
  br label %L3
L3:
  %r42 = icmp slt i64 0, %r22
  br i1 %r42, label %L4, label %L6
L4:
  %i4 = phi i64 [ 0, %L3 ], [ %next4, %L5 ]
  %r43 = mul i64 %i4, %r24
  %r44 = getelementptr inbounds double, double* %r17, i64 %r43
  %r45 = sub i64 %r32, %r30
  %r46 = mul i64 %r30, %r34
  %r47 = getelementptr inbounds double, double* %r44, i64 %r46
  %r48 = call double* asm "", "=r,0"(double* %r47)
  %r49 = call i64 asm sideeffect "", "=r,0"(i64 %r45)
  %r50 = icmp slt i64 %r49, 1
  store i64 0, i64* %r37
  store i64 0, i64* %r39
  store i64 0, i64* %r38
  %r51 = icmp sgt i64 0, 0
  %r52 = zext i1 %r51 to i64
  %r53 = add i64 %r49, %r52
  store i64 0, i64* %r40
  br label %L7
L7:
  %r54 = load i64, i64* %r40
  %r55 = icmp slt i64 %r54, %r53
  br i1 %r55, label %L8, label %L9
L8:
  %r56 = load i64, i64* %r37
  %r57 = mul i64 %r56, 1
  %r58 = getelementptr inbounds double, double* %r36, i64 %r57
  %r59 = load i64, i64* %r40
  %r60 = icmp slt i64 %r59, %r49
  %r61 = getelementptr inbounds double, double* %r48, i64 %r59
  %r62 = load i64, i64* %r38
  %r63 = icmp eq i64 %r62, 0
  %r64 = select i1 %r60, i64 1, i64 0
  br label %L12
L12:
  %r65 = icmp slt i64 0, %r64
  br i1 %r65, label %L13, label %L15
L13:
  %i13 = phi i64 [ 0, %L12 ], [ %next13, %L14 ]
  %r66 = getelementptr inbounds double, double* %r61, i64 %i13
  %r67 = load double, double* %r66, align 8, !llvm.access.group !1
  %r68 = getelementptr inbounds double, double* %r58, i64 %i13
  %r69 = load double, double* %r68, align 8, !llvm.access.group !1
  %r70 = select i1 %r63, double %r67, double %r69
  %r71 = call { double } @combine(double %r70, double %r67)
  %r72 = extractvalue { double } %r71, 0
  %r73 = select i1 %r63, double %r67, double %r72
  %r74 = getelementptr inbounds double, double* %r58, i64 %i13
  store double %r73, double* %r74, align 8, !llvm.access.group !1
  br label %L14
L14:
  %next13 = add nuw nsw i64 %i13, 1
  %r75 = icmp slt i64 %next13, %r64
  br i1 %r75, label %L13, label %L15, !llvm.loop !4
L15:
  %r76 = load i64, i64* %r38
  %r77 = add i64 %r76, 1
  store i64 %r77, i64* %r38
  %r78 = load i64, i64* %r40
  %r79 = add i64 %r78, 1
  store i64 %r79, i64* %r40
  br label %L7
L9:
  %r80 = load double, double* %r36, align 8
  %r81 = mul i64 %i4, %r26
  %r82 = getelementptr inbounds double, double* %r20, i64 %r81
  store double %r80, double* %r82, align 8
  br label %L5
L5:
  %next4 = add nuw nsw i64 %i4, 1
  %r83 = icmp slt i64 %next4, %r22
  br i1 %r83, label %L4, label %L6, !llvm.loop !6
L6:
  ret void
}
declare double @llvm.floor.f64(double)

!1 = distinct !{}
!2 = !{!"llvm.loop.parallel_accesses", !1}
!3 = !{!"llvm.loop.unroll.disable"}
!4 = distinct !{!4, !2, !3}
!5 = !{!"llvm.loop.unroll.disable"}
!6 = distinct !{!6, !5}
