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
  %r11 = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %r12 = call i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
  %r13 = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %r14 = mul i32 %r12, 1
  %r15 = mul i32 %r13, %r14
  %r16 = add i32 %r15, %r11
  %r17 = icmp ult i32 %r16, %r6
  br i1 %r17, label %L3, label %L4
L3:
  %r18 = sext i32 %r16 to i64
  %r19 = getelementptr inbounds float, float addrspace(1)* %w1, i64 %r18
  %r21 = getelementptr inbounds i64, i64 addrspace(1)* %w3, i64 %r18
  %r22 = load i64, i64 addrspace(1)* %r21, align 8
  %r23 = icmp slt i64 %r22, 0
  %r24 = select i1 %r23, i64 %w4, i64 0
  %r25 = add i64 %r22, %r24
  %r26 = mul i64 %r25, %w5
  %r27 = icmp ult i64 %r25, %w4
  %r28 = getelementptr inbounds float, float addrspace(1)* %w0, i64 %r26
  %r29 = load float, float addrspace(1)* %r19, align 4
  br i1 %r27, label %L5, label %L6
L5:
  %r30 = call float @llvm.nvvm.atomic.load.add.f32.p1f32(float addrspace(1)* %r28, float %r29)
  br label %L6
L6:
  br label %L4
L4:
  ret void
}
declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
declare float @llvm.nvvm.atomic.load.add.f32.p1f32(float addrspace(1)*, float)

!nvvm.annotations = !{!1}
!nvvmir.version = !{!2}
!1 = !{void (float addrspace(1)*, float addrspace(1)*, float addrspace(1)*, i64 addrspace(1)*, i64, i64, i64, i64, i64, i64, i64)* @uf_at_at_f32, !"kernel", i32 1, !"maxntidx", i32 256}
!2 = !{i32 2, i32 0, i32 3, i32 1}
