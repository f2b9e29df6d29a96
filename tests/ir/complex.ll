; complex
target datalayout = "e-p:64:64:64-i1:8:8-i8:8:8-i16:16:16-i32:32:32-i64:64:64-i128:128:128-f32:32:32-f64:64:64-v16:16:16-v32:32:32-v64:64:64-v128:128:128-n16:32:64"
target triple = "nvptx64-nvidia-cuda"

define internal { { float, float } } @f1_times({ float, float } %p0, { float, float } %p1) nounwind alwaysinline {
L2:
  %v0 = alloca { float, float }
  %v1 = alloca { float, float }
  %v2 = alloca { float, float }
  store { float, float } %p0, { float, float }* %v0
  store { float, float } %p1, { float, float }* %v1
  store { float, float } zeroinitializer, { float, float }* %v2
  %r1 = load { float, float }, { float, float }* %v0
  %r2 = extractvalue { float, float } %r1, 0
  %r3 = load { float, float }, { float, float }* %v1
  %r4 = extractvalue { float, float } %r3, 0
  %r5 = fmul float %r2, %r4
  %r6 = load { float, float }, { float, float }* %v0
  %r7 = extractvalue { float, float } %r6, 1
  %r8 = load { float, float }, { float, float }* %v1
  %r9 = extractvalue { float, float } %r8, 1
  %r10 = fmul float %r7, %r9
  %r11 = fsub float %r5, %r10
  %r12 = load { float, float }, { float, float }* %v0
  %r13 = extractvalue { float, float } %r12, 0
  %r14 = load { float, float }, { float, float }* %v1
  %r15 = extractvalue { float, float } %r14, 1
  %r16 = fmul float %r13, %r15
  %r17 = load { float, float }, { float, float }* %v0
  %r18 = extractvalue { float, float } %r17, 1
  %r19 = load { float, float }, { float, float }* %v1
  %r20 = extractvalue { float, float } %r19, 0
  %r21 = fmul float %r18, %r20
  %r22 = fadd float %r16, %r21
  %r23 = insertvalue { float, float } undef, float %r11, 0
  %r24 = insertvalue { float, float } %r23, float %r22, 1
  store { float, float } %r24, { float, float }* %v2
  br label %L1
L1:
  %r25 = load { float, float }, { float, float }* %v2
  %r26 = insertvalue { { float, float } } undef, { float, float } %r25, 0
  ret { { float, float } } %r26
}

define internal { { float, float }, i1 } @kernel({ float, float } %p0, { float, float } %p1) nounwind alwaysinline {
L4:
  %v0 = alloca { float, float }
  %v1 = alloca { float, float }
  %v2 = alloca { float, float }
  %v3 = alloca i1
  %v4 = alloca { float, float }
  store { float, float } %p0, { float, float }* %v0
  store { float, float } %p1, { float, float }* %v1
  store { float, float } zeroinitializer, { float, float }* %v2
  store i1 zeroinitializer, i1* %v3
  store { float, float } zeroinitializer, { float, float }* %v4
  %r27 = load { float, float }, { float, float }* %v0
  %r28 = load { float, float }, { float, float }* %v1
  %r29 = call { { float, float } } @f1_times({ float, float } %r27, { float, float } %r28)
  %r30 = extractvalue { { float, float } } %r29, 0
  store { float, float } %r30, { float, float }* %v4
  %r31 = load { float, float }, { float, float }* %v4
  %r32 = load { float, float }, { float, float }* %v4
  %r33 = call { { float, float } } @f1_times({ float, float } %r31, { float, float } %r32)
  %r34 = extractvalue { { float, float } } %r33, 0
  store { float, float } %r34, { float, float }* %v4
  %r35 = load { float, float }, { float, float }* %v0
  %r36 = load { float, float }, { float, float }* %v1
  %r37 = extractvalue { float, float } %r35, 0
  %r38 = extractvalue { float, float } %r36, 0
  %r39 = fcmp une float %r37, %r38
  %r40 = extractvalue { float, float } %r35, 1
  %r41 = extractvalue { float, float } %r36, 1
  %r42 = fcmp une float %r40, %r41
  %r43 = or i1 %r39, %r42
  br i1 %r43, label %L5, label %L6
L5:
  %r44 = load { float, float }, { float, float }* %v4
  %r45 = extractvalue { float, float } %r44, 0
  %r46 = extractvalue { float, float } %r44, 1
  br label %L7
L6:
  %r47 = load { float, float }, { float, float }* %v0
  %r48 = extractvalue { float, float } %r47, 0
  %r49 = fsub float -0.0, %r48
  %r50 = extractvalue { float, float } %r47, 1
  %r51 = fsub float -0.0, %r50
  %r52 = insertvalue { float, float } undef, float %r49, 0
  %r53 = insertvalue { float, float } %r52, float %r51, 1
  store { float, float } %r53, { float, float }* %v4
  %r54 = extractvalue { float, float } %r53, 0
  %r55 = extractvalue { float, float } %r53, 1
  br label %L7
L7:
  %r56 = phi float [ %r45, %L5 ], [ %r54, %L6 ]
  %r57 = phi float [ %r46, %L5 ], [ %r55, %L6 ]
  %r58 = insertvalue { float, float } undef, float %r56, 0
  %r59 = insertvalue { float, float } %r58, float %r57, 1
  store { float, float } %r59, { float, float }* %v2
  %r60 = load { float, float }, { float, float }* %v2
  %r61 = load { float, float }, { float, float }* %v4
  %r62 = extractvalue { float, float } %r60, 0
  %r63 = extractvalue { float, float } %r61, 0
  %r64 = fcmp oeq float %r62, %r63
  %r65 = extractvalue { float, float } %r60, 1
  %r66 = extractvalue { float, float } %r61, 1
  %r67 = fcmp oeq float %r65, %r66
  %r68 = and i1 %r64, %r67
  %r69 = xor i1 %r68, true
  store i1 %r69, i1* %v3
  br label %L3
L3:
  %r70 = load { float, float }, { float, float }* %v2
  %r71 = insertvalue { { float, float }, i1 } undef, { float, float } %r70, 0
  %r72 = load i1, i1* %v3
  %r73 = insertvalue { { float, float }, i1 } %r71, i1 %r72, 1
  ret { { float, float }, i1 } %r73
}

!nvvmir.version = !{!1}
!1 = !{i32 2, i32 0, i32 3, i32 1}
