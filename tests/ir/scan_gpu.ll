; minus
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

define void @uf_minus_scan_i64(i64 addrspace(1)* %w0, i64 addrspace(1)* %w1, i64 %w2, i64 %w3, i64 %w4, i64 %w5, i64 %w6, i64 %w7, i64 %w8, i64 %w9, i64 %w10, i64 %w11, i64 %w12, i64 %w13, i64 %w14, i64 %w15, i64 %w16, i64 %w17, i64 %w18, i64 %w19) nounwind {
  %r14 = alloca i64
  %r15 = call i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
  %r16 = zext i32 %r15 to i64
  %r17 = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %r18 = zext i32 %r17 to i64
  %r19 = mul i64 %r18, %r16
  %r20 = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %r21 = zext i32 %r20 to i64
  %r22 = add i64 %r19, %r21
  %r23 = icmp slt i64 %r22, %w2
  br i1 %r23, label %L3, label %L4
L3:
  %r24 = mul i64 %r22, %w16
  %r25 = getelementptr inbounds i64, i64 addrspace(1)* %w0, i64 %r24
  %r28 = mul i64 0, %w18
  %r29 = getelementptr inbounds i64, i64 addrspace(1)* %r25, i64 %r28
  %r30 = load i64, i64 addrspace(1)* %r29, align 8
  store i64 %r30, i64* %r14
  br label %L5
L5:
  %r26 = mul i64 %r22, %w17
  %r27 = getelementptr inbounds i64, i64 addrspace(1)* %w1, i64 %r26
  %r32 = icmp slt i64 0, %w3
  br i1 %r32, label %L6, label %L8
L6:
  %i6 = phi i64 [ 0, %L5 ], [ %next6, %L7 ]
  %r33 = mul i64 %i6, %w18
  %r34 = getelementptr inbounds i64, i64 addrspace(1)* %r25, i64 %r33
  %r35 = load i64, i64 addrspace(1)* %r34, align 8
  %r36 = icmp eq i64 %i6, 0
  %r38 = load i64, i64* %r14
  %r39 = call { i64 } @combine(i64 %r38, i64 %r35)
  %r40 = extractvalue { i64 } %r39, 0
  %r41 = select i1 %r36, i64 %r35, i64 %r40
  store i64 %r41, i64* %r14
  %r42 = mul i64 %i6, %w19
  %r43 = getelementptr inbounds i64, i64 addrspace(1)* %r27, i64 %r42
  store i64 %r41, i64 addrspace(1)* %r43, align 8
  br label %L7
L7:
  %next6 = add i64 %i6, 1
  %r44 = icmp slt i64 %next6, %w3
  br i1 %r44, label %L6, label %L8, !llvm.loop !3
L8:
  br label %L4
L4:
  ret void
}
declare i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()

!nvvm.annotations = !{!1}
!nvvmir.version = !{!4}
!1 = !{void (i64 addrspace(1)*, i64 addrspace(1)*, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64)* @uf_minus_scan_i64, !"kernel", i32 1, !"maxntidx", i32 256}
!2 = !{!"llvm.loop.unroll.disable"}
!3 = distinct !{!3, !2}
!4 = !{i32 2, i32 0, i32 3, i32 1}
