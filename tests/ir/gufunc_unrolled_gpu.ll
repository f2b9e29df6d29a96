; frozen
target datalayout = "e-p:64:64:64-i1:8:8-i8:8:8-i16:16:16-i32:32:32-i64:64:64-i128:128:128-f32:32:32-f64:64:64-v16:16:16-v32:32:32-v64:64:64-v128:128:128-n16:32:64"
target triple = "nvptx64-nvidia-cuda"

define internal { } @kernel(double addrspace(3)* %p0, double addrspace(3)* %p1, double addrspace(3)* %p2, i64 %s0, i64 %s1, i64 %s2, i64 %s3) nounwind alwaysinline {
L2:
  %v2_0 = alloca double
  store double zeroinitializer, double* %v2_0
  %v2_1 = alloca double
  store double zeroinitializer, double* %v2_1
  %v2_2 = alloca double
  store double zeroinitializer, double* %v2_2
  %r1 = load double, double addrspace(3)* %p0, align 8
  %r2 = getelementptr inbounds double, double addrspace(3)* %p0, i64 1
  %r3 = load double, double addrspace(3)* %r2, align 8
  %r4 = getelementptr inbounds double, double addrspace(3)* %p0, i64 2
  %r5 = load double, double addrspace(3)* %r4, align 8
  %r6 = load double, double addrspace(3)* %p1, align 8
  %r7 = getelementptr inbounds double, double addrspace(3)* %p1, i64 1
  %r8 = load double, double addrspace(3)* %r7, align 8
  %r9 = getelementptr inbounds double, double addrspace(3)* %p1, i64 2
  %r10 = load double, double addrspace(3)* %r9, align 8
  %r11 = fmul double %r3, %r10
  %r12 = fmul double %r5, %r8
  %r13 = fsub double %r11, %r12
  store double %r13, double* %v2_0
  %r14 = fmul double %r5, %r6
  %r15 = fmul double %r1, %r10
  %r16 = fsub double %r14, %r15
  store double %r16, double* %v2_1
  %r17 = fmul double %r1, %r8
  %r18 = fmul double %r3, %r6
  %r19 = fsub double %r17, %r18
  store double %r19, double* %v2_2
  br label %L1
L1:
  store double %r13, double addrspace(3)* %p2, align 8
  %r22 = getelementptr inbounds double, double addrspace(3)* %p2, i64 1
  store double %r16, double addrspace(3)* %r22, align 8
  %r24 = getelementptr inbounds double, double addrspace(3)* %p2, i64 2
  store double %r19, double addrspace(3)* %r24, align 8
  ret { } undef
}

define void @uf_frozen_gufunc_f64(double addrspace(1)* %w0, double addrspace(1)* %w1, double addrspace(1)* %w2, i64 %w3, i64 %w4, i64 %w5, i64 %w6, i64 %w7, i64 %w8, i64 %w9, i64 %w10, i64 %w11) nounwind {
  %r26 = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %r27 = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %r28 = zext i32 %r27 to i64
  %r29 = call i32 @llvm.nvvm.read.ptx.sreg.nctaid.x()
  %r31 = mul i64 %r28, 128
  br label %L3
L3:
  %r30 = zext i32 %r29 to i64
  %r32 = icmp slt i64 %r31, %w3
  br i1 %r32, label %L4, label %L6
L4:
  %i4 = phi i64 [ %r31, %L3 ], [ %next4, %L5 ]
  %r33 = sub i64 %w3, %i4
  %r34 = icmp slt i64 %r33, 128
  %r35 = select i1 %r34, i64 %r33, i64 128
  %r36 = trunc i64 %r35 to i32
  %r37 = mul i64 %i4, 3
  %r38 = getelementptr double, double addrspace(1)* %w0, i64 %r37
  %r40 = getelementptr double, double addrspace(1)* %w1, i64 %r37
  %r41 = icmp eq i32 %r36, 128
  %r42 = ptrtoint double addrspace(1)* %r38 to i64
  %r43 = and i64 %r42, 15
  %r44 = icmp eq i64 %r43, 0
  %r45 = and i1 %r41, %r44
  %r46 = ptrtoint double addrspace(1)* %r40 to i64
  %r47 = and i64 %r46, 15
  %r48 = icmp eq i64 %r47, 0
  %r49 = and i1 %r45, %r48
  br i1 %r49, label %L7, label %L8
L7:
  %r50 = bitcast double addrspace(1)* %r38 to <4 x i32> addrspace(1)*
  %r51 = zext i32 %r26 to i64
  %r52 = getelementptr inbounds <4 x i32>, <4 x i32> addrspace(1)* %r50, i64 %r51
  %r53 = load <4 x i32>, <4 x i32> addrspace(1)* %r52, align 16, !invariant.load !2
  %r54 = add nuw i32 %r26, 128
  %r55 = icmp slt i32 %r54, 191
  %r56 = select i1 %r55, i32 %r54, i32 191
  %r58 = zext i32 %r56 to i64
  %r59 = getelementptr inbounds <4 x i32>, <4 x i32> addrspace(1)* %r50, i64 %r58
  %r60 = load <4 x i32>, <4 x i32> addrspace(1)* %r59, align 16, !invariant.load !2
  %r61 = bitcast double addrspace(1)* %r40 to <4 x i32> addrspace(1)*
  %r63 = getelementptr inbounds <4 x i32>, <4 x i32> addrspace(1)* %r61, i64 %r51
  %r64 = load <4 x i32>, <4 x i32> addrspace(1)* %r63, align 16, !invariant.load !2
  %r70 = getelementptr inbounds <4 x i32>, <4 x i32> addrspace(1)* %r61, i64 %r58
  %r71 = load <4 x i32>, <4 x i32> addrspace(1)* %r70, align 16, !invariant.load !2
  %r72 = getelementptr [0 x i8], [0 x i8] addrspace(3)* @shared, i64 0, i64 0
  %r73 = bitcast i8 addrspace(3)* %r72 to <4 x i32> addrspace(3)*
  %r75 = getelementptr inbounds <4 x i32>, <4 x i32> addrspace(3)* %r73, i64 %r51
  store <4 x i32> %r53, <4 x i32> addrspace(3)* %r75, align 16
  %r79 = getelementptr inbounds <4 x i32>, <4 x i32> addrspace(3)* %r73, i64 %r58
  store <4 x i32> %r60, <4 x i32> addrspace(3)* %r79, align 16
  %r80 = getelementptr [0 x i8], [0 x i8] addrspace(3)* @shared, i64 0, i64 3072
  %r81 = bitcast i8 addrspace(3)* %r80 to <4 x i32> addrspace(3)*
  %r83 = getelementptr inbounds <4 x i32>, <4 x i32> addrspace(3)* %r81, i64 %r51
  store <4 x i32> %r64, <4 x i32> addrspace(3)* %r83, align 16
  %r87 = getelementptr inbounds <4 x i32>, <4 x i32> addrspace(3)* %r81, i64 %r58
  store <4 x i32> %r71, <4 x i32> addrspace(3)* %r87, align 16
  br label %L9
L8:
  br label %L10
L10:
  %r88 = getelementptr [0 x i8], [0 x i8] addrspace(3)* @shared, i64 0, i64 0
  %r89 = bitcast i8 addrspace(3)* %r88 to double addrspace(3)*
  %r90 = mul i32 %r36, 3
  %r91 = icmp slt i32 %r26, %r90
  br i1 %r91, label %L11, label %L13
L11:
  %i11 = phi i32 [ %r26, %L10 ], [ %next11, %L12 ]
  %r92 = zext i32 %i11 to i64
  %r93 = getelementptr inbounds double, double addrspace(1)* %r38, i64 %r92
  %r95 = getelementptr inbounds double, double addrspace(3)* %r89, i64 %r92
  %r96 = load double, double addrspace(1)* %r93, align 8
  store double %r96, double addrspace(3)* %r95, align 8
  br label %L12
L12:
  %next11 = add i32 %i11, 128
  %r97 = icmp slt i32 %next11, %r90
  br i1 %r97, label %L11, label %L13, !llvm.loop !4
L13:
  br label %L14
L14:
  %r98 = getelementptr [0 x i8], [0 x i8] addrspace(3)* @shared, i64 0, i64 3072
  %r99 = bitcast i8 addrspace(3)* %r98 to double addrspace(3)*
  br i1 %r91, label %L15, label %L17
L15:
  %i15 = phi i32 [ %r26, %L14 ], [ %next15, %L16 ]
  %r102 = zext i32 %i15 to i64
  %r103 = getelementptr inbounds double, double addrspace(1)* %r40, i64 %r102
  %r105 = getelementptr inbounds double, double addrspace(3)* %r99, i64 %r102
  %r106 = load double, double addrspace(1)* %r103, align 8
  store double %r106, double addrspace(3)* %r105, align 8
  br label %L16
L16:
  %next15 = add i32 %i15, 128
  %r107 = icmp slt i32 %next15, %r90
  br i1 %r107, label %L15, label %L17, !llvm.loop !6
L17:
  br label %L9
L9:
  call void @llvm.nvvm.barrier0()
  %r108 = icmp slt i32 %r26, %r36
  br i1 %r108, label %L18, label %L19
L18:
  %r115 = mul i32 %r26, 24
  %r117 = zext i32 %r115 to i64
  %r118 = getelementptr [0 x i8], [0 x i8] addrspace(3)* @shared, i64 0, i64 %r117
  %r119 = bitcast i8 addrspace(3)* %r118 to double addrspace(3)*
  %r123 = add i32 %r115, 3072
  %r124 = zext i32 %r123 to i64
  %r125 = getelementptr [0 x i8], [0 x i8] addrspace(3)* @shared, i64 0, i64 %r124
  %r126 = bitcast i8 addrspace(3)* %r125 to double addrspace(3)*
  %r130 = add i32 %r115, 6144
  %r131 = zext i32 %r130 to i64
  %r132 = getelementptr [0 x i8], [0 x i8] addrspace(3)* @shared, i64 0, i64 %r131
  %r133 = bitcast i8 addrspace(3)* %r132 to double addrspace(3)*
  %r134 = call { } @kernel(double addrspace(3)* %r119, double addrspace(3)* %r126, double addrspace(3)* %r133, i64 %w8, i64 %w9, i64 %w10, i64 %w11)
  br label %L19
L19:
  call void @llvm.nvvm.barrier0()
  %r136 = getelementptr double, double addrspace(1)* %w2, i64 %r37
  %r138 = ptrtoint double addrspace(1)* %r136 to i64
  %r139 = and i64 %r138, 15
  %r140 = icmp eq i64 %r139, 0
  %r141 = and i1 %r41, %r140
  br i1 %r141, label %L20, label %L21
L20:
  %r142 = getelementptr [0 x i8], [0 x i8] addrspace(3)* @shared, i64 0, i64 6144
  %r143 = bitcast i8 addrspace(3)* %r142 to <4 x i32> addrspace(3)*
  %r144 = zext i32 %r26 to i64
  %r145 = getelementptr inbounds <4 x i32>, <4 x i32> addrspace(3)* %r143, i64 %r144
  %r146 = load <4 x i32>, <4 x i32> addrspace(3)* %r145, align 16
  %r147 = add nuw i32 %r26, 128
  %r148 = icmp slt i32 %r147, 191
  %r149 = select i1 %r148, i32 %r147, i32 191
  %r152 = zext i32 %r149 to i64
  %r153 = getelementptr inbounds <4 x i32>, <4 x i32> addrspace(3)* %r143, i64 %r152
  %r154 = load <4 x i32>, <4 x i32> addrspace(3)* %r153, align 16
  %r155 = bitcast double addrspace(1)* %r136 to <4 x i32> addrspace(1)*
  %r157 = getelementptr inbounds <4 x i32>, <4 x i32> addrspace(1)* %r155, i64 %r144
  store <4 x i32> %r146, <4 x i32> addrspace(1)* %r157, align 16
  %r160 = getelementptr inbounds <4 x i32>, <4 x i32> addrspace(1)* %r155, i64 %r152
  store <4 x i32> %r154, <4 x i32> addrspace(1)* %r160, align 16
  br label %L22
L21:
  br label %L23
L23:
  %r161 = getelementptr [0 x i8], [0 x i8] addrspace(3)* @shared, i64 0, i64 6144
  %r162 = bitcast i8 addrspace(3)* %r161 to double addrspace(3)*
  %r163 = mul i32 %r36, 3
  %r164 = icmp slt i32 %r26, %r163
  br i1 %r164, label %L24, label %L26
L24:
  %i24 = phi i32 [ %r26, %L23 ], [ %next24, %L25 ]
  %r165 = zext i32 %i24 to i64
  %r166 = getelementptr inbounds double, double addrspace(1)* %r136, i64 %r165
  %r168 = getelementptr inbounds double, double addrspace(3)* %r162, i64 %r165
  %r169 = load double, double addrspace(3)* %r168, align 8
  store double %r169, double addrspace(1)* %r166, align 8
  br label %L25
L25:
  %next24 = add i32 %i24, 128
  %r170 = icmp slt i32 %next24, %r163
  br i1 %r170, label %L24, label %L26, !llvm.loop !8
L26:
  br label %L22
L22:
  call void @llvm.nvvm.barrier0()
  br label %L5
L5:
  %r171 = mul i64 %r30, 128
  %next4 = add i64 %i4, %r171
  %r172 = icmp slt i64 %next4, %w3
  br i1 %r172, label %L4, label %L6, !llvm.loop !10
L6:
  ret void
}
declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.nctaid.x()
@shared = external addrspace(3) global [0 x i8], align 16
declare void @llvm.nvvm.barrier0() convergent nounwind

!nvvm.annotations = !{!1}
!nvvmir.version = !{!11}
!1 = !{void (double addrspace(1)*, double addrspace(1)*, double addrspace(1)*, i64, i64, i64, i64, i64, i64, i64, i64, i64)* @uf_frozen_gufunc_f64, !"kernel", i32 1, !"maxntidx", i32 128}
!2 = !{}
!3 = !{!"llvm.loop.unroll.disable"}
!4 = distinct !{!4, !3}
!5 = !{!"llvm.loop.unroll.disable"}
!6 = distinct !{!6, !5}
!7 = !{!"llvm.loop.unroll.disable"}
!8 = distinct !{!8, !7}
!9 = !{!"llvm.loop.unroll.disable"}
!10 = distinct !{!10, !9}
!11 = !{i32 2, i32 0, i32 3, i32 1}
