; matvec
target datalayout = "e-p:64:64:64-i1:8:8-i8:8:8-i16:16:16-i32:32:32-i64:64:64-i128:128:128-f32:32:32-f64:64:64-v16:16:16-v32:32:32-v64:64:64-v128:128:128-n16:32:64"
target triple = "nvptx64-nvidia-cuda"

define internal { } @kernel(float addrspace(1)* %p0, float addrspace(1)* %p1, float addrspace(1)* %p2, i64 %s0, i64 %s1, i64 %s2, i64 %s3, i64 %s4, i64 %s5, i64 %rank, i64 %size, i1 %aligned, i8 addrspace(1)* %slot, i32 %blocks) nounwind alwaysinline {
L2:
  %v3 = alloca i64
  %v4 = alloca i64
  %a1 = alloca float
  %a2 = alloca float
  store i64 zeroinitializer, i64* %v3
  store i64 zeroinitializer, i64* %v4
  %r1 = icmp sgt i64 %s0, 0
  %r2 = select i1 %r1, i64 %s0, i64 0
  %r3 = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %r4 = and i32 %r3, 7
  %r5 = zext i32 %r4 to i64
  %r6 = icmp eq i64 %r5, 0
  %r7 = lshr i64 %rank, 3
  %r8 = lshr i64 32, 3
  br label %L3
L3:
  %r9 = icmp slt i64 %r7, %r2
  br i1 %r9, label %L4, label %L6
L4:
  %i4 = phi i64 [ %r7, %L3 ], [ %next4, %L5 ]
  %r13 = icmp sgt i64 %s1, 0
  %r14 = select i1 %r13, i64 %s1, i64 0
  store float 0x0000000000000000, float* %a1
  store float 0x0000000000000000, float* %a2
  %r15 = udiv i64 %r14, 8
  %r16 = and i64 %r15, -2
  br label %L7
L7:
  %r17 = icmp slt i64 0, %r16
  br i1 %r17, label %L8, label %L10
L8:
  %i8 = phi i64 [ 0, %L7 ], [ %next8, %L9 ]
  %r18 = mul i64 %i8, 8
  %r19 = add i64 %r18, %r5
  %r20 = add i64 %r19, 8
  %r21 = add i64 %r20, 8
  %r22 = mul i64 %i4, %s2
  %r23 = add i64 %r22, %r19
  %r24 = getelementptr inbounds float, float addrspace(1)* %p0, i64 %r23
  %r25 = load float, float addrspace(1)* %r24, align 4, !invariant.load !1
  %r27 = add i64 %r22, %r20
  %r28 = getelementptr inbounds float, float addrspace(1)* %p0, i64 %r27
  %r29 = load float, float addrspace(1)* %r28, align 4, !invariant.load !1
  %r30 = getelementptr inbounds float, float addrspace(1)* %p1, i64 %r19
  %r31 = load float, float addrspace(1)* %r30, align 4, !invariant.load !1
  %r32 = getelementptr inbounds float, float addrspace(1)* %p1, i64 %r20
  %r33 = load float, float addrspace(1)* %r32, align 4, !invariant.load !1
  %r34 = load float, float* %a1
  %r35 = call float @llvm.fma.f32(float %r25, float %r31, float %r34)
  store float %r35, float* %a1
  %r36 = load float, float* %a2
  %r37 = call float @llvm.fma.f32(float %r29, float %r33, float %r36)
  store float %r37, float* %a2
  br label %L9
L9:
  %next8 = add i64 %i8, 2
  %r38 = icmp slt i64 %next8, %r16
  br i1 %r38, label %L8, label %L10, !llvm.loop !3
L10:
  %r39 = mul i64 %r16, 8
  %r40 = add i64 %r39, %r5
  %r41 = icmp slt i64 %r40, %r14
  br i1 %r41, label %L11, label %L12
L11:
  %r42 = add i64 %r40, 8
  %r43 = icmp slt i64 %r42, %r14
  %r44 = select i1 %r43, i64 %r42, i64 %r40
  %r45 = add i64 %r42, 8
  %r46 = mul i64 %i4, %s2
  %r47 = add i64 %r46, %r40
  %r48 = getelementptr inbounds float, float addrspace(1)* %p0, i64 %r47
  %r49 = load float, float addrspace(1)* %r48, align 4, !invariant.load !1
  %r51 = add i64 %r46, %r44
  %r52 = getelementptr inbounds float, float addrspace(1)* %p0, i64 %r51
  %r53 = load float, float addrspace(1)* %r52, align 4, !invariant.load !1
  %r54 = getelementptr inbounds float, float addrspace(1)* %p1, i64 %r40
  %r55 = load float, float addrspace(1)* %r54, align 4, !invariant.load !1
  %r56 = getelementptr inbounds float, float addrspace(1)* %p1, i64 %r44
  %r57 = load float, float addrspace(1)* %r56, align 4, !invariant.load !1
  %r58 = load float, float* %a1
  %r59 = call float @llvm.fma.f32(float %r49, float %r55, float %r58)
  store float %r59, float* %a1
  %r60 = load float, float* %a2
  %r61 = call float @llvm.fma.f32(float %r53, float %r57, float %r60)
  %r62 = select i1 %r43, float %r61, float %r60
  store float %r62, float* %a2
  br label %L12
L12:
  %r63 = load float, float* %a2
  %r64 = load float, float* %a1
  %r65 = fadd reassoc float %r64, %r63
  store float %r65, float* %a1
  %r68 = and i32 %r3, 24
  %r69 = shl i32 255, %r68
  %r70 = bitcast float %r65 to i32
  %r71 = call i32 @llvm.nvvm.shfl.sync.bfly.i32(i32 %r69, i32 %r70, i32 4, i32 31)
  %r72 = bitcast i32 %r71 to float
  %r73 = fadd reassoc float %r65, %r72
  %r74 = bitcast float %r73 to i32
  %r75 = call i32 @llvm.nvvm.shfl.sync.bfly.i32(i32 %r69, i32 %r74, i32 2, i32 31)
  %r76 = bitcast i32 %r75 to float
  %r77 = fadd reassoc float %r73, %r76
  %r78 = bitcast float %r77 to i32
  %r79 = call i32 @llvm.nvvm.shfl.sync.bfly.i32(i32 %r69, i32 %r78, i32 1, i32 31)
  %r80 = bitcast i32 %r79 to float
  %r81 = fadd reassoc float %r77, %r80
  br i1 %r6, label %L13, label %L14
L13:
  %r82 = getelementptr inbounds float, float addrspace(1)* %p2, i64 %i4
  store float %r81, float addrspace(1)* %r82, align 4
  br label %L14
L14:
  br label %L5
L5:
  %next4 = add i64 %i4, %r8
  %r83 = icmp slt i64 %next4, %r2
  br i1 %r83, label %L4, label %L6, !llvm.loop !5
L6:
  br label %L1
L1:
  ret { } undef
}

define void @uf_matvec_gufunc_f32(float addrspace(1)* %w0, float addrspace(1)* %w1, float addrspace(1)* %w2, i64 %w3, i64 %w4, i64 %w5, i64 %w6, i64 %w7, i64 %w8, i64 %w9, i64 %w10, i64 %w11, i64 %w12, i64 %w13) nounwind {
  %r84 = icmp ne i64 %w4, 0
  %r85 = call i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
  %r86 = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %r87 = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %r88 = and i32 %r87, 31
  %r89 = zext i32 %r88 to i64
  %r90 = zext i32 %r87 to i64
  %r91 = zext i32 %r85 to i64
  %r92 = zext i32 %r86 to i64
  %r93 = mul i64 %r92, %r91
  %r94 = add i64 %r93, %r90
  %r95 = lshr i64 %r94, 5
  %r96 = call i32 @llvm.nvvm.read.ptx.sreg.nctaid.x()
  %r98 = zext i32 %r96 to i64
  %r99 = mul i64 %r98, %r91
  %r100 = lshr i64 %r99, 5
  %r101 = icmp eq i64 %r89, 0
  br label %L15
L15:
  %r102 = icmp slt i64 %r95, %w3
  br i1 %r102, label %L16, label %L18
L16:
  %i16 = phi i64 [ %r95, %L15 ], [ %next16, %L17 ]
  %r103 = trunc i64 %i16 to i32
  %r104 = zext i32 %r103 to i64
  %r105 = mul i64 %r104, %w5
  %r106 = mul i64 %r104, %w6
  %r107 = mul i64 %r104, %w7
  %r108 = getelementptr inbounds float, float addrspace(1)* %w0, i64 %r105
  %r109 = getelementptr inbounds float, float addrspace(1)* %w1, i64 %r106
  %r110 = getelementptr inbounds float, float addrspace(1)* %w2, i64 %r107
  %r111 = call { } @kernel(float addrspace(1)* %r108, float addrspace(1)* %r109, float addrspace(1)* %r110, i64 %w8, i64 %w9, i64 %w10, i64 %w11, i64 %w12, i64 %w13, i64 %r89, i64 32, i1 %r84, i8 addrspace(1)* null, i32 1)
  br i1 %r101, label %L19, label %L20
L19:
  br label %L20
L20:
  br label %L17
L17:
  %next16 = add i64 %i16, %r100
  %r112 = icmp slt i64 %next16, %w3
  br i1 %r112, label %L16, label %L18, !llvm.loop !8
L18:
  ret void
}
declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
declare float @llvm.fma.f32(float, float, float)
declare i32 @llvm.nvvm.shfl.sync.bfly.i32(i32, i32, i32, i32) convergent nounwind
declare i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.nctaid.x()

!nvvm.annotations = !{!6}
!nvvmir.version = !{!9}
!1 = !{}
!2 = !{!"llvm.loop.unroll.disable"}
!3 = distinct !{!3, !2}
!4 = !{!"llvm.loop.unroll.disable"}
!5 = distinct !{!5, !4}
!6 = !{void (float addrspace(1)*, float addrspace(1)*, float addrspace(1)*, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64)* @uf_matvec_gufunc_f32, !"kernel", i32 1, !"maxntidx", i32 256}
!7 = !{!"llvm.loop.unroll.disable"}
!8 = distinct !{!8, !7}
!9 = !{i32 2, i32 0, i32 3, i32 1}
