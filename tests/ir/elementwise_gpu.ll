; f
target datalayout = "e-p:64:64:64-i1:8:8-i8:8:8-i16:16:16-i32:32:32-i64:64:64-i128:128:128-f32:32:32-f64:64:64-v16:16:16-v32:32:32-v64:64:64-v128:128:128-n16:32:64"
target triple = "nvptx64-nvidia-cuda"

define internal { float } @kernel(float %p0, float %p1) nounwind alwaysinline !dbg !5 {
L2:
  %v0 = alloca float
  %v1 = alloca float
  %v2 = alloca float
  store float %p0, float* %v0, !dbg !6
  store float %p1, float* %v1, !dbg !6
  store float zeroinitializer, float* %v2, !dbg !6
  %r3 = fsub float %p0, %p1, !dbg !6
  %r4 = fmul float 0x4000000000000000, %r3, !dbg !6
  %r7 = fadd float %p0, %p1, !dbg !6
  %r8 = fdiv float %r4, %r7, !dbg !6
  store float %r8, float* %v2, !dbg !6
  br label %L1, !dbg !6
L1:
  %r10 = insertvalue { float } undef, float %r8, 0, !dbg !6
  ret { float } %r10, !dbg !6
}

define void @uf_f_flat_f32(float addrspace(1)* %w0, float addrspace(1)* %w1, float addrspace(1)* %w2, i64 %w3, i64 %w4) nounwind !dbg !8 {
  %r11 = call i32 @llvm.nvvm.read.ptx.sreg.tid.x(), !dbg !9
  %r12 = call i32 @llvm.nvvm.read.ptx.sreg.ntid.x(), !dbg !9
  %r13 = mul i32 %r12, 4, !dbg !9
  %r14 = zext i32 %r13 to i64, !dbg !9
  %r15 = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x(), !dbg !9
  %r16 = zext i32 %r15 to i64, !dbg !9
  %r17 = mul i64 %r16, %r14, !dbg !9
  %r18 = icmp sge i64 %w4, 0, !dbg !9
  %r19 = sub i64 %w3, %r17, !dbg !9
  %r20 = select i1 %r18, i64 %w4, i64 0, !dbg !9
  %r21 = add i64 %r17, %r20, !dbg !9
  %r22 = sub i64 %r19, %r20, !dbg !9
  %r23 = icmp sge i64 %r22, %r14, !dbg !9
  %r24 = and i1 %r18, %r23, !dbg !9
  %r26 = icmp slt i64 %r19, %r14, !dbg !9
  %r27 = select i1 %r26, i64 %r19, i64 %r14, !dbg !9
  %r28 = trunc i64 %r27 to i32, !dbg !9
  %r30 = icmp slt i64 %r22, %r14, !dbg !9
  %r31 = select i1 %r30, i64 %r22, i64 %r14, !dbg !9
  %r32 = trunc i64 %r31 to i32, !dbg !9
  %r33 = getelementptr inbounds float, float addrspace(1)* %w0, i64 %r21, !dbg !9
  %r34 = getelementptr inbounds float, float addrspace(1)* %w1, i64 %r21, !dbg !9
  br i1 %r24, label %L4, label %L5, !dbg !9
L4:
  %r36 = mul i32 %r11, 4, !dbg !9
  %r37 = zext i32 %r36 to i64, !dbg !9
  %r38 = getelementptr inbounds float, float addrspace(1)* %r33, i64 %r37, !dbg !9
  %r39 = bitcast float addrspace(1)* %r38 to <4 x float> addrspace(1)*, !dbg !9
  %r40 = load <4 x float>, <4 x float> addrspace(1)* %r39, align 16, !dbg !9
  %r41 = extractelement <4 x float> %r40, i32 0, !dbg !9
  %r42 = extractelement <4 x float> %r40, i32 1, !dbg !9
  %r43 = extractelement <4 x float> %r40, i32 2, !dbg !9
  %r44 = extractelement <4 x float> %r40, i32 3, !dbg !9
  %r45 = getelementptr inbounds float, float addrspace(1)* %r34, i64 %r37, !dbg !9
  %r46 = bitcast float addrspace(1)* %r45 to <4 x float> addrspace(1)*, !dbg !9
  %r47 = load <4 x float>, <4 x float> addrspace(1)* %r46, align 16, !dbg !9
  %r48 = extractelement <4 x float> %r47, i32 0, !dbg !9
  %r49 = extractelement <4 x float> %r47, i32 1, !dbg !9
  %r50 = extractelement <4 x float> %r47, i32 2, !dbg !9
  %r51 = extractelement <4 x float> %r47, i32 3, !dbg !9
  br label %L7, !dbg !9
L5:
  %r52 = icmp slt i32 %r11, %r28, !dbg !9
  br i1 %r52, label %L6, label %L3, !dbg !9
L6:
  %r53 = zext i32 %r11 to i64, !dbg !9
  %r54 = icmp slt i32 %r11, %r32, !dbg !9
  %r55 = select i1 %r54, i64 0, i64 %w3, !dbg !9
  %r56 = sub i64 %r53, %r55, !dbg !9
  %r57 = getelementptr inbounds float, float addrspace(1)* %r33, i64 %r56, !dbg !9
  %r58 = load float, float addrspace(1)* %r57, align 4, !dbg !9
  %r59 = getelementptr inbounds float, float addrspace(1)* %r34, i64 %r56, !dbg !9
  %r60 = load float, float addrspace(1)* %r59, align 4, !dbg !9
  %r62 = add i32 %r11, %r12, !dbg !9
  %r63 = icmp slt i32 %r62, %r28, !dbg !9
  %r64 = select i1 %r63, i32 %r62, i32 %r11, !dbg !9
  %r65 = zext i32 %r64 to i64, !dbg !9
  %r66 = icmp slt i32 %r64, %r32, !dbg !9
  %r67 = select i1 %r66, i64 0, i64 %w3, !dbg !9
  %r68 = sub i64 %r65, %r67, !dbg !9
  %r69 = getelementptr inbounds float, float addrspace(1)* %r33, i64 %r68, !dbg !9
  %r70 = load float, float addrspace(1)* %r69, align 4, !dbg !9
  %r71 = getelementptr inbounds float, float addrspace(1)* %r34, i64 %r68, !dbg !9
  %r72 = load float, float addrspace(1)* %r71, align 4, !dbg !9
  %r73 = mul i32 %r12, 2, !dbg !9
  %r74 = add i32 %r11, %r73, !dbg !9
  %r75 = icmp slt i32 %r74, %r28, !dbg !9
  %r76 = select i1 %r75, i32 %r74, i32 %r11, !dbg !9
  %r77 = zext i32 %r76 to i64, !dbg !9
  %r78 = icmp slt i32 %r76, %r32, !dbg !9
  %r79 = select i1 %r78, i64 0, i64 %w3, !dbg !9
  %r80 = sub i64 %r77, %r79, !dbg !9
  %r81 = getelementptr inbounds float, float addrspace(1)* %r33, i64 %r80, !dbg !9
  %r82 = load float, float addrspace(1)* %r81, align 4, !dbg !9
  %r83 = getelementptr inbounds float, float addrspace(1)* %r34, i64 %r80, !dbg !9
  %r84 = load float, float addrspace(1)* %r83, align 4, !dbg !9
  %r85 = mul i32 %r12, 3, !dbg !9
  %r86 = add i32 %r11, %r85, !dbg !9
  %r87 = icmp slt i32 %r86, %r28, !dbg !9
  %r88 = select i1 %r87, i32 %r86, i32 %r11, !dbg !9
  %r89 = zext i32 %r88 to i64, !dbg !9
  %r90 = icmp slt i32 %r88, %r32, !dbg !9
  %r91 = select i1 %r90, i64 0, i64 %w3, !dbg !9
  %r92 = sub i64 %r89, %r91, !dbg !9
  %r93 = getelementptr inbounds float, float addrspace(1)* %r33, i64 %r92, !dbg !9
  %r94 = load float, float addrspace(1)* %r93, align 4, !dbg !9
  %r95 = getelementptr inbounds float, float addrspace(1)* %r34, i64 %r92, !dbg !9
  %r96 = load float, float addrspace(1)* %r95, align 4, !dbg !9
  br label %L7, !dbg !9
L7:
  %r97 = phi float [ %r41, %L4 ], [ %r58, %L6 ], !dbg !9
  %r98 = phi float [ %r48, %L4 ], [ %r60, %L6 ], !dbg !9
  %r99 = phi float [ %r42, %L4 ], [ %r70, %L6 ], !dbg !9
  %r100 = phi float [ %r49, %L4 ], [ %r72, %L6 ], !dbg !9
  %r101 = phi float [ %r43, %L4 ], [ %r82, %L6 ], !dbg !9
  %r102 = phi float [ %r50, %L4 ], [ %r84, %L6 ], !dbg !9
  %r103 = phi float [ %r44, %L4 ], [ %r94, %L6 ], !dbg !9
  %r104 = phi float [ %r51, %L4 ], [ %r96, %L6 ], !dbg !9
  %r35 = getelementptr inbounds float, float addrspace(1)* %w2, i64 %r21, !dbg !9
  %r105 = call { float } @kernel(float %r97, float %r98), !dbg !9
  %r106 = extractvalue { float } %r105, 0, !dbg !9
  %r107 = call { float } @kernel(float %r99, float %r100), !dbg !9
  %r108 = extractvalue { float } %r107, 0, !dbg !9
  %r109 = call { float } @kernel(float %r101, float %r102), !dbg !9
  %r110 = extractvalue { float } %r109, 0, !dbg !9
  %r111 = call { float } @kernel(float %r103, float %r104), !dbg !9
  %r112 = extractvalue { float } %r111, 0, !dbg !9
  br i1 %r24, label %L8, label %L9, !dbg !9
L8:
  %r113 = mul i32 %r11, 4, !dbg !9
  %r114 = zext i32 %r113 to i64, !dbg !9
  %r115 = getelementptr inbounds float, float addrspace(1)* %r35, i64 %r114, !dbg !9
  %r116 = bitcast float addrspace(1)* %r115 to <4 x float> addrspace(1)*, !dbg !9
  %r117 = insertelement <4 x float> undef, float %r106, i32 0, !dbg !9
  %r118 = insertelement <4 x float> %r117, float %r108, i32 1, !dbg !9
  %r119 = insertelement <4 x float> %r118, float %r110, i32 2, !dbg !9
  %r120 = insertelement <4 x float> %r119, float %r112, i32 3, !dbg !9
  store <4 x float> %r120, <4 x float> addrspace(1)* %r116, align 16, !dbg !9
  br label %L10, !dbg !9
L9:
  %r121 = zext i32 %r11 to i64, !dbg !9
  %r122 = icmp slt i32 %r11, %r32, !dbg !9
  %r123 = select i1 %r122, i64 0, i64 %w3, !dbg !9
  %r124 = sub i64 %r121, %r123, !dbg !9
  %r125 = getelementptr inbounds float, float addrspace(1)* %r35, i64 %r124, !dbg !9
  store float %r106, float addrspace(1)* %r125, align 4, !dbg !9
  %r127 = add i32 %r11, %r12, !dbg !9
  %r128 = icmp slt i32 %r127, %r28, !dbg !9
  %r129 = select i1 %r128, i32 %r127, i32 %r11, !dbg !9
  %r130 = zext i32 %r129 to i64, !dbg !9
  %r131 = icmp slt i32 %r129, %r32, !dbg !9
  %r132 = select i1 %r131, i64 0, i64 %w3, !dbg !9
  %r133 = sub i64 %r130, %r132, !dbg !9
  %r134 = getelementptr inbounds float, float addrspace(1)* %r35, i64 %r133, !dbg !9
  store float %r108, float addrspace(1)* %r134, align 4, !dbg !9
  %r135 = mul i32 %r12, 2, !dbg !9
  %r136 = add i32 %r11, %r135, !dbg !9
  %r137 = icmp slt i32 %r136, %r28, !dbg !9
  %r138 = select i1 %r137, i32 %r136, i32 %r11, !dbg !9
  %r139 = zext i32 %r138 to i64, !dbg !9
  %r140 = icmp slt i32 %r138, %r32, !dbg !9
  %r141 = select i1 %r140, i64 0, i64 %w3, !dbg !9
  %r142 = sub i64 %r139, %r141, !dbg !9
  %r143 = getelementptr inbounds float, float addrspace(1)* %r35, i64 %r142, !dbg !9
  store float %r110, float addrspace(1)* %r143, align 4, !dbg !9
  %r144 = mul i32 %r12, 3, !dbg !9
  %r145 = add i32 %r11, %r144, !dbg !9
  %r146 = icmp slt i32 %r145, %r28, !dbg !9
  %r147 = select i1 %r146, i32 %r145, i32 %r11, !dbg !9
  %r148 = zext i32 %r147 to i64, !dbg !9
  %r149 = icmp slt i32 %r147, %r32, !dbg !9
  %r150 = select i1 %r149, i64 0, i64 %w3, !dbg !9
  %r151 = sub i64 %r148, %r150, !dbg !9
  %r152 = getelementptr inbounds float, float addrspace(1)* %r35, i64 %r151, !dbg !9
  store float %r112, float addrspace(1)* %r152, align 4, !dbg !9
  br label %L10, !dbg !9
L10:
  br label %L3, !dbg !9
L3:
  ret void, !dbg !9
}
declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()

!nvvm.annotations = !{!7}
!nvvmir.version = !{!10}
!llvm.dbg.cu = !{!2}
!llvm.module.flags = !{!11}
!1 = !DIFile(filename: "f", directory: ".")
!2 = distinct !DICompileUnit(language: DW_LANG_C99, file: !1, producer: "libufunc", isOptimized: true, runtimeVersion: 0, emissionKind: DebugDirectivesOnly)
!3 = !{null}
!4 = !DISubroutineType(types: !3)
!5 = distinct !DISubprogram(name: "kernel", scope: !1, file: !1, line: 1, type: !4, isLocal: false, isDefinition: true, scopeLine: 1, isOptimized: true, unit: !2)
!6 = !DILocation(line: 1, scope: !5)
!7 = !{void (float addrspace(1)*, float addrspace(1)*, float addrspace(1)*, i64, i64)* @uf_f_flat_f32, !"kernel", i32 1, !"maxntidx", i32 256}
!8 = distinct !DISubprogram(name: "uf_f_flat_f32", scope: !1, file: !1, line: 1, type: !4, isLocal: false, isDefinition: true, scopeLine: 1, isOptimized: true, unit: !2)
!9 = !DILocation(line: 1, scope: !8)
!10 = !{i32 2, i32 0, i32 3, i32 1}
!11 = !{i32 2, !"Debug Info Version", i32 3}
