; at
target datalayout = "e-p:64:64:64-i1:8:8-i8:8:8-i16:16:16-i32:32:32-i64:64:64-i128:128:128-f32:32:32-f64:64:64-v16:16:16-v32:32:32-v64:64:64-v128:128:128-n16:32:64"
target triple = "nvptx64-nvidia-cuda"

define internal { float } @kernel(float %p0, float %p1) nounwind alwaysinline {
L2:
  %v0 = alloca float
  %v1 = alloca float
  %v2 = alloca float
  store float %p0, float* %v0
  store float %p1, float* %v1
  store float zeroinitializer, float* %v2
  %r3 = fadd float %p0, %p1
  store float %r3, float* %v2
  br label %L1
L1:
  %r5 = insertvalue { float } undef, float %r3, 0
  ret { float } %r5
}

define void @uf_at_at_f32(float addrspace(1)* %w0, float addrspace(1)* %w1, float addrspace(1)* %w2, i64 addrspace(1)* %w3, i64 %w4, i64 %w5, i64 %w6, i64 %w7, i64 %w8, i64 %w9, i64 %w10) nounwind {
  %r6 = trunc i64 %w6 to i32
  %r7 = trunc i64 %w7 to i32
  %r8 = trunc i64 %w8 to i32
  %r9 = trunc i64 %w9 to i32
  %r10 = trunc i64 %w10 to i32
  %r11 = call i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
  %r12 = mul i32 %r11, 1
  %r13 = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %r14 = mul i32 %r13, %r12
  %r15 = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %r17 = add i32 %r14, %r15
  %r18 = icmp ult i32 %r17, %r6
  %r19 = select i1 %r18, i32 %r17, i32 0
  %r20 = sext i32 %r19 to i64
  %r21 = getelementptr inbounds float, float addrspace(1)* %w1, i64 %r20
  %r23 = getelementptr inbounds i64, i64 addrspace(1)* %w3, i64 %r20
  %r24 = load i64, i64 addrspace(1)* %r23, align 8
  %r25 = icmp slt i64 %r24, 0
  %r26 = select i1 %r25, i64 %w4, i64 0
  %r27 = add i64 %r24, %r26
  %r28 = mul i64 %r27, %w5
  %r29 = icmp ult i64 %r27, %w4
  %r30 = getelementptr inbounds float, float addrspace(1)* %w0, i64 %r28
  %r31 = ptrtoint float addrspace(1)* %r30 to i64
  %r32 = and i1 %r29, %r18
  %r33 = load float, float addrspace(1)* %r21, align 4
  %r35 = and i32 %r15, 31
  %r36 = trunc i64 %r31 to i32
  %r37 = lshr i64 %r31, 32
  %r38 = trunc i64 %r37 to i32
  %r39 = call i32 @llvm.nvvm.shfl.sync.up.i32(i32 -1, i32 %r36, i32 1, i32 0)
  %r40 = call i32 @llvm.nvvm.shfl.sync.up.i32(i32 -1, i32 %r38, i32 1, i32 0)
  %r41 = zext i32 %r40 to i64
  %r42 = shl i64 %r41, 32
  %r43 = zext i32 %r39 to i64
  %r44 = or i64 %r43, %r42
  %r45 = icmp eq i64 %r31, %r44
  %r46 = call i32 @llvm.nvvm.vote.ballot.sync(i32 -1, i1 %r32)
  %r47 = shl i32 %r46, 1
  %r48 = lshr i32 %r47, %r35
  %r49 = trunc i32 %r48 to i1
  %r50 = and i1 %r45, %r49
  %r51 = and i1 %r50, %r32
  %r52 = call i32 @llvm.nvvm.vote.ballot.sync(i32 -1, i1 %r51)
  br label %L3
L3:
  %r53 = icmp ne i32 %r52, 0
  br i1 %r53, label %L4, label %L5
L4:
  %r54 = xor i32 %r52, -1
  %r55 = lshr i32 %r54, %r35
  %r56 = lshr i32 %r55, 1
  %r57 = call i32 @llvm.cttz.i32(i32 %r56, i1 false)
  %r58 = add i32 %r57, 1
  %r59 = sub i32 32, %r35
  %r60 = icmp ult i32 %r58, %r59
  %r61 = select i1 %r60, i32 %r58, i32 %r59
  %r62 = bitcast float %r33 to i32
  %r63 = call i32 @llvm.nvvm.shfl.sync.down.i32(i32 -1, i32 %r62, i32 1, i32 31)
  %r64 = bitcast i32 %r63 to float
  %r65 = fadd float %r33, %r64
  %r66 = icmp ugt i32 %r61, 1
  %r67 = select i1 %r66, float %r65, float %r33
  %r68 = bitcast float %r67 to i32
  %r69 = call i32 @llvm.nvvm.shfl.sync.down.i32(i32 -1, i32 %r68, i32 2, i32 31)
  %r70 = bitcast i32 %r69 to float
  %r71 = fadd float %r67, %r70
  %r72 = icmp ugt i32 %r61, 2
  %r73 = select i1 %r72, float %r71, float %r67
  %r74 = bitcast float %r73 to i32
  %r75 = call i32 @llvm.nvvm.shfl.sync.down.i32(i32 -1, i32 %r74, i32 4, i32 31)
  %r76 = bitcast i32 %r75 to float
  %r77 = fadd float %r73, %r76
  %r78 = icmp ugt i32 %r61, 4
  %r79 = select i1 %r78, float %r77, float %r73
  %r80 = bitcast float %r79 to i32
  %r81 = call i32 @llvm.nvvm.shfl.sync.down.i32(i32 -1, i32 %r80, i32 8, i32 31)
  %r82 = bitcast i32 %r81 to float
  %r83 = fadd float %r79, %r82
  %r84 = icmp ugt i32 %r61, 8
  %r85 = select i1 %r84, float %r83, float %r79
  %r86 = bitcast float %r85 to i32
  %r87 = call i32 @llvm.nvvm.shfl.sync.down.i32(i32 -1, i32 %r86, i32 16, i32 31)
  %r88 = bitcast i32 %r87 to float
  %r89 = fadd float %r85, %r88
  %r90 = icmp ugt i32 %r61, 16
  %r91 = select i1 %r90, float %r89, float %r85
  %r92 = xor i1 %r51, true
  %r93 = and i1 %r32, %r92
  br label %L5
L5:
  %r94 = phi float [ %r33, %L3 ], [ %r91, %L4 ]
  %r95 = phi i1 [ %r32, %L3 ], [ %r93, %L4 ]
  br i1 %r95, label %L6, label %L7
L6:
  %r96 = call float @llvm.nvvm.atomic.load.add.f32.p1f32(float addrspace(1)* %r30, float %r94)
  br label %L7
L7:
  ret void
}
declare i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
declare i32 @llvm.nvvm.shfl.sync.up.i32(i32, i32, i32, i32) convergent nounwind
declare i32 @llvm.nvvm.vote.ballot.sync(i32, i1)
declare i32 @llvm.cttz.i32(i32, i1)
declare i32 @llvm.nvvm.shfl.sync.down.i32(i32, i32, i32, i32) convergent nounwind
declare float @llvm.nvvm.atomic.load.add.f32.p1f32(float addrspace(1)*, float)

!nvvm.annotations = !{!1}
!nvvmir.version = !{!2}
!1 = !{void (float addrspace(1)*, float addrspace(1)*, float addrspace(1)*, i64 addrspace(1)*, i64, i64, i64, i64, i64, i64, i64)* @uf_at_at_f32, !"kernel", i32 1, !"maxntidx", i32 256}
!2 = !{i32 2, i32 0, i32 3, i32 1}
