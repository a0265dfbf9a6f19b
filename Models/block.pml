/* How the block of an operation is taken, and the operation used again (section "Block" of README.md).

   part                stands for
   Runner              the thread of a batch: beginPlainly(), BlockOperation.takeBlocks(), keepUntilEnd(_:), the end,
                       releaseWork(), RecycledOperations.give(_:)
   Canceller           cancel(), the end of an operation that has not begun, releaseWork()
   Asker               executionBlocks, and addExecutionBlock(_:): what looks at the block under the lock of the links
   Adder               a thread that adds blocks: RecycledOperations.take(for:), after which the operation is new
   lock                that of the links
   references          what the header of the object counts: the runner's, and that of each thread that knows the operation

   Proved: no two threads are at the block at once; it is taken once, and one that has run is released once, after the
   end; nobody but the adder is at an operation that is used again, and no two adders have it. */

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

byte phase = PENDING;                   /* phase and seen are one word: a d_step changes or reads both */
bool seen;                              /* blocksWereRead */
bool locked;
bool hasBlock = true;
byte atBlock;                           /* threads that are at the block at this moment */
byte taken, released;
bool held;                              /* it has run, and is there until the end */
byte references = 1 + KNOWING;
byte slot;                              /* 1: a chain is there */
byte renewed;

inline lock() { atomic { !locked -> locked = true } }
inline unlock() { locked = false }

inline touch() {                        /* reads or writes the block, in steps that others may come between */
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
     before = references;           /* give(_:); that the word must be plain as well is left out */
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
