; sin_cpu

define internal { i16 } @kernel(i16 %p0) nounwind alwaysinline {
L2:
  %v0 = alloca i16
  %v1 = alloca i16
  store i16 %p0, i16* %v0
  store i16 zeroinitializer, i16* %v1
  %r1 = load i16, i16* %v0
  %r2 = bitcast i16 %r1 to half
  %r3 = fpext half %r2 to float
  %r16 = call float @m_sin_f32(float %r3) #1
  %r17 = fptrunc float %r16 to half
  %r18 = bitcast half %r17 to i16
  store i16 %r18, i16* %v1
  br label %L1
L1:
  %r19 = load i16, i16* %v1
  %r20 = insertvalue { i16 } undef, i16 %r19, 0
  ret { i16 } %r20
}

declare <16 x float> @_ZGVeN16v_sinf(<16 x float>) nounwind readnone
define internal float @m_sin_f32(float %x0) noinline nounwind readnone {
  %r4 = insertelement <16 x float> undef, float %x0, i32 0
  %r5 = shufflevector <16 x float> %r4, <16 x float> undef, <16 x i32> zeroinitializer
  %r6 = call <16 x float> @_ZGVeN16v_sinf(<16 x float> %r5) nounwind readnone
  %r7 = extractelement <16 x float> %r6, i32 0
  ret float %r7
}

define internal <8 x float> @m_sin_f32_x8(<8 x float> %x0) noinline nounwind readnone {
  %r8 = shufflevector <8 x float> %x0, <8 x float> undef, <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7>
  %r9 = call <16 x float> @_ZGVeN16v_sinf(<16 x float> %r8) nounwind readnone
  %r10 = shufflevector <16 x float> %r9, <16 x float> undef, <8 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7>
  ret <8 x float> %r10
}

define internal <32 x float> @m_sin_f32_x32(<32 x float> %x0) noinline nounwind readnone {
  %r11 = shufflevector <32 x float> %x0, <32 x float> undef, <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>
  %r12 = call <16 x float> @_ZGVeN16v_sinf(<16 x float> %r11) nounwind readnone
  %r13 = shufflevector <32 x float> %x0, <32 x float> undef, <16 x i32> <i32 16, i32 17, i32 18, i32 19, i32 20, i32 21, i32 22, i32 23, i32 24, i32 25, i32 26, i32 27, i32 28, i32 29, i32 30, i32 31>
  %r14 = call <16 x float> @_ZGVeN16v_sinf(<16 x float> %r13) nounwind readnone
  %r15 = shufflevector <16 x float> %r12, <16 x float> %r14, <32 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15, i32 16, i32 17, i32 18, i32 19, i32 20, i32 21, i32 22, i32 23, i32 24, i32 25, i32 26, i32 27, i32 28, i32 29, i32 30, i32 31>
  ret <32 x float> %r15
}

attributes #1 = { nounwind readnone "vector-function-abi-variant"="_ZGVeN16v_m_sin_f32(_ZGVeN16v_sinf),_ZGV_LLVM_N8v_m_sin_f32(m_sin_f32_x8),_ZGV_LLVM_N32v_m_sin_f32(m_sin_f32_x32)" }

@llvm.compiler.used = appending global [4 x i8*] [i8* bitcast (float (float)* @m_sin_f32 to i8*), i8* bitcast (<16 x float> (<16 x float>)* @_ZGVeN16v_sinf to i8*), i8* bitcast (<8 x float> (<8 x float>)* @m_sin_f32_x8 to i8*), i8* bitcast (<32 x float> (<32 x float>)* @m_sin_f32_x32 to i8*)], section "llvm.metadata"
