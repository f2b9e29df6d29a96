; simulated
target datalayout = "e-p:64:64:64-i1:8:8-i8:8:8-i16:16:16-i32:32:32-i64:64:64-i128:128:128-f32:32:32-f64:64:64-v16:16:16-v32:32:32-v64:64:64-v128:128:128-n16:32:64"
target triple = "nvptx64-nvidia-cuda"

define internal { i64 } @combine(i64 %p0, i64 %p1) nounwind alwaysinline {
L2:
  %v0 = alloca i64
  %v1 = alloca i64
  %v2 = alloca i64
  store i64 %p0, i64* %v0
  store i64 %p1, i64* %v1
  store i64 zeroinitializer, i64* %v2
  %r3 = sub i64 %p0, %p1
  store i64 %r3, i64* %v2
  br label %L1
L1:
  %r5 = insertvalue { i64 } undef, i64 %r3, 0
  ret { i64 } %r5
}

define void @uf_simulated_reduce_i64(i64 addrspace(1)* %w0, i64 addrspace(1)* %w1, i64 %w2, i64 %w3, i64 %w4, i64 %w5, i64 %w6, i64 %w7, i64 %w8) nounwind {
  %r7 = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %r10 = alloca i64
  %r11 = alloca i1
  %r12 = alloca i64
  %r13 = alloca i1
  %r17 = call i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
  %r21 = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  store i64 0, i64* %r12
  store i1 false, i1* %r13
  br label %L3
L3:
  %r8 = and i32 %r7, 0
  %r9 = zext i32 %r8 to i64
  %r16 = zext i32 %r7 to i64
  %r20 = zext i32 %r17 to i64
  %r22 = zext i32 %r21 to i64
  %r23 = mul i64 %r22, %r20
  %r24 = add i64 %r23, %r16
  %r25 = icmp slt i64 %r24, %w2
  %r26 = select i1 %r25, i64 %r24, i64 0
  %r27 = mul i64 %r26, %w6
  %r29 = getelementptr inbounds i64, i64 addrspace(1)* %w0, i64 %r27
  %r32 = srem i64 %w3, 1
  %r33 = sub i64 %w3, %r32
  %r35 = icmp slt i64 0, %r33
  br i1 %r35, label %L4, label %L6
L4:
  %i4 = phi i64 [ 0, %L3 ], [ %next4, %L5 ]
  store i64 0, i64* %r10
  store i1 false, i1* %r11
  br label %L7
L7:
  %r36 = add i64 %i4, 32
  %r37 = icmp slt i64 %r36, %r33
  %r38 = select i1 %r37, i64 %r36, i64 %r33
  %r39 = icmp slt i64 %i4, %r38
  br i1 %r39, label %L8, label %L10
L8:
  %i8 = phi i64 [ %i4, %L7 ], [ %next8, %L9 ]
  %r40 = add i64 %i8, %r9
  %r42 = mul i64 %r40, %w8
  %r43 = getelementptr inbounds i64, i64 addrspace(1)* %r29, i64 %r42
  %r44 = load i64, i64 addrspace(1)* %r43, align 8, !invariant.load !2
  %r45 = load i64, i64* %r10
  %r46 = load i1, i1* %r11
  %r47 = call { i64 } @combine(i64 %r45, i64 %r44)
  %r48 = extractvalue { i64 } %r47, 0
  %r49 = select i1 %r46, i64 %r48, i64 %r44
  store i64 %r49, i64* %r10
  store i1 true, i1* %r11
  br label %L9
L9:
  %next8 = add i64 %i8, 1
  %r50 = icmp slt i64 %next8, %r38
  br i1 %r50, label %L8, label %L10, !llvm.loop !4
L10:
  %r51 = load i64, i64* %r10
  %r52 = load i1, i1* %r11
  %r53 = load i64, i64* %r12
  %r54 = load i1, i1* %r13
  %r55 = call { i64 } @combine(i64 %r53, i64 %r51)
  %r56 = extractvalue { i64 } %r55, 0
  %r57 = select i1 %r52, i64 %r56, i64 %r53
  %r58 = select i1 %r54, i64 %r57, i64 %r51
  %r59 = or i1 %r54, %r52
  store i64 %r58, i64* %r12
  store i1 %r59, i1* %r13
  br label %L5
L5:
  %next4 = add i64 %i4, 32
  %r60 = icmp slt i64 %next4, %r33
  br i1 %r60, label %L4, label %L6, !llvm.loop !6
L6:
  %r61 = icmp slt i64 %r33, %w3
  br i1 %r61, label %L11, label %L12
L11:
  %r62 = add i64 %r33, %r9
  %r63 = icmp slt i64 %r62, %w3
  %r64 = select i1 %r63, i64 %r62, i64 %r33
  %r66 = mul i64 %r64, %w8
  %r67 = getelementptr inbounds i64, i64 addrspace(1)* %r29, i64 %r66
  %r68 = load i64, i64 addrspace(1)* %r67, align 8, !invariant.load !2
  %r69 = load i64, i64* %r12
  %r70 = load i1, i1* %r13
  %r71 = call { i64 } @combine(i64 %r69, i64 %r68)
  %r72 = extractvalue { i64 } %r71, 0
  %r73 = select i1 %r63, i64 %r72, i64 %r69
  %r74 = select i1 %r70, i64 %r73, i64 %r68
  %r75 = or i1 %r70, %r63
  store i64 %r74, i64* %r12
  store i1 %r75, i1* %r13
  br label %L12
L12:
  %r76 = load i64, i64* %r12
  %r77 = load i1, i1* %r13
  %r80 = icmp eq i32 %r8, 0
  %r81 = and i1 %r25, %r80
  br i1 %r81, label %L13, label %L14
L13:
  %r28 = mul i64 %r26, %w7
  %r30 = getelementptr inbounds i64, i64 addrspace(1)* %w1, i64 %r28
  store i64 %r76, i64 addrspace(1)* %r30, align 8
  br label %L14
L14:
  ret void
}
declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()

!nvvm.annotations = !{!1}
!nvvmir.version = !{!7}
!1 = !{void (i64 addrspace(1)*, i64 addrspace(1)*, i64, i64, i64, i64, i64, i64, i64)* @uf_simulated_reduce_i64, !"kernel", i32 1, !"maxntidx", i32 256}
!2 = !{}
!3 = !{!"llvm.loop.unroll.disable"}
!4 = distinct !{!4, !3}
!5 = !{!"llvm.loop.unroll.disable"}
!6 = distinct !{!6, !5}
!7 = !{i32 2, i32 0, i32 3, i32 1}
