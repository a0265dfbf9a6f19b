/* How the block of an operation is taken, and how the operation is reused (section "Block" of README.md).

   part                represents
   Runner              the thread of a batch: beginPlainly(), BlockOperation.takeBlocks(), keepUntilEnd(_:), the end,
                       releaseWork(), RecycledOperations.give(_:)
   Canceller           cancel(), the end of an operation that has not begun, releaseWork()
   Asker               executionBlocks, and addExecutionBlock(_:): code that reads the block under the lock of the links
   Adder               a thread that makes operations of blocks: RecycledOperations.take(), after which the operation is
                       new
   lock                the lock of the links
   references          the reference count of the object: the runner's reference, and one per thread with the operation

   Proved: no two threads access the block at the same time. The block is taken once. A block that has run is released
   once, after the end. Only the adder accesses an operation that is reused, and no two adders have it. */

#ifndef ASKERS
#define ASKERS 1
#endif
#ifdef CANCELS
#define KNOWING (ASKERS + 1)
#else
#define KNOWING ASKERS
#endif

#define PENDING 0
#define EXECUTING 1
#define FINISHED 2

byte phase = PENDING;                   /* phase and seen are one state word: a d_step changes or reads both */
bool seen;                              /* blocksWereRead */
bool locked;
bool hasBlock = true;
byte atBlock;                           /* threads that access the block at this moment */
byte taken, released;
bool held;                              /* it has run, and exists until the end */
byte references = 1 + KNOWING;
byte slot;                              /* 1: there is a chain */
byte renewed;

inline lock() { atomic { !locked -> locked = true } }
inline unlock() { locked = false }

inline touch() {                        /* reads or writes the block, in interleaved steps */
  d_step { assert(atBlock == 0 && renewed == 0); atBlock++ };
  atBlock--
}

inline enterBlock() {
  wasSeen = seen;
  if :: wasSeen -> lock() :: else fi;
  touch()
}

inline leaveBlock() { if :: wasSeen -> unlock() :: else fi }

inline takeBlock() {
  enterBlock();
  d_step { if :: hasBlock -> taken++ :: else fi; hasBlock = false };
  leaveBlock()
}

inline keepBlock() { enterBlock(); held = true; leaveBlock() }

inline releaseBlock() {
  enterBlock();
  d_step { assert(phase == FINISHED && held); held = false; released++ };
  leaveBlock()
}

active proctype Runner() {
  byte before;
  bool wasSeen, begins;
  d_step {
    begins = (phase == PENDING);
    if :: begins -> phase = EXECUTING :: else fi
  };
  if
  :: begins ->
     takeBlock();
     keepBlock();
     phase = FINISHED;
     releaseBlock();
     before = references;           /* give(_:), without the condition that the state word must be plain */
#ifdef FAULT_KNOWN
     before = 1;
#endif
     if
     :: before == 1 -> slot = 1
     :: else -> d_step { references-- }
     fi
  :: else -> d_step { references-- }
  fi
}

active [ASKERS] proctype Asker() {
  byte before;
  bool mayLook;
  lock();
#ifdef FAULT_LOOKS_FIRST
  before = phase;
  seen = true;
#else
  d_step { before = phase; seen = true };
#endif
  mayLook = (before == PENDING);
  if :: mayLook -> touch() :: else fi;
  unlock();
  assert(renewed == 0);
  references--
}

#ifdef CANCELS
active proctype Canceller() {
  bool wasSeen, ends;
  d_step {
    ends = (phase == PENDING);
    if :: ends -> phase = FINISHED :: else fi
  };
  if :: ends -> takeBlock() :: else fi;
  assert(renewed == 0);
  references--
}
#endif

active [2] proctype Adder() {
  byte mine;
  d_step { mine = slot; slot = 0 };
  if
  :: mine == 1 -> renewed++; assert(renewed == 1 && references == 1 && taken == 1 && released == 1 && atBlock == 0)
  :: else
  fi
}
