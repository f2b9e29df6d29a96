; points

define internal { } @kernel(i8* noalias %p0, i32* noalias %p1, i64 %p2, i64 %s0, i64 %s1, i64 %s2, i64 %s3, i64 %s4, i32* %own1) nounwind alwaysinline {
L2:
  %v2 = alloca i64
  store i64 %p2, i64* %v2
  %r1 = load i64, i64* %v2
  %r2 = icmp ult i64 %r1, %s1
  %r3 = getelementptr inbounds i8, i8* %p0, i64 %r1
  br i1 %r2, label %L3, label %L4
L3:
  %r4 = load i8, i8* %r3, align 1, !llvm.access.group !1, !invariant.load !2
  br label %L4
L4:
  %r5 = phi i8 [ %r4, %L3 ], [ 0, %L2 ]
  %r6 = zext i8 %r5 to i64
  %r7 = icmp ult i64 %r6, %s2
  %r8 = getelementptr inbounds i32, i32* %own1, i64 %r6
  br i1 %r7, label %L5, label %L6
L5:
  %r9 = load i32, i32* %r8, align 4
  %r10 = add i32 %r9, 1
  store i32 %r10, i32* %r8, align 4
  br label %L6
L6:
  %r11 = phi i32 [ %r9, %L5 ], [ 0, %L4 ]
  br label %L1
L1:
  ret { } undef
}

define void @uf_points_forall_u8_i32(i64* %words) nounwind "prefer-vector-width"="256" {
  %r12 = getelementptr inbounds i64, i64* %words, i64 0
  %r13 = bitcast i64* %r12 to i8**
  %r14 = load i8*, i8** %r13, align 8
  %r15 = getelementptr inbounds i64, i64* %words, i64 1
  %r16 = bitcast i64* %r15 to i32**
  %r17 = load i32*, i32** %r16, align 8
  %r18 = call noalias align 64 i8* @uf_thread_scratch(i64 0)
  %r19 = bitcast i8* %r18 to i32*
  %r20 = getelementptr inbounds i64, i64* %words, i64 2
  %r21 = load i64, i64* %r20, align 8
  %r22 = getelementptr inbounds i64, i64* %words, i64 3
  %r23 = load i64, i64* %r22, align 8
  %r24 = getelementptr inbounds i64, i64* %words, i64 4
  %r25 = load i64, i64* %r24, align 8
  %r26 = getelementptr inbounds i64, i64* %words, i64 5
  %r27 = load i64, i64* %r26, align 8
  %r28 = getelementptr inbounds i64, i64* %words, i64 6
  %r29 = load i64, i64* %r28, align 8
  %r30 = getelementptr inbounds i64, i64* %words, i64 7
  %r31 = load i64, i64* %r30, align 8
  %r32 = getelementptr inbounds i64, i64* %words, i64 8
  %r33 = load i64, i64* %r32, align 8
  %r34 = getelementptr inbounds i64, i64* %words, i64 9
  %r35 = load i64, i64* %r34, align 8
  br label %L7
L7:
  %r36 = icmp slt i64 0, %r31
  br i1 %r36, label %L8, label %L10
L8:
  %i8 = phi i64 [ 0, %L7 ], [ %next8, %L9 ]
  %r37 = getelementptr inbounds i32, i32* %r19, i64 %i8
  store i32 0, i32* %r37, align 4
  br label %L9
L9:
  %next8 = add nuw nsw i64 %i8, 1
  %r38 = icmp slt i64 %next8, %r31
  br i1 %r38, label %L8, label %L10
L10:
  br label %L11
L11:
  %r39 = icmp slt i64 %r21, %r23
  br i1 %r39, label %L12, label %L14
L12:
  %i12 = phi i64 [ %r21, %L11 ], [ %next12, %L13 ]
  %r40 = call { } @kernel(i8* %r14, i32* %r17, i64 %i12, i64 %r27, i64 %r29, i64 %r31, i64 %r33, i64 %r35, i32* %r19)
  br label %L13
L13:
  %next12 = add nuw nsw i64 %i12, 1
  %r41 = icmp slt i64 %next12, %r23
  br i1 %r41, label %L12, label %L14, !llvm.loop !4
L14:
  br label %L15
L15:
  %r42 = icmp slt i64 0, %r31
  br i1 %r42, label %L16, label %L18
L16:
  %i16 = phi i64 [ 0, %L15 ], [ %next16, %L17 ]
  %r43 = getelementptr inbounds i32, i32* %r19, i64 %i16
  %r44 = load i32, i32* %r43, align 4
  %r45 = icmp ne i32 %r44, 0
  br i1 %r45, label %L19, label %L20
L19:
  %r46 = mul i64 %i16, %r35
  %r47 = add i64 0, %r46
  %r48 = getelementptr inbounds i32, i32* %r17, i64 %r47
  %r49 = atomicrmw add i32* %r48, i32 %r44 monotonic
  br label %L20
L20:
  br label %L17
L17:
  %next16 = add nuw nsw i64 %i16, 1
  %r50 = icmp slt i64 %next16, %r31
  br i1 %r50, label %L16, label %L18
L18:
  ret void
}
declare noalias i8* @uf_thread_scratch(i64)

!1 = distinct !{}
!2 = !{}
!3 = !{!"llvm.loop.parallel_accesses", !1}
!4 = distinct !{!4, !3}
