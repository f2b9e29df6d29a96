; points
target datalayout = "e-p:64:64:64-i1:8:8-i8:8:8-i16:16:16-i32:32:32-i64:64:64-i128:128:128-f32:32:32-f64:64:64-v16:16:16-v32:32:32-v64:64:64-v128:128:128-n16:32:64"
target triple = "nvptx64-nvidia-cuda"

define internal { } @kernel(float addrspace(1)* %p0, float addrspace(1)* %p1, float %p2, i64 %p3, i64 %p4, i64 %s0, i64 %s1, i64 %s2, i64 %s3, i64 %s4, i64 %s5, i64 %s6, i64 %s7, i64 %s8, i64 %s9) nounwind alwaysinline {
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
  %r5 = getelementptr inbounds float, float addrspace(1)* %p1, i64 %r4
  %r6 = load float, float* %v2
  %r7 = load i64, i64* %v3
  %r8 = mul i64 %r7, %s6
  %r9 = load i64, i64* %v4
  %r10 = add i64 %r8, %r9
  %r11 = getelementptr inbounds float, float addrspace(1)* %p0, i64 %r10
  %r12 = load float, float addrspace(1)* %r11, align 4, !invariant.load !1
  %r13 = fmul float %r6, %r12
  %r14 = load i64, i64* %v3
  %r15 = mul i64 %r14, %s8
  %r16 = load i64, i64* %v4
  %r17 = add i64 %r15, %r16
  %r18 = getelementptr inbounds float, float addrspace(1)* %p1, i64 %r17
  %r19 = load float, float addrspace(1)* %r18, align 4
  %r20 = fadd float %r13, %r19
  store float %r20, float addrspace(1)* %r5, align 4
  br label %L1
L1:
  ret { } undef
}

define internal { } @interior(float addrspace(1)* %p0, float addrspace(1)* %p1, float %p2, i64 %p3, i64 %p4, i64 %s0, i64 %s1, i64 %s2, i64 %s3, i64 %s4, i64 %s5, i64 %s6, i64 %s7, i64 %s8, i64 %s9, float* %q0, i1* %f0, float* %q1) nounwind alwaysinline {
L4:
  %v2 = alloca float
  %v3 = alloca i64
  %v4 = alloca i64
  store float %p2, float* %v2
  store i64 %p3, i64* %v3
  store i64 %p4, i64* %v4
  %r21 = load i64, i64* %v3
  %r22 = mul i64 %r21, %s8
  %r23 = load i64, i64* %v4
  %r24 = add i64 %r22, %r23
  %r25 = load float, float* %v2
  %r26 = load i64, i64* %v3
  %r27 = mul i64 %r26, %s6
  %r28 = load i64, i64* %v4
  %r29 = add i64 %r27, %r28
  %r30 = load float, float* %q1
  %r31 = fmul float %r25, %r30
  %r32 = load i64, i64* %v3
  %r33 = mul i64 %r32, %s8
  %r34 = load i64, i64* %v4
  %r35 = add i64 %r33, %r34
  %r36 = load float, float* %q0
  %r37 = fadd float %r31, %r36
  store float %r37, float* %q0
  store i1 true, i1* %f0
  br label %L3
L3:
  ret { } undef
}

define void @uf_points_forall_f32(float addrspace(1)* %w0, float addrspace(1)* %w1, i64 %w2, i64 %w3, i64 %w4, i64 %w5, i64 %w6, i64 %w7, i64 %w8, i64 %w9, i64 %w10, i64 %w11, i64 %w12, i64 %w13, i64 %w14, i64 %w15, i64 %w16) nounwind {
  %r38 = trunc i64 %w2 to i32
  %r39 = bitcast i32 %r38 to float
  %r40 = trunc i64 %w3 to i32
  %r41 = trunc i64 %w4 to i32
  %r42 = trunc i64 %w5 to i32
  %r43 = trunc i64 %w6 to i32
  %r44 = alloca float
  %r45 = alloca i1
  %r46 = alloca float
  %r47 = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %r48 = call i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
  %r49 = mul i32 %r48, 1
  %r50 = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %r51 = mul i32 %r50, %r49
  %r52 = add i32 %r51, %r47
  %r53 = icmp ult i32 %r52, %r40
  br i1 %r53, label %L5, label %L6
L5:
  %r54 = call i32 @llvm.nvvm.mulhi.ui(i32 %r52, i32 %r42)
  %r55 = add i32 %r54, %r52
  %r56 = lshr i32 %r55, %r43
  %r57 = mul i32 %r56, %r41
  %r58 = sub i32 %r52, %r57
  %r59 = zext i32 %r56 to i64
  %r60 = zext i32 %r58 to i64
  %r61 = shl nuw nsw i64 %r60, 2
  %r62 = icmp slt i64 %r59, %w11
  %r63 = add i64 %r61, 3
  %r64 = icmp slt i64 %r63, %w12
  %r65 = and i1 %r62, %r64
  %r66 = icmp slt i64 %r59, %w9
  %r67 = and i1 %r65, %r66
  %r68 = add i64 %r61, 3
  %r69 = icmp slt i64 %r68, %w10
  %r70 = and i1 %r67, %r69
  %r71 = add i64 %r61, 3
  %r72 = icmp slt i64 %r71, %w8
  %r73 = and i1 %r70, %r72
  br i1 %r73, label %L7, label %L8
L7:
  %r74 = mul i64 %r59, %w15
  %r75 = add i64 %r74, %r61
  %r76 = getelementptr inbounds float, float addrspace(1)* %w1, i64 %r75
  %r77 = bitcast float addrspace(1)* %r76 to <4 x float> addrspace(1)*
  %r78 = load <4 x float>, <4 x float> addrspace(1)* %r77, align 16
  %r79 = extractelement <4 x float> %r78, i32 0
  %r80 = extractelement <4 x float> %r78, i32 1
  %r81 = extractelement <4 x float> %r78, i32 2
  %r82 = extractelement <4 x float> %r78, i32 3
  %r83 = mul i64 %r59, %w13
  %r84 = add i64 %r83, %r61
  %r85 = getelementptr inbounds float, float addrspace(1)* %w0, i64 %r84
  %r86 = bitcast float addrspace(1)* %r85 to <4 x float> addrspace(1)*
  %r87 = load <4 x float>, <4 x float> addrspace(1)* %r86, align 16, !invariant.load !1
  %r88 = extractelement <4 x float> %r87, i32 0
  %r89 = extractelement <4 x float> %r87, i32 1
  %r90 = extractelement <4 x float> %r87, i32 2
  %r91 = extractelement <4 x float> %r87, i32 3
  store float %r79, float* %r44
  store i1 false, i1* %r45
  store float %r88, float* %r46
  %r92 = call { } @interior(float addrspace(1)* %w0, float addrspace(1)* %w1, float %r39, i64 %r59, i64 %r61, i64 %w7, i64 %w8, i64 %w9, i64 %w10, i64 %w11, i64 %w12, i64 %w13, i64 %w14, i64 %w15, i64 %w16, float* %r44, i1* %r45, float* %r46)
  %r93 = load float, float* %r44
  %r94 = load i1, i1* %r45
  %r95 = or i64 %r61, 1
  store float %r80, float* %r44
  store i1 false, i1* %r45
  store float %r89, float* %r46
  %r96 = call { } @interior(float addrspace(1)* %w0, float addrspace(1)* %w1, float %r39, i64 %r59, i64 %r95, i64 %w7, i64 %w8, i64 %w9, i64 %w10, i64 %w11, i64 %w12, i64 %w13, i64 %w14, i64 %w15, i64 %w16, float* %r44, i1* %r45, float* %r46)
  %r97 = load float, float* %r44
  %r98 = load i1, i1* %r45
  %r99 = or i64 %r61, 2
  store float %r81, float* %r44
  store i1 false, i1* %r45
  store float %r90, float* %r46
  %r100 = call { } @interior(float addrspace(1)* %w0, float addrspace(1)* %w1, float %r39, i64 %r59, i64 %r99, i64 %w7, i64 %w8, i64 %w9, i64 %w10, i64 %w11, i64 %w12, i64 %w13, i64 %w14, i64 %w15, i64 %w16, float* %r44, i1* %r45, float* %r46)
  %r101 = load float, float* %r44
  %r102 = load i1, i1* %r45
  %r103 = or i64 %r61, 3
  store float %r82, float* %r44
  store i1 false, i1* %r45
  store float %r91, float* %r46
  %r104 = call { } @interior(float addrspace(1)* %w0, float addrspace(1)* %w1, float %r39, i64 %r59, i64 %r103, i64 %w7, i64 %w8, i64 %w9, i64 %w10, i64 %w11, i64 %w12, i64 %w13, i64 %w14, i64 %w15, i64 %w16, float* %r44, i1* %r45, float* %r46)
  %r105 = load float, float* %r44
  %r106 = load i1, i1* %r45
  %r107 = and i1 %r94, %r98
  %r108 = and i1 %r107, %r102
  %r109 = and i1 %r108, %r106
  br i1 %r109, label %L10, label %L11
L10:
  %r110 = add i64 %r74, %r61
  %r111 = getelementptr inbounds float, float addrspace(1)* %w1, i64 %r110
  %r112 = bitcast float addrspace(1)* %r111 to <4 x float> addrspace(1)*
  %r113 = insertelement <4 x float> undef, float %r93, i32 0
  %r114 = insertelement <4 x float> %r113, float %r97, i32 1
  %r115 = insertelement <4 x float> %r114, float %r101, i32 2
  %r116 = insertelement <4 x float> %r115, float %r105, i32 3
  store <4 x float> %r116, <4 x float> addrspace(1)* %r112, align 16
  br label %L12
L11:
  br i1 %r94, label %L13, label %L14
L13:
  %r117 = add i64 %r74, %r61
  %r118 = getelementptr inbounds float, float addrspace(1)* %w1, i64 %r117
  store float %r93, float addrspace(1)* %r118, align 4
  br label %L14
L14:
  %r119 = add i64 %r61, 1
  br i1 %r98, label %L15, label %L16
L15:
  %r120 = add i64 %r74, %r119
  %r121 = getelementptr inbounds float, float addrspace(1)* %w1, i64 %r120
  store float %r97, float addrspace(1)* %r121, align 4
  br label %L16
L16:
  %r122 = add i64 %r61, 2
  br i1 %r102, label %L17, label %L18
L17:
  %r123 = add i64 %r74, %r122
  %r124 = getelementptr inbounds float, float addrspace(1)* %w1, i64 %r123
  store float %r101, float addrspace(1)* %r124, align 4
  br label %L18
L18:
  %r125 = add i64 %r61, 3
  br i1 %r106, label %L19, label %L20
L19:
  %r126 = add i64 %r74, %r125
  %r127 = getelementptr inbounds float, float addrspace(1)* %w1, i64 %r126
  store float %r105, float addrspace(1)* %r127, align 4
  br label %L20
L20:
  br label %L12
L12:
  br label %L9
L8:
  %r128 = call i32 @llvm.nvvm.mulhi.ui(i32 %r52, i32 %r42)
  %r129 = add i32 %r128, %r52
  %r130 = lshr i32 %r129, %r43
  %r131 = mul i32 %r130, %r41
  %r132 = sub i32 %r52, %r131
  %r133 = zext i32 %r130 to i64
  %r134 = zext i32 %r132 to i64
  %r135 = shl nuw nsw i64 %r134, 2
  %r136 = add i64 %r135, 4
  %r137 = icmp slt i64 %r136, %w8
  %r138 = select i1 %r137, i64 %r136, i64 %w8
  br label %L21
L21:
  %r139 = icmp slt i64 %r135, %r138
  br i1 %r139, label %L22, label %L24
L22:
  %i22 = phi i64 [ %r135, %L21 ], [ %next22, %L23 ]
  %r140 = call { } @kernel(float addrspace(1)* %w0, float addrspace(1)* %w1, float %r39, i64 %r133, i64 %i22, i64 %w7, i64 %w8, i64 %w9, i64 %w10, i64 %w11, i64 %w12, i64 %w13, i64 %w14, i64 %w15, i64 %w16)
  br label %L23
L23:
  %next22 = add i64 %i22, 1
  %r141 = icmp slt i64 %next22, %r138
  br i1 %r141, label %L22, label %L24, !llvm.loop !4
L24:
  br label %L9
L9:
  br label %L6
L6:
  ret void
}
declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
declare i32 @llvm.nvvm.mulhi.ui(i32, i32)

!nvvm.annotations = !{!2}
!nvvmir.version = !{!5}
!1 = !{}
!2 = !{void (float addrspace(1)*, float addrspace(1)*, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64)* @uf_points_forall_f32, !"kernel", i32 1, !"maxntidx", i32 256}
!3 = !{!"llvm.loop.unroll.disable"}
!4 = distinct !{!4, !3}
!5 = !{i32 2, i32 0, i32 3, i32 1}
