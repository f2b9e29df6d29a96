; points
target datalayout = "e-p:64:64:64-i1:8:8-i8:8:8-i16:16:16-i32:32:32-i64:64:64-i128:128:128-f32:32:32-f64:64:64-v16:16:16-v32:32:32-v64:64:64-v128:128:128-n16:32:64"
target triple = "nvptx64-nvidia-cuda"

define internal { } @kernel(float addrspace(1)* %p0, float addrspace(1)* %p1, float %p2, i64 %p3, i64 %p4, i64 %s0, i64 %s1, i64 %s2, i64 %s3, i64 %s4, i64 %s5, i64 %s6, i64 %s7, i64 %s8, i64 %s9, float* %q0, i1* %f0, float* %q1) nounwind alwaysinline {
L2:
  %v2 = alloca float
  %v3 = alloca i64
  %v4 = alloca i64
  store float %p2, float* %v2
  store i64 %p3, i64* %v3
  store i64 %p4, i64* %v4
  %r1 = load i64, i64* %v3
  %r2 = mul i64 %r1, %s8
  %r3 = load i64, i64* %v4
  %r4 = add i64 %r2, %r3
  %r5 = load float, float* %v2
  %r6 = load i64, i64* %v3
  %r7 = mul i64 %r6, %s6
  %r8 = load i64, i64* %v4
  %r9 = add i64 %r7, %r8
  %r10 = load float, float* %q1
  %r11 = fmul float %r5, %r10
  %r12 = load i64, i64* %v3
  %r13 = mul i64 %r12, %s8
  %r14 = load i64, i64* %v4
  %r15 = add i64 %r13, %r14
  %r16 = load float, float* %q0
  %r17 = fadd float %r11, %r16
  store float %r17, float* %q0
  store i1 true, i1* %f0
  br label %L1
L1:
  ret { } undef
}

define void @uf_points_forall_f32(float addrspace(1)* %w0, float addrspace(1)* %w1, i64 %w2, i64 %w3, i64 %w4, i64 %w5, i64 %w6, i64 %w7, i64 %w8, i64 %w9, i64 %w10, i64 %w11, i64 %w12, i64 %w13, i64 %w14, i64 %w15, i64 %w16) nounwind {
  %r18 = trunc i64 %w2 to i32
  %r19 = bitcast i32 %r18 to float
  %r20 = trunc i64 %w3 to i32
  %r21 = trunc i64 %w4 to i32
  %r22 = trunc i64 %w5 to i32
  %r23 = trunc i64 %w6 to i32
  %r24 = alloca float
  %r25 = alloca i1
  %r26 = alloca float
  %r27 = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %r28 = call i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
  %r29 = mul i32 %r28, 1
  %r30 = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %r31 = mul i32 %r30, %r29
  %r32 = add i32 %r31, %r27
  %r33 = icmp ult i32 %r32, %r20
  br i1 %r33, label %L3, label %L4
L3:
  %r34 = call i32 @llvm.nvvm.mulhi.ui(i32 %r32, i32 %r22)
  %r35 = add i32 %r34, %r32
  %r36 = lshr i32 %r35, %r23
  %r37 = mul i32 %r36, %r21
  %r38 = sub i32 %r32, %r37
  %r39 = zext i32 %r36 to i64
  %r40 = zext i32 %r38 to i64
  %r41 = shl nuw nsw i64 %r40, 2
  %r42 = or i64 %r41, 3
  %r43 = icmp slt i64 %r42, %w8
  br i1 %r43, label %L5, label %L6
L5:
  %r44 = mul i64 %r39, %w15
  %r45 = add i64 %r44, %r41
  %r46 = getelementptr inbounds float, float addrspace(1)* %w1, i64 %r45
  %r47 = bitcast float addrspace(1)* %r46 to <4 x float> addrspace(1)*
  %r48 = load <4 x float>, <4 x float> addrspace(1)* %r47, align 16
  %r49 = extractelement <4 x float> %r48, i32 0
  %r50 = extractelement <4 x float> %r48, i32 1
  %r51 = extractelement <4 x float> %r48, i32 2
  %r52 = extractelement <4 x float> %r48, i32 3
  %r53 = mul i64 %r39, %w13
  %r54 = add i64 %r53, %r41
  %r55 = getelementptr inbounds float, float addrspace(1)* %w0, i64 %r54
  %r56 = bitcast float addrspace(1)* %r55 to <4 x float> addrspace(1)*
  %r57 = load <4 x float>, <4 x float> addrspace(1)* %r56, align 16, !invariant.load !2
  %r58 = extractelement <4 x float> %r57, i32 0
  %r59 = extractelement <4 x float> %r57, i32 1
  %r60 = extractelement <4 x float> %r57, i32 2
  %r61 = extractelement <4 x float> %r57, i32 3
  store float %r49, float* %r24
  store i1 false, i1* %r25
  store float %r58, float* %r26
  %r62 = call { } @kernel(float addrspace(1)* %w0, float addrspace(1)* %w1, float %r19, i64 %r39, i64 %r41, i64 %w7, i64 %w8, i64 %w9, i64 %w10, i64 %w11, i64 %w12, i64 %w13, i64 %w14, i64 %w15, i64 %w16, float* %r24, i1* %r25, float* %r26)
  %r63 = load float, float* %r24
  %r64 = load i1, i1* %r25
  %r65 = or i64 %r41, 1
  store float %r50, float* %r24
  store i1 false, i1* %r25
  store float %r59, float* %r26
  %r66 = call { } @kernel(float addrspace(1)* %w0, float addrspace(1)* %w1, float %r19, i64 %r39, i64 %r65, i64 %w7, i64 %w8, i64 %w9, i64 %w10, i64 %w11, i64 %w12, i64 %w13, i64 %w14, i64 %w15, i64 %w16, float* %r24, i1* %r25, float* %r26)
  %r67 = load float, float* %r24
  %r68 = load i1, i1* %r25
  %r69 = or i64 %r41, 2
  store float %r51, float* %r24
  store i1 false, i1* %r25
  store float %r60, float* %r26
  %r70 = call { } @kernel(float addrspace(1)* %w0, float addrspace(1)* %w1, float %r19, i64 %r39, i64 %r69, i64 %w7, i64 %w8, i64 %w9, i64 %w10, i64 %w11, i64 %w12, i64 %w13, i64 %w14, i64 %w15, i64 %w16, float* %r24, i1* %r25, float* %r26)
  %r71 = load float, float* %r24
  %r72 = load i1, i1* %r25
  %r73 = or i64 %r41, 3
  store float %r52, float* %r24
  store i1 false, i1* %r25
  store float %r61, float* %r26
  %r74 = call { } @kernel(float addrspace(1)* %w0, float addrspace(1)* %w1, float %r19, i64 %r39, i64 %r73, i64 %w7, i64 %w8, i64 %w9, i64 %w10, i64 %w11, i64 %w12, i64 %w13, i64 %w14, i64 %w15, i64 %w16, float* %r24, i1* %r25, float* %r26)
  %r75 = load float, float* %r24
  %r76 = load i1, i1* %r25
  %r77 = and i1 %r64, %r68
  %r78 = and i1 %r77, %r72
  %r79 = and i1 %r78, %r76
  br i1 %r79, label %L8, label %L9
L8:
  %r80 = add i64 %r44, %r41
  %r81 = getelementptr inbounds float, float addrspace(1)* %w1, i64 %r80
  %r82 = bitcast float addrspace(1)* %r81 to <4 x float> addrspace(1)*
  %r83 = insertelement <4 x float> undef, float %r63, i32 0
  %r84 = insertelement <4 x float> %r83, float %r67, i32 1
  %r85 = insertelement <4 x float> %r84, float %r71, i32 2
  %r86 = insertelement <4 x float> %r85, float %r75, i32 3
  store <4 x float> %r86, <4 x float> addrspace(1)* %r82, align 16
  br label %L10
L9:
  br i1 %r64, label %L11, label %L12
L11:
  %r87 = add i64 %r44, %r41
  %r88 = getelementptr inbounds float, float addrspace(1)* %w1, i64 %r87
  store float %r63, float addrspace(1)* %r88, align 4
  br label %L12
L12:
  %r89 = add i64 %r41, 1
  br i1 %r68, label %L13, label %L14
L13:
  %r90 = add i64 %r44, %r89
  %r91 = getelementptr inbounds float, float addrspace(1)* %w1, i64 %r90
  store float %r67, float addrspace(1)* %r91, align 4
  br label %L14
L14:
  %r92 = add i64 %r41, 2
  br i1 %r72, label %L15, label %L16
L15:
  %r93 = add i64 %r44, %r92
  %r94 = getelementptr inbounds float, float addrspace(1)* %w1, i64 %r93
  store float %r71, float addrspace(1)* %r94, align 4
  br label %L16
L16:
  %r95 = add i64 %r41, 3
  br i1 %r76, label %L17, label %L18
L17:
  %r96 = add i64 %r44, %r95
  %r97 = getelementptr inbounds float, float addrspace(1)* %w1, i64 %r96
  store float %r75, float addrspace(1)* %r97, align 4
  br label %L18
L18:
  br label %L10
L10:
  br label %L7
L6:
  %r98 = call i32 @llvm.nvvm.mulhi.ui(i32 %r32, i32 %r22)
  %r99 = add i32 %r98, %r32
  %r100 = lshr i32 %r99, %r23
  %r101 = mul i32 %r100, %r21
  %r102 = sub i32 %r32, %r101
  %r103 = zext i32 %r100 to i64
  %r104 = zext i32 %r102 to i64
  %r105 = shl nuw nsw i64 %r104, 2
  %r106 = add i64 %r105, 4
  %r107 = icmp slt i64 %r106, %w8
  %r108 = select i1 %r107, i64 %r106, i64 %w8
  br label %L19
L19:
  %r109 = icmp slt i64 %r105, %r108
  br i1 %r109, label %L20, label %L22
L20:
  %i20 = phi i64 [ %r105, %L19 ], [ %next20, %L21 ]
  %r110 = mul i64 %r103, %w15
  %r111 = add i64 %r110, %i20
  %r112 = getelementptr inbounds float, float addrspace(1)* %w1, i64 %r111
  %r113 = load float, float addrspace(1)* %r112, align 4
  %r114 = mul i64 %r103, %w13
  %r115 = add i64 %r114, %i20
  %r116 = getelementptr inbounds float, float addrspace(1)* %w0, i64 %r115
  %r117 = load float, float addrspace(1)* %r116, align 4, !invariant.load !2
  store float %r113, float* %r24
  store i1 false, i1* %r25
  store float %r117, float* %r26
  %r118 = call { } @kernel(float addrspace(1)* %w0, float addrspace(1)* %w1, float %r19, i64 %r103, i64 %i20, i64 %w7, i64 %w8, i64 %w9, i64 %w10, i64 %w11, i64 %w12, i64 %w13, i64 %w14, i64 %w15, i64 %w16, float* %r24, i1* %r25, float* %r26)
  %r119 = load float, float* %r24
  %r120 = load i1, i1* %r25
  br i1 %r120, label %L23, label %L24
L23:
  %r121 = add i64 %r110, %i20
  %r122 = getelementptr inbounds float, float addrspace(1)* %w1, i64 %r121
  store float %r119, float addrspace(1)* %r122, align 4
  br label %L24
L24:
  br label %L21
L21:
  %next20 = add i64 %i20, 1
  %r123 = icmp slt i64 %next20, %r108
  br i1 %r123, label %L20, label %L22, !llvm.loop !4
L22:
  br label %L7
L7:
  br label %L4
L4:
  ret void
}
declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
declare i32 @llvm.nvvm.mulhi.ui(i32, i32)

!nvvm.annotations = !{!1}
!nvvmir.version = !{!5}
!1 = !{void (float addrspace(1)*, float addrspace(1)*, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64)* @uf_points_forall_f32, !"kernel", i32 1, !"maxntidx", i32 256}
!2 = !{}
!3 = !{!"llvm.loop.unroll.disable"}
!4 = distinct !{!4, !3}
!5 = !{i32 2, i32 0, i32 3, i32 1}
