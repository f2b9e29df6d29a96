; softmax
target datalayout = "e-p:64:64:64-i1:8:8-i8:8:8-i16:16:16-i32:32:32-i64:64:64-i128:128:128-f32:32:32-f64:64:64-v16:16:16-v32:32:32-v64:64:64-v128:128:128-n16:32:64"
target triple = "nvptx64-nvidia-cuda"

define internal { float } @f1_max(float %p0, float %p1) nounwind alwaysinline {
L2:
  %v0 = alloca float
  %v1 = alloca float
  %v2 = alloca float
  store float %p0, float* %v0
  store float %p1, float* %v1
  store float zeroinitializer, float* %v2
  %r1 = load float, float* %v0
  %r2 = load float, float* %v1
  %r3 = fcmp ogt float %r1, %r2
  %r4 = load float, float* %v0
  %r5 = load float, float* %v0
  %r6 = fcmp une float %r4, %r5
  %r7 = or i1 %r3, %r6
  %r8 = load float, float* %v0
  %r9 = load float, float* %v1
  %r10 = select i1 %r7, float %r8, float %r9
  store float %r10, float* %v2
  br label %L1
L1:
  %r11 = load float, float* %v2
  %r12 = insertvalue { float } undef, float %r11, 0
  ret { float } %r12
}

define internal { } @kernel(float addrspace(1)* %p0, float addrspace(1)* %p1, i64 %s0, i64 %s1, i64 %s2, i64 %rank, i64 %size, i1 %aligned, i8 addrspace(1)* %slot, i32 %blocks) nounwind alwaysinline {
L4:
  %v2 = alloca i64
  %v3 = alloca float
  %v4 = alloca i64
  %v5 = alloca float
  %v6 = alloca i64
  %a1 = alloca float
  %a2 = alloca float
  store i64 zeroinitializer, i64* %v2
  store float zeroinitializer, float* %v3
  store i64 zeroinitializer, i64* %v4
  store float zeroinitializer, float* %v5
  store i64 zeroinitializer, i64* %v6
  %r13 = icmp sgt i64 %s0, 0
  %r14 = select i1 %r13, i64 %s0, i64 0
  store float 0xFFF0000000000000, float* %a1
  br label %L5
L5:
  %r15 = icmp slt i64 %rank, %r14
  br i1 %r15, label %L6, label %L8
L6:
  %i6 = phi i64 [ %rank, %L5 ], [ %next6, %L7 ]
  %r16 = getelementptr inbounds float, float addrspace(1)* %p0, i64 %i6
  %r17 = load float, float addrspace(1)* %r16, align 4, !invariant.load !1
  %r18 = load float, float* %a1
  %r19 = call { float } @f1_max(float %r18, float %r17)
  %r20 = extractvalue { float } %r19, 0
  store float %r20, float* %a1
  br label %L7
L7:
  %next6 = add i64 %i6, %size
  %r21 = icmp slt i64 %next6, %r14
  br i1 %r21, label %L6, label %L8, !llvm.loop !3
L8:
  %r22 = load float, float* %a1
  %r23 = getelementptr [264 x i32], [264 x i32] addrspace(3)* @coop_entries, i64 0, i64 0
  %r24 = bitcast float %r22 to i32
  %r25 = call i32 @llvm.nvvm.shfl.sync.down.i32(i32 -1, i32 %r24, i32 16, i32 31)
  %r26 = bitcast i32 %r25 to float
  %r27 = call { float } @f1_max(float %r22, float %r26)
  %r28 = extractvalue { float } %r27, 0
  %r29 = bitcast float %r28 to i32
  %r30 = call i32 @llvm.nvvm.shfl.sync.down.i32(i32 -1, i32 %r29, i32 8, i32 31)
  %r31 = bitcast i32 %r30 to float
  %r32 = call { float } @f1_max(float %r28, float %r31)
  %r33 = extractvalue { float } %r32, 0
  %r34 = bitcast float %r33 to i32
  %r35 = call i32 @llvm.nvvm.shfl.sync.down.i32(i32 -1, i32 %r34, i32 4, i32 31)
  %r36 = bitcast i32 %r35 to float
  %r37 = call { float } @f1_max(float %r33, float %r36)
  %r38 = extractvalue { float } %r37, 0
  %r39 = bitcast float %r38 to i32
  %r40 = call i32 @llvm.nvvm.shfl.sync.down.i32(i32 -1, i32 %r39, i32 2, i32 31)
  %r41 = bitcast i32 %r40 to float
  %r42 = call { float } @f1_max(float %r38, float %r41)
  %r43 = extractvalue { float } %r42, 0
  %r44 = bitcast float %r43 to i32
  %r45 = call i32 @llvm.nvvm.shfl.sync.down.i32(i32 -1, i32 %r44, i32 1, i32 31)
  %r46 = bitcast i32 %r45 to float
  %r47 = call { float } @f1_max(float %r43, float %r46)
  %r48 = extractvalue { float } %r47, 0
  %r49 = bitcast float %r48 to i32
  %r50 = call i32 @llvm.nvvm.shfl.sync.idx.i32(i32 -1, i32 %r49, i32 0, i32 31)
  %r51 = bitcast i32 %r50 to float
  %r52 = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %r53 = and i32 %r52, 31
  call void @llvm.nvvm.barrier0()
  %r54 = icmp eq i32 %r53, 0
  br i1 %r54, label %L9, label %L10
L9:
  %r55 = lshr i32 %r52, 5
  %r56 = bitcast float %r51 to i32
  %r57 = mul i32 %r55, 8
  %r58 = add i32 %r57, 0
  %r59 = zext i32 %r58 to i64
  %r60 = getelementptr i32, i32 addrspace(3)* %r23, i64 %r59
  store i32 %r56, i32 addrspace(3)* %r60, align 4
  br label %L10
L10:
  call void @llvm.nvvm.barrier0()
  %r61 = and i32 %r53, 3
  %r62 = mul i32 %r61, 8
  %r63 = add i32 %r62, 0
  %r64 = zext i32 %r63 to i64
  %r65 = getelementptr i32, i32 addrspace(3)* %r23, i64 %r64
  %r66 = load i32, i32 addrspace(3)* %r65, align 4
  %r67 = bitcast i32 %r66 to float
  %r68 = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %r69 = and i32 %r68, 28
  %r70 = shl i32 15, %r69
  %r71 = bitcast float %r67 to i32
  %r72 = call i32 @llvm.nvvm.shfl.sync.down.i32(i32 %r70, i32 %r71, i32 2, i32 7199)
  %r73 = bitcast i32 %r72 to float
  %r74 = call { float } @f1_max(float %r67, float %r73)
  %r75 = extractvalue { float } %r74, 0
  %r76 = bitcast float %r75 to i32
  %r77 = call i32 @llvm.nvvm.shfl.sync.down.i32(i32 %r70, i32 %r76, i32 1, i32 7199)
  %r78 = bitcast i32 %r77 to float
  %r79 = call { float } @f1_max(float %r75, float %r78)
  %r80 = extractvalue { float } %r79, 0
  %r81 = bitcast float %r80 to i32
  %r82 = call i32 @llvm.nvvm.shfl.sync.idx.i32(i32 %r70, i32 %r81, i32 0, i32 7199)
  %r83 = bitcast i32 %r82 to float
  store float %r83, float* %v3
  %r84 = icmp sgt i64 %s0, 0
  %r85 = select i1 %r84, i64 %s0, i64 0
  store float 0x0000000000000000, float* %a2
  br label %L11
L11:
  %r86 = icmp slt i64 %rank, %r85
  br i1 %r86, label %L12, label %L14
L12:
  %i12 = phi i64 [ %rank, %L11 ], [ %next12, %L13 ]
  %r87 = getelementptr inbounds float, float addrspace(1)* %p0, i64 %i12
  %r88 = load float, float addrspace(1)* %r87, align 4, !invariant.load !1
  %r89 = load float, float* %a2
  %r90 = load float, float* %v3
  %r91 = fsub float %r88, %r90
  %r92 = call float @__nv_expf(float %r91)
  %r93 = fadd reassoc float %r89, %r92
  store float %r93, float* %a2
  br label %L13
L13:
  %next12 = add i64 %i12, %size
  %r94 = icmp slt i64 %next12, %r85
  br i1 %r94, label %L12, label %L14, !llvm.loop !5
L14:
  %r95 = load float, float* %a2
  %r96 = getelementptr [264 x i32], [264 x i32] addrspace(3)* @coop_entries, i64 0, i64 0
  %r97 = bitcast float %r95 to i32
  %r98 = call i32 @llvm.nvvm.shfl.sync.bfly.i32(i32 -1, i32 %r97, i32 16, i32 31)
  %r99 = bitcast i32 %r98 to float
  %r100 = fadd reassoc float %r95, %r99
  %r101 = bitcast float %r100 to i32
  %r102 = call i32 @llvm.nvvm.shfl.sync.bfly.i32(i32 -1, i32 %r101, i32 8, i32 31)
  %r103 = bitcast i32 %r102 to float
  %r104 = fadd reassoc float %r100, %r103
  %r105 = bitcast float %r104 to i32
  %r106 = call i32 @llvm.nvvm.shfl.sync.bfly.i32(i32 -1, i32 %r105, i32 4, i32 31)
  %r107 = bitcast i32 %r106 to float
  %r108 = fadd reassoc float %r104, %r107
  %r109 = bitcast float %r108 to i32
  %r110 = call i32 @llvm.nvvm.shfl.sync.bfly.i32(i32 -1, i32 %r109, i32 2, i32 31)
  %r111 = bitcast i32 %r110 to float
  %r112 = fadd reassoc float %r108, %r111
  %r113 = bitcast float %r112 to i32
  %r114 = call i32 @llvm.nvvm.shfl.sync.bfly.i32(i32 -1, i32 %r113, i32 1, i32 31)
  %r115 = bitcast i32 %r114 to float
  %r116 = fadd reassoc float %r112, %r115
  %r117 = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %r118 = and i32 %r117, 31
  call void @llvm.nvvm.barrier0()
  %r119 = icmp eq i32 %r118, 0
  br i1 %r119, label %L15, label %L16
L15:
  %r120 = lshr i32 %r117, 5
  %r121 = bitcast float %r116 to i32
  %r122 = mul i32 %r120, 8
  %r123 = add i32 %r122, 0
  %r124 = zext i32 %r123 to i64
  %r125 = getelementptr i32, i32 addrspace(3)* %r96, i64 %r124
  store i32 %r121, i32 addrspace(3)* %r125, align 4
  br label %L16
L16:
  call void @llvm.nvvm.barrier0()
  %r126 = and i32 %r118, 3
  %r127 = mul i32 %r126, 8
  %r128 = add i32 %r127, 0
  %r129 = zext i32 %r128 to i64
  %r130 = getelementptr i32, i32 addrspace(3)* %r96, i64 %r129
  %r131 = load i32, i32 addrspace(3)* %r130, align 4
  %r132 = bitcast i32 %r131 to float
  %r133 = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %r134 = and i32 %r133, 28
  %r135 = shl i32 15, %r134
  %r136 = bitcast float %r132 to i32
  %r137 = call i32 @llvm.nvvm.shfl.sync.bfly.i32(i32 %r135, i32 %r136, i32 2, i32 31)
  %r138 = bitcast i32 %r137 to float
  %r139 = fadd reassoc float %r132, %r138
  %r140 = bitcast float %r139 to i32
  %r141 = call i32 @llvm.nvvm.shfl.sync.bfly.i32(i32 %r135, i32 %r140, i32 1, i32 31)
  %r142 = bitcast i32 %r141 to float
  %r143 = fadd reassoc float %r139, %r142
  store float %r143, float* %v5
  %r144 = icmp sgt i64 %s0, 0
  %r145 = select i1 %r144, i64 %s0, i64 0
  br label %L17
L17:
  %r146 = icmp slt i64 %rank, %r145
  br i1 %r146, label %L18, label %L20
L18:
  %i18 = phi i64 [ %rank, %L17 ], [ %next18, %L19 ]
  %r147 = getelementptr inbounds float, float addrspace(1)* %p0, i64 %i18
  %r148 = load float, float addrspace(1)* %r147, align 4, !invariant.load !1
  %r149 = load float, float* %v3
  %r150 = fsub float %r148, %r149
  %r151 = call float @__nv_expf(float %r150)
  %r152 = load float, float* %v5
  %r153 = fdiv float %r151, %r152
  %r154 = getelementptr inbounds float, float addrspace(1)* %p1, i64 %i18
  store float %r153, float addrspace(1)* %r154, align 4
  br label %L19
L19:
  %next18 = add i64 %i18, %size
  %r155 = icmp slt i64 %next18, %r145
  br i1 %r155, label %L18, label %L20, !llvm.loop !7
L20:
  br label %L3
L3:
  ret { } undef
}

define void @uf_softmax(float addrspace(1)* %w0, float addrspace(1)* %w1, i64 %w2, i64 %w3, i64 %w4, i64 %w5, i64 %w6, i64 %w7, i64 %w8) nounwind {
  %r156 = icmp ne i64 %w3, 0
  %r157 = call i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
  %r158 = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %r159 = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %r160 = and i32 %r159, 127
  %r161 = zext i32 %r160 to i64
  %r162 = zext i32 %r159 to i64
  %r163 = zext i32 %r157 to i64
  %r164 = zext i32 %r158 to i64
  %r165 = mul i64 %r164, %r163
  %r166 = add i64 %r165, %r162
  %r167 = lshr i64 %r166, 7
  %r168 = call i32 @llvm.nvvm.read.ptx.sreg.nctaid.x()
  %r169 = zext i32 %r157 to i64
  %r170 = zext i32 %r168 to i64
  %r171 = mul i64 %r170, %r169
  %r172 = lshr i64 %r171, 7
  %r173 = icmp eq i64 %r161, 0
  br label %L21
L21:
  %r174 = icmp slt i64 %r167, %w2
  br i1 %r174, label %L22, label %L24
L22:
  %i22 = phi i64 [ %r167, %L21 ], [ %next22, %L23 ]
  %r175 = trunc i64 %i22 to i32
  %r176 = zext i32 %r175 to i64
  %r177 = mul i64 %r176, %w4
  %r178 = mul i64 %r176, %w5
  %r179 = getelementptr inbounds float, float addrspace(1)* %w0, i64 %r177
  %r180 = getelementptr inbounds float, float addrspace(1)* %w1, i64 %r178
  %r181 = call { } @kernel(float addrspace(1)* %r179, float addrspace(1)* %r180, i64 %w6, i64 %w7, i64 %w8, i64 %r161, i64 128, i1 %r156, i8 addrspace(1)* null, i32 1)
  br i1 %r173, label %L25, label %L26
L25:
  br label %L26
L26:
  br label %L23
L23:
  %next22 = add i64 %i22, %r172
  %r182 = icmp slt i64 %next22, %w2
  br i1 %r182, label %L22, label %L24, !llvm.loop !10
L24:
  ret void
}
@coop_entries = internal addrspace(3) global [264 x i32] undef, align 16
declare i32 @llvm.nvvm.shfl.sync.down.i32(i32, i32, i32, i32) convergent nounwind
declare i32 @llvm.nvvm.shfl.sync.idx.i32(i32, i32, i32, i32) convergent nounwind
declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
declare void @llvm.nvvm.barrier0() convergent nounwind
declare float @__nv_expf(float) nounwind readnone
declare i32 @llvm.nvvm.shfl.sync.bfly.i32(i32, i32, i32, i32) convergent nounwind
declare i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.nctaid.x()

!nvvm.annotations = !{!8}
!nvvmir.version = !{!11}
!1 = !{}
!2 = !{!"llvm.loop.unroll.disable"}
!3 = distinct !{!3, !2}
!4 = !{!"llvm.loop.unroll.disable"}
!5 = distinct !{!5, !4}
!6 = !{!"llvm.loop.unroll.disable"}
!7 = distinct !{!7, !6}
!8 = !{void (float addrspace(1)*, float addrspace(1)*, i64, i64, i64, i64, i64, i64, i64)* @uf_softmax, !"kernel", i32 1, !"maxntidx", i32 256}
!9 = !{!"llvm.loop.unroll.disable"}
!10 = distinct !{!10, !9}
!11 = !{i32 2, i32 0, i32 3, i32 1}
