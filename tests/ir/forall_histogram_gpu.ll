; points
target datalayout = "e-p:64:64:64-i1:8:8-i8:8:8-i16:16:16-i32:32:32-i64:64:64-i128:128:128-f32:32:32-f64:64:64-v16:16:16-v32:32:32-v64:64:64-v128:128:128-n16:32:64"
target triple = "nvptx64-nvidia-cuda"

define internal { } @kernel(i8 addrspace(1)* %p0, i32 addrspace(1)* %p1, i64 %p2, i64 %s0, i64 %s1, i64 %s2, i64 %s3, i64 %s4, i8* %q0, i32 addrspace(3)* %own1) nounwind alwaysinline {
L2:
  %v2 = alloca i64
  store i64 %p2, i64* %v2
  %r1 = load i64, i64* %v2
  %r2 = icmp ult i64 %r1, %s1
  %r3 = load i8, i8* %q0
  %r4 = select i1 %r2, i8 %r3, i8 0
  %r5 = zext i8 %r4 to i64
  %r6 = icmp ult i64 %r5, %s2
  %r7 = getelementptr inbounds i32, i32 addrspace(3)* %own1, i64 %r5
  br i1 %r6, label %L3, label %L4
L3:
  %r8 = atomicrmw add i32 addrspace(3)* %r7, i32 1 monotonic
  br label %L4
L4:
  %r9 = phi i32 [ %r8, %L3 ], [ 0, %L2 ]
  br label %L1
L1:
  ret { } undef
}

define void @uf_points(i8 addrspace(1)* %w0, i32 addrspace(1)* %w1, i64 %w2, i64 %w3, i64 %w4, i64 %w5, i64 %w6, i64 %w7, i64 %w8) nounwind {
  %r10 = trunc i64 %w2 to i32
  %r11 = getelementptr [0 x i8], [0 x i8] addrspace(3)* @shared, i64 0, i64 %w3
  %r12 = bitcast i8 addrspace(3)* %r11 to i32 addrspace(3)*
  %r13 = alloca i8
  %r14 = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %r15 = call i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
  %r16 = mul i32 %r15, 2
  %r17 = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %r18 = mul i32 %r17, %r16
  %r19 = add i32 %r18, %r14
  %r20 = zext i32 %r14 to i64
  br label %L5
L5:
  %r21 = icmp slt i64 %r20, %w6
  br i1 %r21, label %L6, label %L8
L6:
  %i6 = phi i64 [ %r20, %L5 ], [ %next6, %L7 ]
  %r22 = getelementptr inbounds i32, i32 addrspace(3)* %r12, i64 %i6
  store i32 0, i32 addrspace(3)* %r22, align 4
  %r23 = zext i32 %r15 to i64
  br label %L7
L7:
  %next6 = add i64 %i6, %r23
  %r24 = icmp slt i64 %next6, %w6
  br i1 %r24, label %L6, label %L8, !llvm.loop !3
L8:
  call void @llvm.nvvm.barrier0()
  %r25 = call i32 @llvm.nvvm.read.ptx.sreg.nctaid.x()
  %r26 = mul i32 %r25, %r16
  br label %L9
L9:
  %r27 = icmp slt i32 %r19, %r10
  br i1 %r27, label %L10, label %L12
L10:
  %i10 = phi i32 [ %r19, %L9 ], [ %next10, %L11 ]
  %r28 = zext i32 %i10 to i64
  %r29 = shl nuw nsw i64 %r28, 4
  %r30 = mul i32 %r15, 1
  %r31 = add i32 %i10, %r30
  %r32 = zext i32 %r31 to i64
  %r33 = shl nuw nsw i64 %r32, 4
  %r34 = or i64 %r33, 15
  %r35 = icmp slt i64 %r34, %w4
  br i1 %r35, label %L13, label %L14
L13:
  %r36 = getelementptr inbounds i8, i8 addrspace(1)* %w0, i64 %r29
  %r37 = bitcast i8 addrspace(1)* %r36 to <4 x i32> addrspace(1)*
  %r38 = load <4 x i32>, <4 x i32> addrspace(1)* %r37, align 16, !invariant.load !4
  %r39 = extractelement <4 x i32> %r38, i32 0
  %r40 = bitcast i32 %r39 to <4 x i8>
  %r41 = extractelement <4 x i8> %r40, i32 0
  %r42 = extractelement <4 x i8> %r40, i32 1
  %r43 = extractelement <4 x i8> %r40, i32 2
  %r44 = extractelement <4 x i8> %r40, i32 3
  %r45 = extractelement <4 x i32> %r38, i32 1
  %r46 = bitcast i32 %r45 to <4 x i8>
  %r47 = extractelement <4 x i8> %r46, i32 0
  %r48 = extractelement <4 x i8> %r46, i32 1
  %r49 = extractelement <4 x i8> %r46, i32 2
  %r50 = extractelement <4 x i8> %r46, i32 3
  %r51 = extractelement <4 x i32> %r38, i32 2
  %r52 = bitcast i32 %r51 to <4 x i8>
  %r53 = extractelement <4 x i8> %r52, i32 0
  %r54 = extractelement <4 x i8> %r52, i32 1
  %r55 = extractelement <4 x i8> %r52, i32 2
  %r56 = extractelement <4 x i8> %r52, i32 3
  %r57 = extractelement <4 x i32> %r38, i32 3
  %r58 = bitcast i32 %r57 to <4 x i8>
  %r59 = extractelement <4 x i8> %r58, i32 0
  %r60 = extractelement <4 x i8> %r58, i32 1
  %r61 = extractelement <4 x i8> %r58, i32 2
  %r62 = extractelement <4 x i8> %r58, i32 3
  %r63 = getelementptr inbounds i8, i8 addrspace(1)* %w0, i64 %r33
  %r64 = bitcast i8 addrspace(1)* %r63 to <4 x i32> addrspace(1)*
  %r65 = load <4 x i32>, <4 x i32> addrspace(1)* %r64, align 16, !invariant.load !4
  %r66 = extractelement <4 x i32> %r65, i32 0
  %r67 = bitcast i32 %r66 to <4 x i8>
  %r68 = extractelement <4 x i8> %r67, i32 0
  %r69 = extractelement <4 x i8> %r67, i32 1
  %r70 = extractelement <4 x i8> %r67, i32 2
  %r71 = extractelement <4 x i8> %r67, i32 3
  %r72 = extractelement <4 x i32> %r65, i32 1
  %r73 = bitcast i32 %r72 to <4 x i8>
  %r74 = extractelement <4 x i8> %r73, i32 0
  %r75 = extractelement <4 x i8> %r73, i32 1
  %r76 = extractelement <4 x i8> %r73, i32 2
  %r77 = extractelement <4 x i8> %r73, i32 3
  %r78 = extractelement <4 x i32> %r65, i32 2
  %r79 = bitcast i32 %r78 to <4 x i8>
  %r80 = extractelement <4 x i8> %r79, i32 0
  %r81 = extractelement <4 x i8> %r79, i32 1
  %r82 = extractelement <4 x i8> %r79, i32 2
  %r83 = extractelement <4 x i8> %r79, i32 3
  %r84 = extractelement <4 x i32> %r65, i32 3
  %r85 = bitcast i32 %r84 to <4 x i8>
  %r86 = extractelement <4 x i8> %r85, i32 0
  %r87 = extractelement <4 x i8> %r85, i32 1
  %r88 = extractelement <4 x i8> %r85, i32 2
  %r89 = extractelement <4 x i8> %r85, i32 3
  store i8 %r41, i8* %r13
  %r90 = call { } @kernel(i8 addrspace(1)* %w0, i32 addrspace(1)* %w1, i64 %r29, i64 %w4, i64 %w5, i64 %w6, i64 %w7, i64 %w8, i8* %r13, i32 addrspace(3)* %r12)
  %r91 = or i64 %r29, 1
  store i8 %r42, i8* %r13
  %r92 = call { } @kernel(i8 addrspace(1)* %w0, i32 addrspace(1)* %w1, i64 %r91, i64 %w4, i64 %w5, i64 %w6, i64 %w7, i64 %w8, i8* %r13, i32 addrspace(3)* %r12)
  %r93 = or i64 %r29, 2
  store i8 %r43, i8* %r13
  %r94 = call { } @kernel(i8 addrspace(1)* %w0, i32 addrspace(1)* %w1, i64 %r93, i64 %w4, i64 %w5, i64 %w6, i64 %w7, i64 %w8, i8* %r13, i32 addrspace(3)* %r12)
  %r95 = or i64 %r29, 3
  store i8 %r44, i8* %r13
  %r96 = call { } @kernel(i8 addrspace(1)* %w0, i32 addrspace(1)* %w1, i64 %r95, i64 %w4, i64 %w5, i64 %w6, i64 %w7, i64 %w8, i8* %r13, i32 addrspace(3)* %r12)
  %r97 = or i64 %r29, 4
  store i8 %r47, i8* %r13
  %r98 = call { } @kernel(i8 addrspace(1)* %w0, i32 addrspace(1)* %w1, i64 %r97, i64 %w4, i64 %w5, i64 %w6, i64 %w7, i64 %w8, i8* %r13, i32 addrspace(3)* %r12)
  %r99 = or i64 %r29, 5
  store i8 %r48, i8* %r13
  %r100 = call { } @kernel(i8 addrspace(1)* %w0, i32 addrspace(1)* %w1, i64 %r99, i64 %w4, i64 %w5, i64 %w6, i64 %w7, i64 %w8, i8* %r13, i32 addrspace(3)* %r12)
  %r101 = or i64 %r29, 6
  store i8 %r49, i8* %r13
  %r102 = call { } @kernel(i8 addrspace(1)* %w0, i32 addrspace(1)* %w1, i64 %r101, i64 %w4, i64 %w5, i64 %w6, i64 %w7, i64 %w8, i8* %r13, i32 addrspace(3)* %r12)
  %r103 = or i64 %r29, 7
  store i8 %r50, i8* %r13
  %r104 = call { } @kernel(i8 addrspace(1)* %w0, i32 addrspace(1)* %w1, i64 %r103, i64 %w4, i64 %w5, i64 %w6, i64 %w7, i64 %w8, i8* %r13, i32 addrspace(3)* %r12)
  %r105 = or i64 %r29, 8
  store i8 %r53, i8* %r13
  %r106 = call { } @kernel(i8 addrspace(1)* %w0, i32 addrspace(1)* %w1, i64 %r105, i64 %w4, i64 %w5, i64 %w6, i64 %w7, i64 %w8, i8* %r13, i32 addrspace(3)* %r12)
  %r107 = or i64 %r29, 9
  store i8 %r54, i8* %r13
  %r108 = call { } @kernel(i8 addrspace(1)* %w0, i32 addrspace(1)* %w1, i64 %r107, i64 %w4, i64 %w5, i64 %w6, i64 %w7, i64 %w8, i8* %r13, i32 addrspace(3)* %r12)
  %r109 = or i64 %r29, 10
  store i8 %r55, i8* %r13
  %r110 = call { } @kernel(i8 addrspace(1)* %w0, i32 addrspace(1)* %w1, i64 %r109, i64 %w4, i64 %w5, i64 %w6, i64 %w7, i64 %w8, i8* %r13, i32 addrspace(3)* %r12)
  %r111 = or i64 %r29, 11
  store i8 %r56, i8* %r13
  %r112 = call { } @kernel(i8 addrspace(1)* %w0, i32 addrspace(1)* %w1, i64 %r111, i64 %w4, i64 %w5, i64 %w6, i64 %w7, i64 %w8, i8* %r13, i32 addrspace(3)* %r12)
  %r113 = or i64 %r29, 12
  store i8 %r59, i8* %r13
  %r114 = call { } @kernel(i8 addrspace(1)* %w0, i32 addrspace(1)* %w1, i64 %r113, i64 %w4, i64 %w5, i64 %w6, i64 %w7, i64 %w8, i8* %r13, i32 addrspace(3)* %r12)
  %r115 = or i64 %r29, 13
  store i8 %r60, i8* %r13
  %r116 = call { } @kernel(i8 addrspace(1)* %w0, i32 addrspace(1)* %w1, i64 %r115, i64 %w4, i64 %w5, i64 %w6, i64 %w7, i64 %w8, i8* %r13, i32 addrspace(3)* %r12)
  %r117 = or i64 %r29, 14
  store i8 %r61, i8* %r13
  %r118 = call { } @kernel(i8 addrspace(1)* %w0, i32 addrspace(1)* %w1, i64 %r117, i64 %w4, i64 %w5, i64 %w6, i64 %w7, i64 %w8, i8* %r13, i32 addrspace(3)* %r12)
  %r119 = or i64 %r29, 15
  store i8 %r62, i8* %r13
  %r120 = call { } @kernel(i8 addrspace(1)* %w0, i32 addrspace(1)* %w1, i64 %r119, i64 %w4, i64 %w5, i64 %w6, i64 %w7, i64 %w8, i8* %r13, i32 addrspace(3)* %r12)
  store i8 %r68, i8* %r13
  %r121 = call { } @kernel(i8 addrspace(1)* %w0, i32 addrspace(1)* %w1, i64 %r33, i64 %w4, i64 %w5, i64 %w6, i64 %w7, i64 %w8, i8* %r13, i32 addrspace(3)* %r12)
  %r122 = or i64 %r33, 1
  store i8 %r69, i8* %r13
  %r123 = call { } @kernel(i8 addrspace(1)* %w0, i32 addrspace(1)* %w1, i64 %r122, i64 %w4, i64 %w5, i64 %w6, i64 %w7, i64 %w8, i8* %r13, i32 addrspace(3)* %r12)
  %r124 = or i64 %r33, 2
  store i8 %r70, i8* %r13
  %r125 = call { } @kernel(i8 addrspace(1)* %w0, i32 addrspace(1)* %w1, i64 %r124, i64 %w4, i64 %w5, i64 %w6, i64 %w7, i64 %w8, i8* %r13, i32 addrspace(3)* %r12)
  %r126 = or i64 %r33, 3
  store i8 %r71, i8* %r13
  %r127 = call { } @kernel(i8 addrspace(1)* %w0, i32 addrspace(1)* %w1, i64 %r126, i64 %w4, i64 %w5, i64 %w6, i64 %w7, i64 %w8, i8* %r13, i32 addrspace(3)* %r12)
  %r128 = or i64 %r33, 4
  store i8 %r74, i8* %r13
  %r129 = call { } @kernel(i8 addrspace(1)* %w0, i32 addrspace(1)* %w1, i64 %r128, i64 %w4, i64 %w5, i64 %w6, i64 %w7, i64 %w8, i8* %r13, i32 addrspace(3)* %r12)
  %r130 = or i64 %r33, 5
  store i8 %r75, i8* %r13
  %r131 = call { } @kernel(i8 addrspace(1)* %w0, i32 addrspace(1)* %w1, i64 %r130, i64 %w4, i64 %w5, i64 %w6, i64 %w7, i64 %w8, i8* %r13, i32 addrspace(3)* %r12)
  %r132 = or i64 %r33, 6
  store i8 %r76, i8* %r13
  %r133 = call { } @kernel(i8 addrspace(1)* %w0, i32 addrspace(1)* %w1, i64 %r132, i64 %w4, i64 %w5, i64 %w6, i64 %w7, i64 %w8, i8* %r13, i32 addrspace(3)* %r12)
  %r134 = or i64 %r33, 7
  store i8 %r77, i8* %r13
  %r135 = call { } @kernel(i8 addrspace(1)* %w0, i32 addrspace(1)* %w1, i64 %r134, i64 %w4, i64 %w5, i64 %w6, i64 %w7, i64 %w8, i8* %r13, i32 addrspace(3)* %r12)
  %r136 = or i64 %r33, 8
  store i8 %r80, i8* %r13
  %r137 = call { } @kernel(i8 addrspace(1)* %w0, i32 addrspace(1)* %w1, i64 %r136, i64 %w4, i64 %w5, i64 %w6, i64 %w7, i64 %w8, i8* %r13, i32 addrspace(3)* %r12)
  %r138 = or i64 %r33, 9
  store i8 %r81, i8* %r13
  %r139 = call { } @kernel(i8 addrspace(1)* %w0, i32 addrspace(1)* %w1, i64 %r138, i64 %w4, i64 %w5, i64 %w6, i64 %w7, i64 %w8, i8* %r13, i32 addrspace(3)* %r12)
  %r140 = or i64 %r33, 10
  store i8 %r82, i8* %r13
  %r141 = call { } @kernel(i8 addrspace(1)* %w0, i32 addrspace(1)* %w1, i64 %r140, i64 %w4, i64 %w5, i64 %w6, i64 %w7, i64 %w8, i8* %r13, i32 addrspace(3)* %r12)
  %r142 = or i64 %r33, 11
  store i8 %r83, i8* %r13
  %r143 = call { } @kernel(i8 addrspace(1)* %w0, i32 addrspace(1)* %w1, i64 %r142, i64 %w4, i64 %w5, i64 %w6, i64 %w7, i64 %w8, i8* %r13, i32 addrspace(3)* %r12)
  %r144 = or i64 %r33, 12
  store i8 %r86, i8* %r13
  %r145 = call { } @kernel(i8 addrspace(1)* %w0, i32 addrspace(1)* %w1, i64 %r144, i64 %w4, i64 %w5, i64 %w6, i64 %w7, i64 %w8, i8* %r13, i32 addrspace(3)* %r12)
  %r146 = or i64 %r33, 13
  store i8 %r87, i8* %r13
  %r147 = call { } @kernel(i8 addrspace(1)* %w0, i32 addrspace(1)* %w1, i64 %r146, i64 %w4, i64 %w5, i64 %w6, i64 %w7, i64 %w8, i8* %r13, i32 addrspace(3)* %r12)
  %r148 = or i64 %r33, 14
  store i8 %r88, i8* %r13
  %r149 = call { } @kernel(i8 addrspace(1)* %w0, i32 addrspace(1)* %w1, i64 %r148, i64 %w4, i64 %w5, i64 %w6, i64 %w7, i64 %w8, i8* %r13, i32 addrspace(3)* %r12)
  %r150 = or i64 %r33, 15
  store i8 %r89, i8* %r13
  %r151 = call { } @kernel(i8 addrspace(1)* %w0, i32 addrspace(1)* %w1, i64 %r150, i64 %w4, i64 %w5, i64 %w6, i64 %w7, i64 %w8, i8* %r13, i32 addrspace(3)* %r12)
  br label %L15
L14:
  %r152 = mul i32 %r15, 1
  %r153 = add i32 %i10, %r152
  %r154 = add i32 %r153, 1
  %r155 = icmp slt i32 %r154, %r10
  %r156 = select i1 %r155, i32 %r154, i32 %r10
  br label %L16
L16:
  %r157 = icmp slt i32 %i10, %r156
  br i1 %r157, label %L17, label %L19
L17:
  %i17 = phi i32 [ %i10, %L16 ], [ %next17, %L18 ]
  %r158 = zext i32 %i17 to i64
  %r159 = shl nuw nsw i64 %r158, 4
  %r160 = add i64 %r159, 16
  %r161 = icmp slt i64 %r160, %w4
  %r162 = select i1 %r161, i64 %r160, i64 %w4
  br label %L20
L20:
  %r163 = icmp slt i64 %r159, %r162
  br i1 %r163, label %L21, label %L23
L21:
  %i21 = phi i64 [ %r159, %L20 ], [ %next21, %L22 ]
  %r164 = icmp ult i64 %i21, %w5
  %r165 = select i1 %r164, i64 %i21, i64 0
  %r166 = getelementptr inbounds i8, i8 addrspace(1)* %w0, i64 %r165
  %r167 = load i8, i8 addrspace(1)* %r166, align 1, !invariant.load !4
  store i8 %r167, i8* %r13
  %r168 = call { } @kernel(i8 addrspace(1)* %w0, i32 addrspace(1)* %w1, i64 %i21, i64 %w4, i64 %w5, i64 %w6, i64 %w7, i64 %w8, i8* %r13, i32 addrspace(3)* %r12)
  br label %L22
L22:
  %next21 = add i64 %i21, 1
  %r169 = icmp slt i64 %next21, %r162
  br i1 %r169, label %L21, label %L23, !llvm.loop !6
L23:
  br label %L18
L18:
  %next17 = add i32 %i17, %r15
  %r170 = icmp slt i32 %next17, %r156
  br i1 %r170, label %L17, label %L19, !llvm.loop !8
L19:
  br label %L15
L15:
  br label %L11
L11:
  %next10 = add i32 %i10, %r26
  %r171 = icmp slt i32 %next10, %r10
  br i1 %r171, label %L10, label %L12, !llvm.loop !10
L12:
  call void @llvm.nvvm.barrier0()
  %r172 = zext i32 %r14 to i64
  br label %L24
L24:
  %r173 = icmp slt i64 %r172, %w6
  br i1 %r173, label %L25, label %L27
L25:
  %i25 = phi i64 [ %r172, %L24 ], [ %next25, %L26 ]
  %r174 = getelementptr inbounds i32, i32 addrspace(3)* %r12, i64 %i25
  %r175 = load i32, i32 addrspace(3)* %r174, align 4
  %r176 = icmp ne i32 %r175, 0
  br i1 %r176, label %L28, label %L29
L28:
  %r177 = mul i64 %i25, %w8
  %r178 = add i64 0, %r177
  %r179 = getelementptr inbounds i32, i32 addrspace(1)* %w1, i64 %r178
  %r180 = atomicrmw add i32 addrspace(1)* %r179, i32 %r175 monotonic
  br label %L29
L29:
  %r181 = zext i32 %r15 to i64
  br label %L26
L26:
  %next25 = add i64 %i25, %r181
  %r182 = icmp slt i64 %next25, %w6
  br i1 %r182, label %L25, label %L27, !llvm.loop !12
L27:
  ret void
}
@shared = external addrspace(3) global [0 x i8], align 16
declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
declare void @llvm.nvvm.barrier0() convergent nounwind
declare i32 @llvm.nvvm.read.ptx.sreg.nctaid.x()

!nvvm.annotations = !{!1}
!nvvmir.version = !{!13}
!1 = !{void (i8 addrspace(1)*, i32 addrspace(1)*, i64, i64, i64, i64, i64, i64, i64)* @uf_points, !"kernel", i32 1, !"maxntidx", i32 512}
!2 = !{!"llvm.loop.unroll.disable"}
!3 = distinct !{!3, !2}
!4 = !{}
!5 = !{!"llvm.loop.unroll.disable"}
!6 = distinct !{!6, !5}
!7 = !{!"llvm.loop.unroll.disable"}
!8 = distinct !{!8, !7}
!9 = !{!"llvm.loop.unroll.disable"}
!10 = distinct !{!10, !9}
!11 = !{!"llvm.loop.unroll.disable"}
!12 = distinct !{!12, !11}
!13 = !{i32 2, i32 0, i32 3, i32 1}
