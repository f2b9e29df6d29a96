; lgamma_cpu

define internal { i8 } @kernel(i16 %p0) nounwind alwaysinline {
L2:
  %v0 = alloca i16
  %v1 = alloca i8
  store i16 %p0, i16* %v0
  store i8 zeroinitializer, i8* %v1
  %r1 = load i16, i16* %v0
  %r19 = call float @float_of_float16(i16 %r1)
  %r20 = fpext float %r19 to double
  %r21 = call double @libm_lgamma(double %r20)
  %r30 = call i8 @int8_of_double(double %r21)
  store i8 %r30, i8* %v1
  br label %L1
L1:
  %r31 = load i8, i8* %v1
  %r32 = insertvalue { i8 } undef, i8 %r31, 0
  ret { i8 } %r32
}

define internal float @float_of_float16(i16 %x) nounwind readnone alwaysinline {
  %r2 = zext i16 %x to i32
  %r3 = and i32 %r2, 32768
  %r4 = shl i32 %r3, 16
  %r5 = and i32 %r2, 32767
  %r6 = shl i32 %r5, 13
  %r7 = add i32 %r6, 939524096
  %r8 = or i32 %r6, 2139095040
  %r9 = add i32 %r6, 947912704
  %r10 = bitcast i32 %r9 to float
  %r11 = fsub float %r10, 0x3F10000000000000
  %r12 = bitcast float %r11 to i32
  %r13 = icmp uge i32 %r5, 31744
  %r14 = icmp ult i32 %r5, 1024
  %r15 = select i1 %r14, i32 %r12, i32 %r7
  %r16 = select i1 %r13, i32 %r8, i32 %r15
  %r17 = or i32 %r16, %r4
  %r18 = bitcast i32 %r17 to float
  ret float %r18
}

declare double @libm_lgamma(double) nounwind readnone
define internal i8 @int8_of_double(double %x) nounwind readnone alwaysinline {
  %r22 = fcmp oge double %x, 0xC060000000000000
  %r23 = select i1 %r22, double %x, double 0xC060000000000000
  %r24 = fcmp ole double %r23, 0x405FC00000000000
  %r25 = select i1 %r24, double %r23, double 0x405FC00000000000
  %r26 = fptosi double %r25 to i32
  %r27 = fcmp ord double %x, %x
  %r28 = select i1 %r27, i32 %r26, i32 0
  %r29 = trunc i32 %r28 to i8
  ret i8 %r29
}


